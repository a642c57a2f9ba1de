"""The wizard: a manager chooses tasks, work and rules step by step, sees what it takes, and freezes the study.

Each step is a plain form. Nothing is kept before the last button; then a worker makes every file ready.

The wizard's forms: what was chosen so far, read as a wish for a study, with what is still missing at each step. The
choices travel in the address from step to step, so that the browser's own back button and a reload work and nothing
is kept before the study is.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any
from urllib.parse import quote

from pydantic import ValidationError
from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.design import TaskChoice
from guildhall.domain.halls import GoldItem, HallDesign, Role
from guildhall.domain.studies import Study
from guildhall.errors import GuildhallError, InputError
from guildhall.store.audit import record
from guildhall.store.workspace import Workspace
from guildhall.study.designing import OnOffer, Wish, freeze_wish, groups_of, preview_of, why_not_freeze
from guildhall.study.openings import ask_to_open
from guildhall.web.access import Session
from guildhall.web.guard import members_only, word
from guildhall.web.rendering import page
from guildhall.web.site import Site

Choices = QueryParams | FormData
STEPS = ("Tasks", "Work", "Rules", "Checks", "Preview")
GOLD_STEP = 4
RULES: dict[str, tuple[str, str]] = {
    "graders_per_set": ("Graders for each set", "the paper: 3"),
    "set_size": ("Deliverables shown at once", "2: the baseline and one other; more: several others at once"),
    "exposure_limit": ("How often one grader may meet one task", "1 where the pool allows: the baseline recurs"),
    "severity_raters": ("Other experts who say how bad lost work is", "0 asks nobody"),
    "minutes_per_set": ("Minutes for one set", "for the preview; the paper: 109"),
    "hourly_wage_usd": ("Dollars an hour", "for the preview; empty: cost unknown"),
    "lease_hours": ("Hours a place is held", "each save renews them"),
}
"""Number fields of the third step: label and hint. Their limits are those of the design itself."""
SWITCHES: dict[str, tuple[str, str]] = {
    "match_occupation": ("Only graders of the task's occupation", "yes"),
    "adjudicate": ("One grader more where graders contradict each other", "no"),
}
FIELDS: tuple[tuple[str, ...], ...] = (
    ("title", "id", "seed", "sector", "occupation", "task", "first"),
    ("author", "baseline"),
    (*RULES, *SWITCHES),
    ("quiz_required", "gold_share", "gold"),
    (),
)
"""The fields of each step; those of a gold item (`better.TASK`, ...) belong to the fourth."""
GOLD_FIELDS = ("better", "worse", "why", "training")


def chosen(given: Choices) -> list[tuple[str, str]]:
    """Every known field with what it holds, in order; nothing else is carried on."""
    gold = {f"{name}.{task}" for task in given.getlist("gold") for name in GOLD_FIELDS}
    known = {name for step in FIELDS for name in step} | gold
    return [
        (name, value.strip()[:2000])
        for name, value in given.multi_items()
        if name in known and isinstance(value, str) and value.strip()
    ]


class Form:
    """The choices made so far."""

    def __init__(self, given: Choices, workspace: Workspace) -> None:
        self.items, self._workspace = chosen(given), workspace
        self._last = dict(self.items)

    def one(self, name: str, default: str = "") -> str:
        return self._last.get(name, default)

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for key, value in self.items if key == name))

    def rest(self, step: int) -> list[tuple[str, str]]:
        """What the other steps hold: hidden fields of this one's form."""
        mine = set(FIELDS[step - 1])
        return [
            (name, value)
            for name, value in self.items
            if name not in mine and not (step == GOLD_STEP and name.partition(".")[0] in GOLD_FIELDS)
        ]

    def tasks(self) -> TaskChoice:
        return TaskChoice.model_validate(
            {
                "ids": tuple(word for text in self.all("task") for word in text.split()),
                "sectors": self.all("sector"),
                "occupations": self.all("occupation"),
                "first": self.one("first") or None,
            }
        )

    def wish(self) -> Wish:
        return Wish.model_validate(
            {
                "id": self.one("id"),
                "title": self.one("title"),
                "seed": self.one("seed", "1"),
                "tasks": self.tasks(),
                "authors": self.all("author"),
                "baseline": self.one("baseline", "expert"),
                "blinding": "single-handed" if self.one("alone", "no") == "yes" else "two-person",
                "people": self.design(),
            }
        )

    def design(self) -> HallDesign:
        quiz = self.one("quiz_required", "no") == "yes"
        share = {"gold_share": self.one("gold_share")} if self.one("gold_share") else {}
        return HallDesign.model_validate({**self.rules(), **share, "quiz_required": quiz, "gold": self.gold()})

    def rules(self) -> dict[str, Any]:
        switches = {name: self.one(name, default) == "yes" for name, (_, default) in SWITCHES.items()}
        return {**{name: self.one(name) for name in RULES if self.one(name)}, **switches}

    @cached_property
    def offer(self) -> OnOffer:
        return OnOffer(self._workspace, self.tasks())

    def gold(self) -> tuple[GoldItem, ...]:
        """Works are chosen by whose they are: a page that knew their keys would lead from a code name to a model."""
        works = {task: self.offer.works_on(task) for task in self.all("gold")}
        return tuple(
            GoldItem(
                task=task,
                better=works[task].get(self.one(f"better.{task}"), ""),
                worse=works[task].get(self.one(f"worse.{task}"), ""),
                explanation=self.one(f"why.{task}"),
                training=self.one(f"training.{task}", "no") == "yes",
            )
            for task in self.all("gold")
        )


def faults_of(form: Form, workspace: Workspace, step: int) -> list[str]:
    """What a step still lacks, in words."""
    try:
        return _CHECKS[step - 1](form, workspace)
    except ValidationError as error:
        return [f"{_label(fault['loc'])}: {fault['msg'].removeprefix('Value error, ')}" for fault in error.errors()]
    except GuildhallError as error:
        return [str(error)]


