"""A study from its file to its submissions, in the true sandbox, with the shipped scripted authors."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from guildhall.analysis.counting import LOOKED_AT, count
from guildhall.cli import sample as sample_cli
from guildhall.cli import study as study_cli
from guildhall.domain.authors import Expert, ModelRun, Person
from guildhall.domain.judgments import Comparison, Judgment
from guildhall.domain.policy import GraderGroup, Policy
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.domain.variants import BriefVariant
from guildhall.errors import GuildhallError, InputError, UnknownName, UnreadableFile
from guildhall.store.verdict_parts import read_verdicts
from guildhall.study.exports import code_book
from guildhall.study.file import new_study, read_study
from guildhall.study.publishing import why_not_public
from guildhall.study.reporting import study_report
from guildhall.study.stages import Sampling
from guildhall.study.studies import OpenStudy

BRIEF = """Please prepare:

1. A workbook, `totals.xlsx`, with the totals.
2. A memo, `memo.docx`, that explains them.
"""
STUDY = """
[study]
id = "small"
title = "A small study"
seed = 3
[[authors]]
name = "careful"
model = "scripted/careful"
samples = 1
[[authors]]
name = "careless"
model = "scripted/careless"
condition = "plain"
samples = 1
[sampling.limits]
item_turns = 20
"""


@pytest.fixture
def bank(workspace):
    table = b"name,amount\na,1.5\nb,2.5\nc,4\n"
    digest = workspace.blobs.put(table)
    task = Task(
        id="t-1",
        sector="Information",
        occupation="Editors",
        brief=BRIEF,
        reference_files=(FileRef(name="amounts.csv", digest=digest, size=len(table)),),
    )
    workspace.store.add(task)
    return task


@pytest.fixture
def study(workspace, bank, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return OpenStudy.open(path, workspace)


def test_both_authors_truly_make_files_of_visibly_different_quality(study, workspace):
    stage = Sampling()
    before = stage.plan(study)
    assert (before["items"], before["to_do"]) == (2, 2) and before["usd"] == 0.0
    report = stage.run(study)
    assert (report["done"], report["failed"], report["left"]) == (2, 0, 0)
    made = {one.author.name: one for one in workspace.store.find(Submission) if isinstance(one.author, ModelRun)}
    careful, careless = made["careful"], made["careless"]
    assert [file.name for file in careful.files] == ["totals.xlsx", "memo.docx"]
    assert careful.looked_at_pages and careful.confidence == 80 and not careful.problems
    assert [file.name for file in careless.files] == ["totals.xlsx"] and not careless.looked_at_pages
    rules = {problem.rule for problem in careless.problems}
    assert {"promised but not delivered", "echoed input", "stray files"} <= rules
    assert b"SUM(" in _parts(workspace.blobs.read(careful.files[0].digest))
    assert careful.text.endswith("section.") and "CONFIDENCE" not in careful.text
    assert stage.plan(study)["to_do"] == 0
    again = stage.run(study)
    assert again["finished_now"] == 0 and workspace.store.count(Submission) == 2


def _parts(content: bytes) -> bytes:
    import zipfile
    from io import BytesIO

    with zipfile.ZipFile(BytesIO(content)) as package:
        return b"".join(package.read(name) for name in package.namelist() if name.endswith(".xml"))


def test_items_differ_by_everything_that_may_change_the_outcome(study, tmp_path, workspace):
    keys = {item.key for item in study.items}
    changes = {
        'condition = "plain"': ("condition = 'elicited'", "settings = {temperature = 0.5}", "tools = 'none'"),
        "samples = 1": ("samples = 2",),
    }
    for before, change in [(before, change) for before, others in changes.items() for change in others]:
        (tmp_path / "other.toml").write_text(STUDY.replace(before, change))
        other = OpenStudy.open(tmp_path / "other.toml", workspace)
        assert {item.key for item in other.items} != keys, change
    (tmp_path / "paced.toml").write_text(STUDY + "item_seconds = 5.0\n[sampling.pace]\nretries = 1\n")
    paced = OpenStudy.open(tmp_path / "paced.toml", workspace)
    assert {item.key for item in paced.items} == keys, "pace and limits are no part of the work"


@pytest.mark.parametrize("relay", ["true", "false"])
def test_a_study_file_of_an_earlier_version_is_the_same_study(study, tmp_path, workspace, relay):
    (tmp_path / "old.toml").write_text(STUDY + f"[sampling.pace]\nrelay = {relay}\n[grading.pace]\nrelay = {relay}\n")
    old = OpenStudy.open(tmp_path / "old.toml", workspace)
    assert old.frozen().key == study.frozen().key
    assert [item.key for item in old.items] == [item.key for item in study.items]
    assert old.terms.pace == study.terms.pace


def test_a_kept_study_that_names_an_old_setting_keeps_its_key(study, workspace):
    frozen = study.frozen()
    kept = {"tasks": frozen.design.tasks.model_dump(mode="json"), "grading": {"pace": {"relay": True}}}
    old = Study.model_validate({**frozen.model_dump(), "design": kept})
    workspace.store.add(old)
    assert [one.key for one in workspace.store.find(Study)] == [old.key]
    assert workspace.store.get(Study, old.key).design.model_dump()["grading"] == {"pace": {"relay": True}}


@pytest.mark.parametrize(
    ("mistyped", "meant"), [("openia/gpt-5", "openai"), ("scripted/carefull", "careful"), ("echo", None)]
)
@pytest.mark.parametrize("whose", ["author", "judge"])
def test_a_plan_names_a_model_nobody_knows_instead_of_pricing_it(bank, workspace, tmp_path, mistyped, meant, whose):
    judge = f'[[judges]]\nname = "j"\nmodel = "{mistyped}"\n'
    text = STUDY.replace("scripted/careless", mistyped) if whose == "author" else STUDY + judge
    (tmp_path / "study.toml").write_text(text)
    words = ["plan", str(tmp_path / "study.toml"), "--workspace", str(workspace.path)]
    told = CliRunner().invoke(study_cli.app, words).exception
    assert isinstance(told, UnknownName) and told.name in mistyped
    assert (f"did you mean {meant!r}" in str(told)) is (meant is not None)


def test_a_changed_study_must_be_wanted_in_words(study, tmp_path, workspace):
    study.freeze()
    study.freeze()
    assert workspace.store.count(Study) == 1
    (tmp_path / "study.toml").write_text(STUDY.replace("seed = 3", "seed = 4"))
    changed = OpenStudy.open(tmp_path / "study.toml", workspace)
    with pytest.raises(InputError, match="--changed"):
        changed.freeze()
    again = replace(changed, changed=True).freeze()
    assert again == changed.freeze() == changed.frozen() and workspace.store.count(Study) == 2
    first, _ = workspace.store.find(Study, id="small")
    assert (again.design.replaces, again.design.why) == (first.key, "changed before the first judgment")
    back = replace(study, changed=True).freeze(why="the first seed was right")
    assert back.seed == 3 and back.design.replaces == again.key and workspace.store.count(Study) == 3


def test_a_study_laid_out_for_simulated_graders_is_never_given_to_people(study, tmp_path, workspace):
    """The orders of its sides follow from its seed, and stay as they were drawn: people could compute them."""
    told, people = tmp_path / "study.toml", "\n[people]\ngraders_per_set = 2\n"
    told.write_text(f"{STUDY}{people}simulated_graders = 2\n")
    OpenStudy.open(told, workspace).freeze()
    for words in (people, f"{people}simulated_graders = 0\n"):
        told.write_text(STUDY + words)
        with pytest.raises(InputError, match=r"simulated graders.* its own id"):
            OpenStudy.open(told, workspace, changed=True).freeze(why="now with people")
    told.write_text(f"{STUDY}{people}simulated_graders = 3\n")
    assert OpenStudy.open(told, workspace, changed=True).freeze().design.hall.simulated_graders == 3


def test_a_judged_study_is_changed_only_with_a_reason(study, tmp_path, workspace):
    planned = study.freeze()
    expert, model = (Submission(task="t-1", author=one, text="x") for one in (Expert(), planned.authors[0]))
    comparison = Comparison(study="small", task="t-1", submissions=(expert.key, model.key))
    judgment = Judgment(
        comparison=comparison.key,
        grader=Person(code_name="ann"),
        order=comparison.submissions,
        ranks=(1, 2),
        made_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    workspace.store.add_all([expert, model, comparison, judgment])
    (tmp_path / "study.toml").write_text(STUDY + "[plan]\nlevel = 0.9\n")
    changed = OpenStudy.open(tmp_path / "study.toml", workspace)
    wanted = replace(changed, changed=True)
    with pytest.raises(InputError, match="--why"):
        wanted.freeze()
    form = wanted.freeze(why="a narrower interval is enough")
    assert form.design.changed_from(planned.design) == ("plan",) and form.plan.level == 0.9
    told = " ".join(study_report(workspace, form).planned_and_done)
    assert planned.key in told and "a narrower interval is enough" in told and "level: 90%" in told


def test_a_study_kept_before_designs_had_a_format_goes_on_as_it_was_kept(study, tmp_path, workspace):
    new = study.frozen()
    old: dict[str, Any] = {"tasks": {"ids": [], "sectors": [], "occupations": [], "first": None}, "prices": {}}
    kept = Study.model_validate({**new.model_dump(), "design": old})
    workspace.store.add(kept)
    upgraded = OpenStudy.open(tmp_path / "study.toml", workspace)
    assert upgraded.freeze() == kept and upgraded.frozen().canonical() == kept.canonical()
    assert workspace.store.count(Study) == 1
    (tmp_path / "study.toml").write_text(STUDY + "[people]\ngraders_per_set = 2\n")
    with pytest.raises(InputError, match="another form"):
        OpenStudy.open(tmp_path / "study.toml", workspace).freeze()


def test_the_plan_of_a_study_file_is_frozen_whole(study, tmp_path, workspace):
    (tmp_path / "study.toml").write_text(
        STUDY
        + """
