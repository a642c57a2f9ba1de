"""Judgments made elsewhere: every row with its sides, graders and source, or none; and taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from guildhall.domain.judgments import Judgment
from guildhall.domain.submissions import Submission
from guildhall.domain.tasks import Task
from guildhall.errors import FaultsFound, InputError, NotEnoughData
from guildhall.grading.elsewhere import ImportedVotes, import_votes, imports_of, take_back
from guildhall.judging.vote_files import VoteMapping
from guildhall.store.wordings import newest_study
from guildhall.store.workspace import Workspace
from guildhall.study.evidence import read_evidence
from guildhall.study.policy import ELSEWHERE
from guildhall.study.reporting import methods_of

QA = Path(__file__).parent / "haluquestqa.toml"
COLUMNS = {"brief": "question", "a": "text_a", "b": "text_b"}
MAPPING = VoteMapping.model_validate(
    {"study": {"id": "s", "title": "S", "baseline": "old"}, "judged": "2025-01-01", "columns": COLUMNS}
)
PLAIN = VoteMapping.model_validate({"judged": "2025-01-02"})


def vote(number: int = 1, **more: Any) -> dict[str, Any]:
    """By default the new author stands on A and wins."""
    texts = {"question": f"Question {number}?", "text_a": f"new {number}", "text_b": f"old {number}"}
    who = {"task": f"t{number}", "model_a": "new", "model_b": "old", "rater": "anna", "verdict": "model_a"}
    return texts | who | more


def file(folder: Path, *rows: dict[str, Any], name: str = "votes.jsonl") -> Path:
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif name.endswith(".json"):
        path.write_text(json.dumps(rows))
    elif name.endswith(".parquet"):
        pl.DataFrame(rows).write_parquet(path)
    else:
        pl.DataFrame(rows).write_csv(path, include_bom=True, separator="\t" if name.endswith("tsv") else ",")
    return path


def bring(workspace: Workspace, path: Path, mapping: VoteMapping = MAPPING, **more: Any) -> ImportedVotes:
    return import_votes(workspace, path, mapping, **({"by": "human"} | more))


def rates(workspace: Workspace, study: str = "s", **more: Any) -> list[tuple[str, int, int, int]]:
    evidence = read_evidence(workspace, newest_study(workspace.store, study), needs=(), **more)
    return [(one.model, one.wins, one.ties, one.losses) for one in evidence.rates]


def test_a_published_table_becomes_a_whole_study_by_one_file_and_one_mapping(
    workspace: Workspace, realdata: Path
) -> None:
    made = bring(workspace, realdata / "experts/haluquestqa.tsv", VoteMapping.read(QA))
    assert (made.rows, made.new, made.tasks, made.works, made.raters) == (698, 698, 698, 1396, 21)
    evidence = read_evidence(workspace, newest_study(workspace.store, "haluquestqa"), needs=())
    assert [(one.model, one.wins, one.losses) for one in evidence.rates] == [("model", 563, 135)]
    assert str(evidence.group) == "expert"
    methods = " ".join(methods_of(evidence.study, (), policy=evidence.counted.policy, models=["model"]))
    assert ELSEWHERE in methods and "graders judge each set" not in methods, "nothing is claimed of how it was done"
    fields = dict(evidence.tasks["occupation"].value_counts().iter_rows())
    assert fields == {
        "biology": 110,
        "economics": 110,
        "technology": 110,
        "chemistry": 96,
        "physics": 94,
        "history": 92,
        "law": 86,
    }
    again = bring(workspace, realdata / "experts/haluquestqa.tsv", VoteMapping.read(QA))
    assert again.new == 0 and workspace.store.count(Judgment) == 698


@pytest.mark.parametrize("name", ["v.csv", "v.tsv", "v.jsonl", "v.json", "v.parquet"])
def test_every_form_of_table_says_the_same(workspace: Workspace, tmp_path: Path, name: str) -> None:
    rows = [vote(1), vote(2, verdict="TIE"), vote(3, verdict="model_b"), vote(4, verdict="both_bad")]
    made = bring(workspace, file(tmp_path, *rows, name=name))
    assert (made.new, made.without_verdict) == (4, 1)
    assert rates(workspace) == [("new", 1, 1, 1)], "both bad is no tie"


def test_sides_that_are_turned_round_give_the_same_rate_and_keep_their_order(
    workspace: Workspace, tmp_path: Path
) -> None:
    turned = vote(2, model_a="old", model_b="new", text_a="old 2", text_b="new 2", verdict="model_b")
    bring(workspace, file(tmp_path, vote(1), turned))
    assert rates(workspace) == [("new", 2, 0, 0)]
    names = {one.key: one.author.key.split(":")[1] for one in workspace.store.find(Submission)}
    assert sorted([names[key] for key in one.order] for one in workspace.store.find(Judgment)) == [
        ["new", "old"],
        ["old", "new"],
    ]


HOSTILE = {
    "no side": ({"model_a": ""}, "its model_a is empty"),
    "no column of sides": ({"model_a": None}, "its model_a is empty"),
    "one author on both sides": ({"model_a": "old"}, "stands on both sides"),
    "no rater": ({"rater": " "}, "its rater is empty"),
    "an unknown verdict": ({"verdict": "the left one I think"}, "is no verdict"),
    "an empty work": ({"text_a": ""}, "is empty"),
    "an id with a blank": ({"task": "a task"}, "an id has"),
    "an author with a line break": ({"model_a": "ne\nw"}, "an id has"),
    "another brief": ({"task": "t1"}, "another brief"),
}


@pytest.mark.parametrize(("change", "words"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_row_that_does_not_say_what_it_must_refuses_the_whole_file(
    workspace: Workspace, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(FaultsFound) as caught:
        bring(workspace, file(tmp_path, vote(1), vote(2, **change), vote(3)))
    assert any("row 2" in fault and words in fault for fault in caught.value.faults)
    assert workspace.store.count(Judgment) == workspace.store.count(Task) == 0


def test_all_faults_are_told_at_once_and_a_vote_twice_is_one(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(FaultsFound, match="2 of 3 rows") as caught:
        bring(workspace, file(tmp_path, vote(1, rater=""), vote(2), vote(3, verdict="?")))
    assert len(caught.value.faults) == 2
    with pytest.raises(FaultsFound, match="judges one pair 2 times"):
        bring(workspace, file(tmp_path, vote(1), vote(1, verdict="tie")))
    undated = MAPPING.but(judged=None)
    with pytest.raises(FaultsFound, match="when it was judged"):
        bring(workspace, file(tmp_path, vote(1)), undated)


def test_judgments_about_work_that_is_here_join_the_studys_own(workspace: Workspace, tmp_path: Path) -> None:
    bring(workspace, file(tmp_path, vote(1), vote(2)))
    more = [vote(1, rater="ben", verdict="tie"), vote(2, rater="ben", verdict="model_b")]
    assert bring(workspace, file(tmp_path, *more, name="more.jsonl"), PLAIN, study="s").new == 2
    assert rates(workspace) == [("new", 2, 1, 1)]
    assert imports_of(workspace.store, "s").keys() == {
        one for one in imports_of(workspace.store, "s") if one.startswith(("votes.jsonl@", "more.jsonl@"))
    }
    with pytest.raises(FaultsFound, match="stranger made nothing of task t1"):
        bring(workspace, file(tmp_path, vote(1, model_a="stranger"), name="x.jsonl"), PLAIN, study="s")
    with pytest.raises(FaultsFound, match="made nothing of task t9"):
        bring(workspace, file(tmp_path, vote(9), name="x.jsonl"), PLAIN, study="s")
    with pytest.raises(InputError, match="no study is called 'z'"):
        bring(workspace, file(tmp_path, vote(1), name="x.jsonl"), PLAIN, study="z")


def test_a_file_is_taken_back_and_comes_again_and_again(workspace: Workspace, tmp_path: Path) -> None:
    votes = file(tmp_path, vote(1), vote(2))
    more = file(tmp_path, vote(1, rater="ben", verdict="model_b"), name="more.jsonl")
    bring(workspace, votes)
    for _ in range(3):
        assert bring(workspace, more, PLAIN, study="s").new == 1
        assert rates(workspace) == [("new", 2, 0, 1)]
        assert take_back(workspace.store, "s", "more.jsonl") == 1
        assert rates(workspace) == [("new", 2, 0, 0)]
        evidence = read_evidence(workspace, newest_study(workspace.store, "s"), needs=())
        assert evidence.counted.unanswered.is_empty(), "what is taken back is no missing grade"
    with pytest.raises(InputError, match=r"came from 'more\.jsonl'"):
        take_back(workspace.store, "s", "more.jsonl")
    take_back(workspace.store, "s", "votes.jsonl")
    with pytest.raises(NotEnoughData):
        rates(workspace)


def test_another_file_of_one_name_is_refused_until_it_is_to_replace_the_first(
    workspace: Workspace, tmp_path: Path
) -> None:
    bring(workspace, file(tmp_path, vote(1), vote(2)))
    later = file(tmp_path, vote(1, verdict="model_b"), vote(2))
    with pytest.raises(InputError, match="another file called"):
        bring(workspace, later)
    assert rates(workspace) == [("new", 2, 0, 0)]
    made = bring(workspace, later, replace=True)
    assert (made.new, made.taken_back) == (2, 2) and rates(workspace) == [("new", 1, 0, 1)]


def test_a_judges_verdicts_count_though_nobody_asked_for_both_orders(workspace: Workspace, tmp_path: Path) -> None:
    bring(workspace, file(tmp_path, vote(1), vote(2)))
    rows = [vote(1, rater="gpt-x", verdict="model_b"), vote(2, rater="gpt-x")]
    bring(workspace, file(tmp_path, *rows, name="judge.csv"), PLAIN, study="s", by="judge")
    assert rates(workspace) == [("new", 2, 0, 0)], "kinds are not pooled"
    assert rates(workspace, graders="judge:gpt-x") == [("new", 1, 0, 1)]


def test_names_of_people_become_marks_that_only_this_workspace_makes(workspace: Workspace, tmp_path: Path) -> None:
    bring(workspace, file(tmp_path, vote(1, rater="Anna Alt <anna@example.org>"), vote(2, rater="r-17")))
    keys = sorted(one.grader.key for one in workspace.store.find(Judgment))
    assert keys[0] == "person:r-17" and keys[1].startswith("person:rater-") and "nna" not in keys[1]


def test_exports_of_label_studio_come_in_and_what_was_cancelled_does_not(workspace: Workspace, tmp_path: Path) -> None:
    def task(number: int, *annotations: dict[str, Any]) -> dict[str, Any]:
        data = {name: cell for name, cell in vote(number).items() if name not in {"rater", "verdict"}}
        return {"id": number, "data": data, "annotations": list(annotations)}

    def annotation(chosen: dict[str, Any], rater: object, **more: Any) -> dict[str, Any]:
        result = [{"from_name": "verdict", "to_name": "pw", "type": "pairwise", "value": chosen}]
        when = {"created_at": "2025-03-01T10:00:00Z", "lead_time": 61.5}
        return {"id": 1, "completed_by": rater, "result": result, "was_cancelled": False} | when | more

    rows = [
        task(1, annotation({"selected": "left"}, 7), annotation({"selected": "right"}, {"id": 8, "email": "b@c.d"})),
        task(2, annotation({"choices": ["tie"]}, 7), annotation({"selected": "left"}, 9, was_cancelled=True)),
    ]
    mapping = MAPPING.but(judged=None, columns={**COLUMNS, "at": "at", "seconds": "seconds"})
    made = bring(workspace, file(tmp_path, *rows, name="ls.json"), mapping)
    assert (made.new, made.raters) == (3, 2) and rates(workspace) == [("new", 1, 1, 1)]
    assert {one.active_s for one in workspace.store.find(Judgment)} == {61.5}
    with pytest.raises(FaultsFound, match="has no column 'verdict'"):
        nothing = annotation({}, 7) | {"result": []}
        bring(workspace, file(tmp_path, task(3, nothing), name="none.json"), mapping)


def test_arena_votes_come_in_with_their_conversations(workspace: Workspace, tmp_path: Path) -> None:
    def said(answer: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": answer}]

    rows = [
        {
            "id": f"c{at}",
            "model_a": "new",
            "model_b": "old",
            "winner": winner,
            "evaluation_session_id": f"e{at}",
            "conversation_a": said(f"So {at}"),
            "conversation_b": json.dumps(said(f"Thus {at}")),
        }
        for at, winner in enumerate(["model_a", "model_b", "tie", "both_bad"])
    ]
    columns = {"task": "id", "rater": "evaluation_session_id", "verdict": "winner", "brief": "conversation_a"}
    columns |= {"a": "conversation_a", "b": "conversation_b"}
    mapping = MAPPING.but(kind="crowd", columns=columns)
    assert bring(workspace, file(tmp_path, *rows, name="arena.jsonl"), mapping).without_verdict == 1
    assert rates(workspace) == [("new", 1, 1, 1)]
    assert {one.brief for one in workspace.store.find(Task)} == {"Why?"}
    assert "Thus 0" in {one.text for one in workspace.store.find(Submission)}


BAD_MAPPINGS = (
    "[columns]\nmodel = 'x'",
    "[study]\nid = 's'\ntitle = 'S'",
    "[columns]\na = 'x'",
    "no toml",
    "judged = 'x'",
)


@pytest.mark.parametrize("text", BAD_MAPPINGS)
def test_a_mapping_that_cannot_be_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(InputError, match=r"m\.toml"):
        VoteMapping.read(tmp_path / "m.toml")
