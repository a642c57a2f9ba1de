"""Public results: the published report of a finished study, and pairs anybody may judge blind before the reveal.

Nothing here needs a session, a script or a cookie, and nothing is kept of a visitor. A study that is not published does
not exist on these pages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.domain.report import Report
from guildhall.errors import InputError, UnknownName
from guildhall.study.publishing import (
    Publication,
    publication,
    publish,
    published,
    published_report,
    reveal,
    sample_of,
    samples_shown,
    withdraw,
)
from guildhall.web.access import Session
from guildhall.web.guard import members_only, whole_in, word
from guildhall.web.rendering import page
from guildhall.web.showing import shown_sample
from guildhall.web.site import Site

CHOICES = {"A": "A is better", "tie": "They are equally good", "B": "B is better"}


def in_public(handler: Callable[[Request, Site], Response]) -> Any:
    """A page for everybody; it runs in a thread, since it talks to the database."""

    async def shown(request: Request) -> Response:
        site: Site = request.app.state.site
        return await run_in_threadpool(handler, request, site)

    return shown


@in_public
def list_results(request: Request, site: Site) -> Response:
    found = [(one, published_report(site.workspace, one)) for one in published(site.store, site.studies())]
    return page(request, "results_list.html", found=sorted(found, key=lambda pair: -pair[0].at))


@in_public
def results(request: Request, site: Site) -> Response:
    """The report as it was published."""
    found = _published(request, site)
    report, body = _rendered(site, found)
    pairs = [*samples_shown(site.store, found)]
    return page(request, "results.html", found=found, report=report, body=body, pairs=pairs)


@in_public
def sample(request: Request, site: Site) -> Response:
    """A pair to judge: blind until the visitor has chosen, and then with its makers and the graders' verdicts."""
    found = _published(request, site)
    number = whole_in(request.path_params["number"], 999) or 0
    pair = sample_of(site.store, found, number)
    choice = request.query_params.get("choice", "")
    return page(
        request,
        "results_sample.html",
        found=found,
        number=number,
        view=shown_sample(site, found, number),
        choices=CHOICES,
        choice=choice if choice in CHOICES else "",
        revealed=reveal(site.store, pair) if choice in CHOICES else None,
    )


@members_only(Role.MANAGER)
def publish_results(request: Request, site: Site, session: Session, form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    samples = whole_in(word(form, "samples") or "0", 9999)
    if samples is None:
        raise InputError("say how many pairs to show as a whole number")
    publish(site.workspace, study, session.member, samples=samples, now=site.clock())
    return RedirectResponse(f"/results/{quote(study.id, safe='')}", 303)


@members_only(Role.MANAGER)
def withdraw_results(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    study = site.study(request.path_params["study"])
    withdraw(site.store, study.id, session.member, now=site.clock())
    return RedirectResponse(f"/manage/studies/{quote(study.id, safe='')}", 303)


def _published(request: Request, site: Site) -> Publication:
    study = request.path_params["study"]
    found = publication(site.store, study)
    if found is None:
        raise UnknownName("published study", study)
    return found


@lru_cache(maxsize=8)
def _rendered(site: Site, found: Publication) -> tuple[Report, Markup]:
    """Drawing takes a second or two and a published report never changes: each is drawn once."""
    from guildhall.reports.page import html_body  # drawing is loaded only where a report is shown

    report = published_report(site.workspace, found)
    return report, html_body(report)


ROUTES: list[BaseRoute] = [
    Route("/results", list_results),
    Route("/results/{study}", results),
    Route("/results/{study}/pairs/{number}", sample),
    Route("/manage/studies/{study}/publish", publish_results, methods=["POST"]),
    Route("/manage/studies/{study}/withdraw", withdraw_results, methods=["POST"]),
]
