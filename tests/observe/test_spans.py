"""Spans: free when nobody listens, heard in every thread when somebody does, and off unless variables ask."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from guildhall.observe.metrics import MOST_VALUES, Metrics
from guildhall.observe.spans import Doing, Facts, listening, span
from guildhall.observe.tracing import wanted_exporter
from guildhall.store.workspace import Workspace
from tests.grading.halls import task


class Hearing:
    """Remembers what was done, and what it ended in."""

    def __init__(self) -> None:
        self.heard: list[tuple[Doing, dict[str, str | int], str]] = []

    @contextmanager
    def during(self, doing: Doing, facts: Facts) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.heard.append((doing, dict(facts), type(error).__name__))
            raise
        self.heard.append((doing, dict(facts), ""))


def test_work_is_heard_with_what_it_learnt_and_how_it_ended_in_any_thread() -> None:
    hearing = Hearing()

    def work() -> None:
        with span(Doing.RENDER, kind="pdf") as facts:
            facts["pages"] = 3

    with listening(hearing):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        with pytest.raises(ZeroDivisionError), span(Doing.ERRAND, errand="mail"):
            1 / 0  # noqa: B018
    with span(Doing.CALL):
        pass
    assert hearing.heard == [
        (Doing.RENDER, {"kind": "pdf", "pages": 3}, ""),
        (Doing.ERRAND, {"errand": "mail"}, "ZeroDivisionError"),
    ]


def test_a_write_is_one_transaction_to_a_listener(tmp_path: Path) -> None:
    hearing = Hearing()
    with Workspace.create(tmp_path / "w") as workspace, listening(hearing), workspace.store.transaction():
        workspace.store.add(task(0))
        workspace.store.add(task(1))
    assert hearing.heard == [(Doing.TRANSACTION, {}, "")]


def test_metrics_count_failures_and_never_grow_beyond_their_bounds() -> None:
    metrics = Metrics()
    with listening(metrics):
        for number in range(3 * MOST_VALUES):
            with span(Doing.CALL, model=f"maker/model-{number}"):
                pass
        with pytest.raises(ValueError), span(Doing.RENDER, kind="docx"):
            raise ValueError
    read = metrics.registry.get_sample_value
    labels = {
        sample.labels["model"]
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "guildhall_model_call_seconds_count"
    }
    assert len(labels) == MOST_VALUES + 1 and "other" in labels
    assert read("guildhall_model_call_seconds_count", {"model": "other"}) == 2 * MOST_VALUES
    assert read("guildhall_render_failures_total", {"kind": "docx"}) == 1
    assert read("guildhall_render_seconds_count", {"kind": "docx"}) == 1
    assert read("guildhall_renders_in_progress") == 0


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, None),
        ({"OTEL_SERVICE_NAME": "hall"}, None),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, None),
        ({"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "True"}, None),
    ],
)
def test_only_the_standard_variables_switch_traces_on(environment: dict[str, str], wanted: str | None) -> None:
    assert wanted_exporter(environment) == wanted
