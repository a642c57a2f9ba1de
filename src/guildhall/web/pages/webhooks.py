"""A manager's page of webhooks: which addresses are told of what, and how each delivery went."""

from __future__ import annotations

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Role
from guildhall.store.audit import record
from guildhall.store.outbox import EVENTS, Channel
from guildhall.web.access import Session
from guildhall.web.guard import members_only, word
from guildhall.web.reaching import checked_url
from guildhall.web.rendering import page
from guildhall.web.site import Site
from guildhall.web.webhooks import Webhooks

HOME = "/manage/webhooks"


@members_only(Role.MANAGER)
def show(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    return _show(request, site)


def _show(request: Request, site: Site, secret: str | None = None) -> Response:
    hooks = Webhooks(site)
    told = {one.id: one.url for one in hooks.all()}
    return page(
        request,
        "manage_webhooks.html",
        hooks=hooks.all(),
        events=EVENTS,
        deliveries=[(one, told.get(one.target, "removed")) for one in hooks.outbox.log(Channel.WEBHOOK)],
        secret=secret,
    )


@members_only(Role.MANAGER)
def add(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """Register an address. The answer is the one place where its secret is shown."""
    hooks, url = Webhooks(site), word(form, "url")
    events = [str(event) for event in form.getlist("event")]
    secret = hooks.add(url, events, member=session.member.id)
    # The path of a webhook may itself be a secret; the log says which host is told.
    host = checked_url(url, hooks.allowed()).hostname or ""
    _note(site, session, "webhook made", host, events=sorted(events))
    return _show(request, site, secret)


@members_only(Role.MANAGER)
def remove(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    hooks = Webhooks(site)
    removed = hooks.remove(request.path_params["webhook"])
    _note(site, session, "webhook removed", removed.id)
    return RedirectResponse(HOME, 303)


@members_only(Role.MANAGER)
def ping(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    Webhooks(site).ping(request.path_params["webhook"])
    return RedirectResponse(HOME, 303)


def _note(site: Site, session: Session, action: str, subject: str, **facts: object) -> None:
    actor = session.member.code_name
    record(site.store, at=site.clock(), actor=actor, action=action, subject=subject, facts=dict(facts))


ROUTES: list[BaseRoute] = [
    Route(HOME, show),
    Route(f"{HOME}/add", add, methods=["POST"]),
    Route(f"{HOME}/{{webhook}}/remove", remove, methods=["POST"]),
    Route(f"{HOME}/{{webhook}}/ping", ping, methods=["POST"]),
]
