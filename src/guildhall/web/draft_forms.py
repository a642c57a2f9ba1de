"""The forms of authors and reviewers: their fields read into values, each fault in words for the page."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile

from guildhall.domain.reviews import QUESTIONS
from guildhall.domain.tasks import FileRef, OnetTags, check_relative_name
from guildhall.errors import InputError
from guildhall.store.blobs import Blobs
from guildhall.taskbank.review.authoring import DeskCopy
from guildhall.taskbank.rubrics import RubricFault, rubric_from_paragraphs
from guildhall.web.guard import number_in, whole_in, word

ASKED = tuple(name for questions in QUESTIONS.values() for name in questions)
MOST_FILES, MOST_SAVES = 40, 10**9
RATINGS = {
    "difficulty": ("Difficulty", "1: a beginner could do it; 5: it takes a master"),
    "representativeness": ("Representativeness", "1: nobody does this; 5: the daily work of the occupation"),
    "quality": ("Quality", "1: unusable; 5: as good as real work gets"),
    "time": ("Time", "1: the stated hours are far off; 5: exactly right"),
}


def desk_copy_of(copy: DeskCopy, form: FormData, blobs: Blobs) -> DeskCopy:
    """The author's copy with what the form says; new files are kept, ticked ones are left out."""
    try:
        return copy.but(
            title=word(form, "title"),
            sector=word(form, "sector"),
            occupation=word(form, "occupation"),
            brief=word(form, "brief").replace("\r\n", "\n"),
            expert_text=word(form, "expert_text").replace("\r\n", "\n"),
            expert_hours=_number(form, "expert_hours", "the hours"),
            hourly_wage_usd=_number(form, "hourly_wage_usd", "the wage"),
            onet=OnetTags(
                tasks=_lines(form, "onet_tasks"),
                skills=_chosen(form, "onet_skills"),
                work_activities=_chosen(form, "onet_work_activities"),
            ),
            sensitive=_lines(form, "sensitive"),
            third_party=_lines(form, "third_party"),
            permission=_lines(form, "permission"),
            rubric=rubric_from_paragraphs(word(form, "rubric")) if word(form, "rubric") else None,
            reference_files=_files(form, "reference", copy.reference_files, blobs),
            expert_files=_files(form, "expert", copy.expert_files, blobs),
            note=word(form, "note"),
            saved=whole_in(word(form, "saved"), MOST_SAVES) or 0,
        )
    except RubricFault as fault:
        raise InputError(f"the rubric cannot be read: {fault}") from fault
    except (ValidationError, ValueError) as error:
        words = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"{words}; correct the form and save again") from error


def _chosen(form: FormData, name: str) -> tuple[str, ...]:
    said = (" ".join(one.split()) for one in form.getlist(name) if isinstance(one, str))
    return tuple(dict.fromkeys(one[:300] for one in said if one))


def _lines(form: FormData, name: str) -> tuple[str, ...]:
    found = (" ".join(line.split()) for line in word(form, name).splitlines())
    return tuple(dict.fromkeys(line[:300] for line in found if line))


def _number(form: FormData, name: str, words: str) -> float | None:
    text = word(form, name).replace(",", ".")
    if not text:
        return None
    found = number_in(text, 0, 1e6)
    if found is None:
        raise InputError(f"{words} are a number, such as 2.5")
    return found


def _files(form: FormData, kind: str, kept: tuple[FileRef, ...], blobs: Blobs) -> tuple[FileRef, ...]:
    gone = {value for value in form.getlist(f"remove_{kind}") if isinstance(value, str)}
    files = {file.name: file for file in kept if file.name not in gone}
    for upload in form.getlist(f"add_{kind}"):
        if isinstance(upload, UploadFile) and upload.filename:
            name = _plain_name(upload.filename)
            digest = blobs.put(upload.file)
            files[name] = FileRef(name=name, digest=digest, size=upload.size)
    if len(files) > MOST_FILES:
        raise InputError(f"a task has at most {MOST_FILES} {kind} files here; pack some of them into one archive")
    return tuple(files.values())


def _plain_name(sent: str) -> str:
    """The last part of what a browser calls a file; a hostile one is refused."""
    name = PurePosixPath(sent.replace("\\", "/")).name
    check_relative_name(name)
    return name


def review_answers(form: FormData) -> dict[str, Any]:
    """The fields of a review; what is missing is named."""
    missing = [label for name, (label, _) in RATINGS.items() if word(form, name) not in set("12345")]
    missing += [] if word(form, "outcome") else ["pass or changes"]
    missing += [] if word(form, "words") else ["your reasons"]
    if missing:
        raise InputError(f"the review still lacks: {', '.join(missing)}")
    return {
        "outcome": word(form, "outcome"),
        **{name: int(word(form, name)) for name in RATINGS},
        "hours": _number(form, "hours", "hours"),
        "specification": word(form, "specification") or None,
        "words": word(form, "words"),
        "answers": {name: said == "yes" for name in ASKED if (said := word(form, f"asked-{name}")) in ("yes", "no")},
    }
