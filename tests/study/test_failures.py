"""Failures: severity with and without controls, reasons by people, models and clusters, and faults of form."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from guildhall.analysis.reasons import read_codes
from guildhall.domain.authors import ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment, Severity, SeverityRating
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef
from guildhall.engine.terms import Terms
from guildhall.errors import MissingTool, UnknownName
from guildhall.grading.design import expert_submission
from guildhall.judging.reasons import sentence_encoder
from guildhall.reports.chapters.faults import Formatting, FormattingRules, LossSeverity, PerHundred
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.reasons import code_by_clusters, code_by_model, export_reasons, justifications
from guildhall.study.reporting import write_study_report
from tests.study.test_findings import MOMENT, task
from tests.study.told import figures, rows, section

REASONS = ("The figures are wrong and do not add up.", "The layout is hard to read, formatting is poor.")


@pytest.fixture
def study(workspace: Workspace) -> Study:
    """Twelve tasks; `alpha` loses two judgments of each, for one reason on even tasks and for another on odd ones."""
    tasks = [task(number) for number in range(12)]
    workspace.store.add_all(tasks)
    for number, one in enumerate(tasks):
        expert = expert_submission(one)
        assert expert is not None
        author = ModelRun(name="alpha", model="scripted/alpha")
        own = Submission(task=one.id, author=author, files=(FileRef(name="note.docx"),), text=f"{number}")
        comparison = Comparison(study="s", task=one.id, submissions=(expert.key, own.key))
        workspace.store.add_all([expert, own, comparison])
        for grader in ("g-1", "g-2"):
            said = {"comparison": comparison.key, "grader": Person(code_name=grader), "made_at": MOMENT}
            order = {"order": (own.key, expert.key), "ranks": (2, 1), "reason": REASONS[number % 2]}
            workspace.store.add(Judgment.model_validate(said | order))
        findings = {"overlapping-text": 2} if number % 3 == 0 else {"unchecked-pages": 1}
        files = (PreparedFile(kind="docx", ending="docx", findings=findings),)
        workspace.store.add(Prepared(subject=own.key, version="1", files=files))
        rating = {"study": "s", "submission": own.key, "grader": Person(code_name="r-1"), "made_at": MOMENT}
        kind = Severity.CATASTROPHIC if number == 0 else Severity.SUBPAR
        workspace.store.add(SeverityRating.model_validate(rating | {"severity": kind, "reason": "so"}))
    made = Study(id="s", title="Failures", seed=1, tasks=tuple(one.key for one in tasks))
    workspace.store.add(made)
    return made


def test_faults_of_form_are_shares_of_files_by_model_and_type(workspace: Workspace, study: Study) -> None:
    evidence = read_evidence(workspace, study)
    share = figures(Formatting().section(evidence))["alpha: docx files"]
    assert (
        share.value == pytest.approx(4 / 12)
        and share.interval is not None
        and (share.n_samples, share.unit) == (12, "file")
    )
    by_rule = figures(FormattingRules().section(evidence))
    assert by_rule["overlapping text, alpha: docx files"].value == pytest.approx(4 / 12)
    assert set(by_rule) == {"overlapping text, alpha: docx files"}, "what is only noted about a file is no fault"


def test_severity_is_told_of_losses_and_per_hundred_only_where_controls_were_rated(
    workspace: Workspace, study: Study
) -> None:
    evidence = read_evidence(workspace, study)
    found = list(figures(LossSeverity().section(evidence)).values())
    assert len(found) == len(Severity)
    assert found[0].value == pytest.approx(1 / 12) and PerHundred().section(evidence) is None
    won = Submission(task="t-1", author=ModelRun(name="alpha", model="scripted/alpha", sample=2), text="good")
    workspace.store.add(won)
    control = {"study": "s", "submission": won.key, "grader": Person(code_name="r-1"), "made_at": MOMENT}
    words = {"severity": Severity.MODEL_BETTER, "reason": "so", "control": True, "sampling_rate": 0.125}
    workspace.store.add(SeverityRating.model_validate(control | words))
    again = figures(PerHundred().section(read_evidence(workspace, study)))
    # Twelve that lost, and one control that stands for eight.
    assert again["catastrophic"].value == pytest.approx(100 / 20)


def test_severity_is_told_of_each_model_where_there_are_several(workspace: Workspace, study: Study) -> None:
    other = Submission(task="t-1", author=ModelRun(name="beta", model="scripted/beta"), text="poor")
    workspace.store.add(other)
    said = {"study": "s", "submission": other.key, "grader": Person(code_name="r-2"), "made_at": MOMENT, "reason": "so"}
    workspace.store.add(SeverityRating.model_validate(said | {"severity": Severity.BAD}))
    found = figures(LossSeverity().section(read_evidence(workspace, study)))
    by_name = {name: one.value for name, one in found.items()}
    assert by_name["bad"] == pytest.approx(1 / 13)
    assert by_name["alpha: bad"] == 0 and by_name["beta: bad"] == 1


def test_people_get_justifications_without_any_author(workspace: Workspace, study: Study, tmp_path: Path) -> None:
    path = tmp_path / "reasons.csv"
    assert export_reasons(workspace, study, path, baseline=None, graders=None) == 24
    text = path.read_text()
    assert text.splitlines()[0] == "judgment,side,coder,label,words"
    assert "alpha" not in text and "g-1" not in text and REASONS[0] in text


def test_a_model_codes_reasons_and_the_report_shows_shares_examples_and_agreement(
    workspace: Workspace, study: Study, tmp_path: Path
) -> None:
    said = justifications(read_evidence(workspace, study))
    by_model, by_person = tmp_path / "model.csv", tmp_path / "person.csv"
    terms = Terms(run="s:reasons")
    made = code_by_model(said, by_model, workspace=workspace, model="scripted/reason-coder", terms=terms)
    assert (made.rows, made.blank, made.unread) == (24, 0, 0)
    person = [f"{one.judgment},ann,{'accuracy' if 'wrong' in one.words else ''}" for one in said]
    by_person.write_text("judgment,coder,label\n" + "\n".join(person) + "\n")
    report = write_study_report(workspace, study, tmp_path / "report", reasons=[by_model, by_person])
    found = section(report, "reasons")
    assert "coded by scripted/reason-coder" in found.words[0] and "Agreement with ann" in found.words[1]
    shares = {one["reason"]: one["share"].value for one in rows(found.table("reasons"))}
    assert shares == {"accuracy": pytest.approx(0.5), "formatting": pytest.approx(0.5)}
    coders = {one["figure"]: one["agreement"].value for one in rows(found.table("coders"))}
    assert coders["the same label"] == pytest.approx(0.5)
    assert {one.words for one in found.quotations} == set(REASONS)
    assert REASONS[0] in (tmp_path / "report" / "report.html").read_text()


def test_clusters_by_meaning_follow_the_vectors_and_not_the_words(
    workspace: Workspace, study: Study, tmp_path: Path
) -> None:
    said = justifications(read_evidence(workspace, study))
    tasks = [int(one.task.removeprefix("t-")) for one in said]
    meant = np.eye(2)[[int(number >= 6) for number in tasks]]  # apart by task, where words go by odd and even
    code_by_clusters(said, tmp_path / "codes.csv", seed=1, k=2, encode=lambda _: meant)
    [labels] = read_codes([tmp_path / "codes.csv"]).values()
    by_half = {(number >= 6, labels[one.judgment]) for number, one in zip(tasks, said, strict=True)}
    assert len(by_half) == 2, "one cluster for each half"


def test_an_embedding_model_without_its_package_is_refused_with_what_to_install() -> None:
    if find_spec("sentence_transformers") is not None:
        pytest.skip("the package is here")
    with pytest.raises(MissingTool, match="pip install sentence-transformers"):
        sentence_encoder("all-MiniLM-L6-v2")


def test_clusters_of_words_tell_two_reasons_apart(workspace: Workspace, study: Study, tmp_path: Path) -> None:
    said = justifications(read_evidence(workspace, study))
    path = tmp_path / "codes.csv"
    code_by_clusters(said, path, seed=1, k=2)
    labels = read_codes([path])["clusters"]
    assert len({labels[one.judgment] for one in said if one.words == REASONS[0]}) == 1
    assert len(set(labels.values())) == 2


def test_a_label_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("judgment,coder,label\nx,ann,vibes\n")
    with pytest.raises(UnknownName, match="vibes"):
        read_codes([path])