[people]
graders_per_set = 4
[plan]
graders = "practitioner"
convention = "win_or_tie"
comparisons = [["careful", "careless"]]
missing = { refused = "missing" }
looks = { at = [0.5, 1.0] }
excluded = [{ figure = "known answers right", below = 0.6, from_judgments = 5 }]
"""
    )
    plan = OpenStudy.open(tmp_path / "study.toml", workspace).freeze().plan
    assert (str(plan.graders), plan.graders_per_set, plan.convention) == ("practitioner", 4, "win_or_tie")
    assert plan.samples == {"careful": 1, "careless": 1} and plan.comparisons == (("careful", "careless"),)
    assert plan.missing.refused == "missing" and plan.looks.at == (0.5, 1.0) and plan.margin == 0.05
    for wrong in ('graders = "judge:nobody"', 'comparisons = [["careful", "nobody"]]', "level = 95", "lvel = 0.9"):
        (tmp_path / "study.toml").write_text(STUDY + f"[plan]\n{wrong}\n")
        with pytest.raises(GuildhallError):
            OpenStudy.open(tmp_path / "study.toml", workspace).frozen()


def test_what_a_rehearsal_shows_says_so_first(study, tmp_path, workspace):
    text = STUDY.replace("seed = 3", "seed = 3\nrehearsal = true")
    (tmp_path / "study.toml").write_text(text)
    form = OpenStudy.open(tmp_path / "study.toml", workspace).freeze()
    assert str(form.plan.graders) == "simulated" and form.heading == "Rehearsal: A small study"
    nothing = Policy(studies=(form.id,), baseline="expert", graders=GraderGroup.parse("simulated"))
    verdicts = read_verdicts(workspace.store, [form.id], parts=workspace.verdict_parts, columns=LOOKED_AT)
    book = code_book(workspace, form, count(verdicts, nothing)).decode().splitlines()
    assert book[0] == "# Rehearsal: A small study" and book[2] == form.design.rehearsal_note
    assert "rehearsal" in (why_not_public(workspace.store, form) or "")


def test_an_under_specified_brief_is_read_only_once_confirmed(tmp_path, workspace, bank):
    (tmp_path / "study.toml").write_text(STUDY.replace('condition = "plain"', 'brief = "under-specified"'))
    study = OpenStudy.open(tmp_path / "study.toml", workspace)
    with pytest.raises(InputError, match="no confirmed under-specified brief"):
        _ = study.items
    fields = {"left_out": ("format expectations",), "made_by": "me"}
    workspace.store.add(BriefVariant.of("t-1", BRIEF, "Prepare totals.xlsx and memo.docx.", **fields))
    with pytest.raises(InputError):
        _ = OpenStudy.open(tmp_path / "study.toml", workspace).items
    variant = BriefVariant.of("t-1", BRIEF, "Send totals.xlsx and memo.docx.", confirmed_by="R", **fields)
    workspace.store.add(variant)
    items = OpenStudy.open(tmp_path / "study.toml", workspace).items
    short = next(item for item in items if item.author.name == "careless")
    assert short.job.prompt.startswith("Send totals.xlsx") and short.author.brief == "under-specified"
    assert 0 < variant.token_ratio < 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("[study]\nid = 'x'\n", "title"),
        ("not toml [", "not valid TOML"),
        (STUDY + "[surprise]\nx = 1\n", "surprise"),
        (STUDY.replace('"careless"\n', '"careful"\n', 1), "share one name"),
        (STUDY.replace('model = "scripted/careless"', ""), "either a model or a command"),
    ],
)
def test_every_fault_of_a_study_file_is_named(tmp_path, change, words):
    path = tmp_path / "study.toml"
    path.write_text(change)
    with pytest.raises(UnreadableFile, match=re.escape(words)):
        read_study(path)


def test_a_new_study_can_be_read_and_is_not_overwritten(tmp_path):
    path = new_study(tmp_path / "study.toml", study_id="one", title='Say "hi"')
    assert read_study(path).study.id == "one"
    assert {author.samples for author in read_study(path).authors} == {3}
    with pytest.raises(UnreadableFile, match="there already"):
        new_study(path, study_id="two", title="x")


def test_an_author_tries_each_task_three_times_unless_told_otherwise(tmp_path, workspace, bank):
    (tmp_path / "study.toml").write_text(STUDY.replace("samples = 1\n", ""))
    made = OpenStudy.open(tmp_path / "study.toml", workspace)
    assert [author.samples for author in made.file.authors] == [3, 3]
    assert len(made.items) == 3 * 2 * len(made.tasks)


def test_plan_and_status_print_json_for_scripts(study, workspace, tmp_path):
    run = CliRunner()
    at = ["--workspace", str(workspace.path), "--json"]
    plan = run.invoke(study_cli.app, ["plan", str(tmp_path / "study.toml"), *at])
    status = run.invoke(sample_cli.app, ["status", "--study", str(tmp_path / "study.toml"), *at])
    assert json.loads(plan.stdout)["sampling"]["to_do"] == 2
    assert json.loads(status.stdout)["planned"] == 2
