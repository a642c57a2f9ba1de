"""What a running hall tells those who keep it running, and what it never tells: who somebody is, and any key."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from guildhall.domain.halls import Member, Role
from guildhall.errors import InputError
from guildhall.store.workspace import Workspace
from guildhall.web.app import create_app
from guildhall.web.metrics import TOKEN, MetricsAt
from guildhall.web.site import Addresses, Site
from tests.waiting import client, fetch
from tests.web.live import free_port
from tests.web.processes import Process, guildhall, serving, wait_until
from tests.web.receiving import receiver
from tests.web.studies import make_task, open_study

ADDRESS, NAME, SECRET = "amara.okafor@example.org", "Amara Okafor", "canary-secret-5e4d3c2b1a"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Workspace.create(tmp_path / "workspace") as workspace:
        open_study(workspace, [make_task(0)], people={"graders_per_set": 1})
    return tmp_path / "workspace"


@pytest.fixture
def entry(path: Path) -> Iterator[str]:
    """The path of a personal link, for a person of whom more is known than a code name."""
    with Workspace.open(path) as workspace:
        site = Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2"))
        member = Member(id="m-1", code_name="grader-teal", role=Role.MANAGER)
        site.roster.invite(member, personal={"name": NAME, "email": ADDRESS})
        yield f"/enter/{site.door.new_link('m-1', now=time.time())}"


def visit(server: Process, entry: str) -> list[httpx.Response]:
    """Come in by a link, look around, ask for a link by e-mail, and ask for what is not there."""
    with client(f"http://localhost:{server.port}") as visitor:
        shown = visitor.get(entry)
        answers = [shown, visitor.post(entry), visitor.get("/manage"), visitor.get(f"/wp-admin/{SECRET}?key={SECRET}")]
        answers.append(visitor.post("/enter", data={"address": ADDRESS}))
        answers.append(visitor.get("/api/v1/studies", headers={"Authorization": f"Bearer {SECRET}"}))
        answers.append(visitor.get("/healthz", headers={"X-Request-ID": "from-the-proxy-1"}))
    return answers


def lines(server: Process) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.words().splitlines() if line.startswith("{")]


def test_json_lines_tell_routes_and_code_names_and_never_a_person_a_token_or_a_key(path: Path, entry: str) -> None:
    with serving(path, "--log-format", "json", environment={"OPENAI_API_KEY": SECRET}) as server:
        answers = visit(server, entry)
        assert server.stop() == 0
    told = {(line["method"], line["route"], line["status"]) for line in lines(server) if line["event"] == "request"}
    assert ("GET", "/manage", 200) in told and ("GET", "unmatched", 404) in told
    assert ("GET", "/enter/{token}", 200) in told and ("GET", "/api/v1/studies", 401) in told
    inside = [line for line in lines(server) if line.get("route") == "/manage"]
    assert [line["who"] for line in inside] == ["grader-teal"] and inside[0]["duration_ms"] > 0
    known = {line.get("request_id") for line in lines(server)}
    assert {answer.headers["x-request-id"] for answer in answers[:-1]} <= known
    assert (answers[-1].text, answers[-1].headers["x-request-id"]) == ("alive\n", "from-the-proxy-1")
    for hidden in (SECRET, ADDRESS, NAME, entry.rpartition("/")[2]):
        assert hidden not in server.words()


def test_people_are_told_only_what_went_wrong(path: Path, entry: str) -> None:
    with serving(path) as server:
        visit(server, entry)
        assert server.stop() == 0
    assert [line for line in server.words().splitlines() if "serving http" not in line and "roster" not in line] == []


def metrics_of(port: int, **headers: str) -> dict[tuple[str, ...], float]:
    answer = fetch(f"http://127.0.0.1:{port}/metrics", headers)
    assert answer.status_code == 200, answer.text
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_metrics_count_requests_by_route_and_show_the_workspace(path: Path, entry: str) -> None:
    port = free_port()
    with serving(path, "--metrics", str(port)) as server:
        visit(server, entry)
        for number in range(30):
            fetch(f"http://127.0.0.1:{server.port}/no/such/page/{number}")
        found = metrics_of(port)
        assert found["guildhall_http_requests_total", "GET", "/manage", "200"] == 1
        assert found["guildhall_http_requests_total", "GET", "unmatched", "404"] == 31
        assert found["guildhall_http_request_seconds_count", "/manage"] == 1
        assert found["guildhall_http_requests_in_progress",] == 0
        assert found["guildhall_database_up",] == 1 and found["guildhall_workspace_open_slots",] == 1
        routes = {key[2] for key in found if key[0] == "guildhall_http_requests_total"}
        assert routes <= {*_templates(path), "unmatched"}
        assert fetch(f"http://127.0.0.1:{server.port}/metrics").status_code == 404
        shown = fetch(f"http://127.0.0.1:{port}/metrics").text
        assert server.stop() == 0
    for hidden in (SECRET, ADDRESS, NAME, "teal", entry.rpartition("/")[2]):
        assert hidden not in shown


def _templates(path: Path) -> set[str]:
    with Workspace.open(path) as workspace:
        app: Any = create_app(Site(workspace, Addresses("http://localhost:1", "http://files.localhost:2")))
        [api] = [route.app for route in app.routes if route.name == "api"]
        return {route.path for route in app.routes} | {f"/api/v1{path}" for path in api.openapi()["paths"]}


def test_a_worker_tells_its_figures_to_whoever_shows_the_token(path: Path) -> None:
    port = free_port()
    environment = {TOKEN: SECRET}
    words = ["worker", "--workspace", str(path), "--metrics", f"127.0.0.1:{port}"]
    with guildhall(*words, folder=path.parent, environment=environment) as worker:
        wait_until(lambda: _listens(port), worker)
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {SECRET}"}):
            assert fetch(f"http://127.0.0.1:{port}/metrics", headers).status_code == 401
        wait_until(
            lambda: metrics_of(port, authorization=f"Bearer {SECRET}").get(("guildhall_errand_seconds_count", "mail")),
            worker,
        )
        assert worker.stop() == 0


def _listens(port: int) -> bool:
    try:
        fetch(f"http://127.0.0.1:{port}/metrics")
    except httpx.HTTPError:
        return False
    return True


@pytest.mark.parametrize("address", ["0.0.0.0:8462", "[::]:8462", "db.example.org:8462", "8462x", ":", "1:2:99999"])
def test_metrics_are_for_this_machine_unless_there_is_a_token(address: str) -> None:
    with pytest.raises(InputError):
        MetricsAt.parse(address, {})


@pytest.mark.parametrize("address", ["8462", "127.0.0.1:8462", "[::1]:8462", "localhost:8462"])
def test_loopback_needs_no_token(address: str) -> None:
    assert MetricsAt.parse(address, {}).port == 8462
    assert MetricsAt.parse("0.0.0.0:8462", {TOKEN: SECRET}).token == SECRET


def test_traces_go_where_the_standard_variables_say(path: Path, entry: str) -> None:
    with receiver() as collector:
        environment = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{collector.port}/v1/traces",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "OTEL_SERVICE_NAME": "hall-test",
        }
        with serving(path, environment=environment) as server:
            visit(server, entry)
            wait_until(lambda: len(collector.got) > 0, server)
            assert server.stop() == 0
        sent = [_decoded(headers, body) for headers, body in collector.got]
    groups = [group for one in sent for group in one.resource_spans]
    spans = [span for group in groups for scope in group.scope_spans for span in scope.spans]
    assert {"web request", "store transaction"} <= {span.name for span in spans}
    names = {fact.value.string_value for fact in groups[0].resource.attributes if fact.key == "service.name"}
    assert names == {"hall-test"}
    facts = [{fact.key: fact.value for fact in span.attributes} for span in spans if span.name == "web request"]
    assert "/manage" in {fact["guildhall.route"].string_value for fact in facts}
    requests = {span.span_id for span in spans if span.name == "web request"}
    assert any(span.parent_span_id in requests for span in spans if span.name == "store transaction")
    for hidden in (SECRET, ADDRESS, NAME, entry.rpartition("/")[2]):
        assert hidden not in str(sent)


def _decoded(headers: dict[str, str], body: bytes) -> ExportTraceServiceRequest:
    content = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
    request = ExportTraceServiceRequest()
    request.ParseFromString(content)
    return request
