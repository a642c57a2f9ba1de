"""Batch mode against a server on loopback that speaks the batch service of the OpenAI API."""

from __future__ import annotations

import gc
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from guildhall.engine.calls import Call
from guildhall.engine.models import config_of
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Limits, Pace, Terms
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace

CALLS = 130


class BatchServer:
    """Keeps uploaded files, answers each request of a batch by echoing it, and completes a batch when first asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, str] = {}
        self.asked_one_by_one = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.reply(self, server.post(self.path, body))

            def do_GET(self) -> None:
                server.reply(self, server.get(self.path))

            def log_message(self, *_arguments: Any) -> None:
                """Nothing on the terminal."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @staticmethod
    def reply(request: BaseHTTPRequestHandler, content: bytes) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def post(self, path: str, body: bytes) -> bytes:
        if path.endswith("/files"):
            name = f"file-{len(self.files)}"
            self.files[name] = body[body.index(b"{") : body.rindex(b"}") + 1]
            return json.dumps({"id": name, "object": "file", "purpose": "batch"}).encode()
        if path.endswith("/batches"):
            name = f"batch-{len(self.batches)}"
            self.batches[name] = json.loads(body)["input_file_id"]
            return self._batch(name, "in_progress")
        self.asked_one_by_one += 1
        return json.dumps(_completion(json.loads(body))).encode()

    def get(self, path: str) -> bytes:
        if content := re.search(r"/files/([\w-]+)/content", path):
            return self.files[content[1]]
        name = path.rsplit("/", 1)[-1]
        lines = [json.loads(line) for line in self.files[self.batches[name]].splitlines()]
        answers = [
            {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": _completion(line["body"])}}
            for line in lines
        ]
        self.files[f"{name}-answers"] = "\n".join(json.dumps(answer) for answer in answers).encode()
        return self._batch(name, "completed", output_file_id=f"{name}-answers")

    def _batch(self, name: str, status: str, **more: str) -> bytes:
        fields = {"id": name, "object": "batch", "endpoint": "/v1/chat/completions", "created_at": 1, "status": status}
        counts = {"total": 1, "completed": 0, "failed": 0}
        window = {"completion_window": "24h", "input_file_id": self.batches[name], "request_counts": counts}
        return json.dumps({**fields, **window, **more}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _completion(request: dict[str, Any]) -> dict[str, Any]:
    said = request["messages"][-1]["content"]
    text = said if isinstance(said, str) else said[0]["text"]
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text.upper()}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    from inspect_ai.model._providers.util import batch

    monkeypatch.setattr(batch, "DEFAULT_BATCH_TICK", 0.1)
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    opened = BatchServer()
    yield opened
    opened.close()
    gc.collect()


# Inspect's batcher leaves its answered streams to the garbage collector, which warns of each.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_calls_in_batch_mode_reach_the_batch_service_and_each_gets_its_own_answer(server, tmp_path):
    settings = {"base_url": server.url, "model_args": {"responses_api": False}}
    calls = [Call.ask("openai/gpt-4o-mini", f"question {n}", settings=settings) for n in range(CALLS)]
    terms = Terms(run="batched", pace=Pace(batch=CALLS))
    with Workspace.create(tmp_path / "ws") as workspace:
        answers = run_calls(calls, workspace=workspace, terms=terms)
        spent = Ledger(workspace.store).spent(run="batched")
    assert [answers.replies[call.key].text for call in calls] == [f"QUESTION {n}" for n in range(CALLS)]
    assert server.asked_one_by_one == 0
    assert len(server.batches) == 1
    assert spent.usage.calls == CALLS
    assert spent.usage.input_tokens == 7 * CALLS
    assert spent.unanswered == 0


def test_an_attempt_is_given_up_after_a_while_unless_it_waits_for_a_batch():
    plain, batched = (config_of({}, pace=Pace(batch=batch), limits=Limits()) for batch in (False, 250))
    assert plain.attempt_timeout == 600
    assert plain.batch is None
    assert batched.batch == 250
    assert batched.attempt_timeout is None


def test_how_calls_are_served_is_no_part_of_what_they_are():
    assert Call.ask("scripted/echo", "hello").key == Call.ask("scripted/echo", "hello").key
    assert not {"pace", "batch"} & set(Call.model_fields)
