"""A manager's page of the grading service: what programs asked for, how far it has come, and what it came to."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from guildhall.store.gradings import Gradings
from guildhall.study.service import service_of
from guildhall.web.access import Session
from guildhall.web.api.grading_shapes import grading_shown
from guildhall.web.guard import members_only
from guildhall.web.pages.manage import WATCHERS
from guildhall.web.rendering import page
from guildhall.web.site import Site

MOST = 50


@members_only(*WATCHERS)
def show(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    found = Gradings(site.store).newest(limit=MOST)
    rows = [(one.token_name, one.made_at, grading_shown(site.store, one)) for one in found]
    judges = list(service_of(site.workspace).graders())
    return page(request, "manage_gradings.html", gradings=rows, judges=judges, most=MOST)


ROUTES: list[BaseRoute] = [Route("/manage/gradings", show)]