def _tasks_faults(form: Form, workspace: Workspace) -> list[str]:
    Wish.model_validate({"id": form.one("id"), "title": form.one("title"), "seed": form.one("seed", "1")})
    if workspace.store.count(Study, id=form.one("id")):
        return [
            f"There is a study {form.one('id')} already; a frozen study does not change. Give this one another name."
        ]
    _ = form.offer
    return []


def _work_faults(form: Form, _workspace: Workspace) -> list[str]:
    known = form.offer.authors()
    others = set(form.all("author")) - {form.one("baseline", "expert")}
    if not others:
        return ["Choose whose work is compared with the baseline's."]
    return [f"There is no work of {name} on the chosen tasks." for name in sorted(others - set(known))]


def _rules_faults(form: Form, _workspace: Workspace) -> list[str]:
    HallDesign.model_validate(form.rules())
    return []


def _checks_faults(form: Form, _workspace: Workspace) -> list[str]:
    gold, design = form.gold(), form.design()
    faults = [f"Say what shows that the better one for {one.task} is better." for one in gold if not one.explanation]
    if design.quiz_required and not any(one.training for one in gold):
        faults.append("Training needs at least one item with a known answer that is for training.")
    if design.gold_share and all(one.training for one in gold):
        faults.append("Checks need at least one item with a known answer that is not for training.")
    return faults


def _no_faults(_form: Form, _workspace: Workspace) -> list[str]:
    return []


_CHECKS = (_tasks_faults, _work_faults, _rules_faults, _checks_faults, _no_faults)
_LABELS = {
    "id": "Short name",
    "title": "Title",
    "seed": "Seed",
    "gold_share": "Share of checks",
    "first": "At most so many",
}


def _label(place: tuple[int | str, ...]) -> str:
    name = str(place[-1]) if place else "This step"
    return RULES[name][0] if name in RULES else _LABELS.get(name, name)


LAST = len(STEPS)


@members_only(Role.MANAGER)
def choose(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    """The step that was asked for, or an earlier one that still lacks something."""
    form, asked = Form(request.query_params, site.workspace), request.query_params.get("step", "1")
    wanted = int(asked) if asked in {str(number + 1) for number in range(LAST)} else 1
    return _first_faulty(request, site, form, before=wanted) or _step(request, site, form, wanted)


@members_only(Role.MANAGER)
def freeze(request: Request, site: Site, session: Session, given: FormData) -> Response:
    form = Form(given, site.workspace)
    refused = _first_faulty(request, site, form, before=LAST)
    if refused is not None:
        return refused
    preview = preview_of(site.workspace, form.wish(), site.roster.everyone())
    if preview.staff.words and word(given, "anyway") != "yes":
        return _step(request, site, form, LAST, ["Tick the box to open the study although graders are missing."])
    with site.store.transaction():
        study = freeze_wish(site.workspace, preview)
        who, now = session.member, site.clock()
        facts = {"study": study.key, "graders_missing": list(preview.staff.words)}
        record(site.store, at=now, actor=who.code_name, action="study frozen", subject=study.id, facts=facts)
        ask_to_open(site.store, study, by=who, now=now)
    return RedirectResponse(f"/manage/studies/{quote(study.id, safe='')}", 303)


@members_only(Role.MANAGER)
def open_again(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    """Ask once more for an opening that failed."""
    study = site.study(request.path_params["study"])
    ask_to_open(site.store, study, by=session.member, now=site.clock())
    return RedirectResponse(f"/manage/studies/{quote(study.id, safe='')}", 303)


def _first_faulty(request: Request, site: Site, form: Form, *, before: int) -> Response | None:
    for number in range(1, before):
        faults = faults_of(form, site.workspace, number)
        if faults:
            return _step(request, site, form, number, faults)
    return None


def _step(request: Request, site: Site, form: Form, number: int, faults: list[str] | None = None) -> Response:
    facts = _FACTS[number - 1](site, form)
    shared = {"number": number, "steps": STEPS, "form": form, "rest": form.rest(number), "faults": faults or []}
    return page(request, "manage_new.html", status=400 if faults else 200, **shared, **facts)


def _tasks(site: Site, _form: Form) -> dict[str, Any]:
    try:
        every = OnOffer(site.workspace, TaskChoice()).tasks
    except InputError:
        every = []
    sectors, occupations = groups_of(every)
    return {"sectors": sectors, "occupations": occupations, "every": len(every)}


def _work(_site: Site, form: Form) -> dict[str, Any]:
    return {"authors": form.offer.authors(), "tasks": len(form.offer.tasks)}


def _rules(_site: Site, _form: Form) -> dict[str, Any]:
    return {"rules": RULES, "switches": SWITCHES, "defaults": HallDesign().model_dump()}


def _checks(_site: Site, form: Form) -> dict[str, Any]:
    works = {task.id: [*form.offer.works_on(task.id)] for task in form.offer.tasks}
    known = [task for task, made in works.items() if len(made) > 1]
    return {"works": works, "addable": [task for task in known if task not in form.all("gold")], "here": GOLD_STEP}


def _preview(site: Site, form: Form) -> dict[str, Any]:
    preview = preview_of(site.workspace, form.wish(), site.roster.everyone())
    return {"preview": preview, "design": form.design(), "why_not": why_not_freeze(preview)}


_FACTS = (_tasks, _work, _rules, _checks, _preview)


ROUTES: list[BaseRoute] = [
    Route("/manage/new", choose),
    Route("/manage/new", freeze, methods=["POST"]),
    Route("/manage/studies/{study}/open", open_again, methods=["POST"]),
]
