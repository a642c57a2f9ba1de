"""Screening by a model: asked once for each draft, read strictly. What cannot be read is N/A, never "fine"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from pydantic import JsonValue

from guildhall.domain.reviews import Advice, Criterion, Draft, Opinion, Screening
from guildhall.domain.values import Id, sha256
from guildhall.engine.calls import Call, Reply
from guildhall.engine.oneshot import run_calls
from guildhall.engine.terms import Terms
from guildhall.store.workspace import Workspace
from guildhall.taskbank.review.screening import Texts

PROMPT = "screen-1.md"
MOST_CHARACTERS = 20_000
"""Of each file; enough to judge what it is."""
_SAID = (str(Opinion.FINE), str(Opinion.LOOK_AGAIN))


def screen_by_model(
    drafts: Sequence[Draft],
    *,
    texts: Mapping[Id, Texts],
    model: str,
    settings: dict[str, JsonValue] | None = None,
    workspace: Workspace,
    terms: Terms,
) -> list[Screening]:
    """A screening of each draft that was asked about; `texts` gives the words of its files by draft key.

    A limit of the run may leave drafts out. Nothing is kept here.
    """
    prompt = files("guildhall.taskbank.review").joinpath("prompts", PROMPT).read_text(encoding="utf-8")
    calls = {
        draft.key: Call.ask(
            model,
            draft_as_text(draft, texts.get(draft.key, {})),
            system=prompt,
            settings=settings or {},
            answer_schema=answer_schema(),
            purpose="screening",
        )
        for draft in drafts
    }
    answers = run_calls(calls.values(), workspace=workspace, terms=terms)
    return [
        Screening(
            task=draft.task.id,
            draft=draft.key,
            screener=model,
            advice=read_advice(reply),
            prompt_digest=sha256(prompt.encode()),
            made_at=terms.date(),
        )
        for draft in drafts
        if (reply := answers.of(calls[draft.key])) is not None
    ]


def draft_as_text(draft: Draft, texts: Texts) -> str:
    """The draft as the model is shown it, without its author."""
    task = draft.task
    hours = "not stated" if task.expert_hours is None else f"{task.expert_hours:g}"
    lines = [
        "DRAFT BEGINS",
        f"Occupation: {task.occupation} ({task.sector})",
        f"O*NET tasks: {'; '.join(task.onet.tasks) or 'none named'}",
        f"Hours an expert takes: {hours}",
        f"Reference files: {', '.join(file.name for file in task.reference_files) or 'none'}",
        f"The author's deliverable: {', '.join(file.name for file in task.expert_files) or 'none'}",
        "",
        "Brief:",
        task.brief.strip(),
    ]
    for name, text in texts.items():
        lines += ["", f"Words of {name}:", text[:MOST_CHARACTERS]]
    return "\n".join([*lines, "", "DRAFT ENDS"])


def answer_schema() -> dict[str, JsonValue]:
    point: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"opinion": {"enum": list(_SAID)}, "words": {"type": "string"}},
        "required": ["opinion", "words"],
        "additionalProperties": False,
    }
    names: list[JsonValue] = [str(criterion) for criterion in Criterion]
    return {
        "type": "object",
        "properties": {str(criterion): point for criterion in Criterion},
        "required": names,
        "additionalProperties": False,
    }


def read_advice(reply: Reply) -> tuple[Advice, ...]:
    """What a model said, point by point; a reply of any other shape makes every point N/A, with the reason."""
    if reply.failed:
        return _nothing(f"it could not be asked: {reply.error}")
    data: Any = reply.data
    if not isinstance(data, dict) or set(data) != {str(criterion) for criterion in Criterion}:
        return _nothing("its answer does not have the six points asked for")
    if not all(_is_point(point) for point in data.values()):
        return _nothing("its answer gives an opinion other than “fine” and “look again”")
    return tuple(
        Advice(criterion=criterion, opinion=Opinion(data[criterion]["opinion"]), words=data[criterion]["words"][:2000])
        for criterion in Criterion
    )


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, dict)
        and set(point) == {"opinion", "words"}
        and point["opinion"] in _SAID
        and isinstance(point["words"], str)
    )


def _nothing(why: str) -> tuple[Advice, ...]:
    return tuple(Advice(criterion=criterion, opinion=Opinion.UNKNOWN, words=why[:2000]) for criterion in Criterion)
