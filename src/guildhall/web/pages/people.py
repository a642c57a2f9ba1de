"""The roster, the keys for programs, and the audit log. Nothing personal is shown: people go by code names here too."""

from __future__ import annotations

from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from guildhall.domain.halls import Member, Role, WayIn
from guildhall.store.audit import broken_links, history, record
from guildhall.study.unblinding import INVITED
from guildhall.web.access import SCOPES, Session
from guildhall.web.guard import members_only, number_in, word
from guildhall.web.mail import INVITATION_S, Letter, Mail
from guildhall.web.pages.manage import WATCHERS
from guildhall.web.rendering import page
from guildhall.web.site import Site

MOST_ROWS = 500


@members_only(*WATCHERS)
def roster(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    return _roster(request, site)


def _roster(request: Request, site: Site, *, link: str | None = None, invited: str | None = None) -> Response:
    return page(
        request,
        "manage_people.html",
        people=site.roster.everyone(),
        roles=[str(role) for role in Role],
        link=link,
        invited=invited,
        letters=Mail(site).log(),
    )


@members_only(Role.MANAGER)
def invite(request: Request, site: Site, session: Session, form: FormData) -> Response:
    """Put a person on the roster. The answer is the one place where their link is shown."""
    role = word(form, "role")
    if role not in {str(one) for one in Role}:
        raise HTTPException(400, "choose a role from the list")
    try:
        with site.store.transaction():  # nobody is on the roster without it being kept who brought them
            member = site.roster.invite_person(
                Role(role),
                occupations=tuple(line.strip() for line in word(form, "occupations").splitlines() if line.strip()),
                years=_years(word(form, "years")),
                personal={name: word(form, name) for name in ("name", "email", "employer") if word(form, name)},
            )
            _note(site, session, INVITED, member.code_name, role=role)
    except ValidationError as error:
        raise HTTPException(400, "an occupation is a title of at most 300 characters, one a line") from error
    return _with_link(request, site, session, member, Letter.INVITATION)


@members_only(Role.MANAGER)
def new_link(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    member = site.roster.get(request.path_params["member"])
    _note(site, session, "link made", member.code_name)
    return _with_link(request, site, session, member, Letter.NEW_LINK)


def _with_link(request: Request, site: Site, session: Session, member: Member, letter: Letter) -> Response:
    """By e-mail where that is possible; else the link is shown, to be handed over, and it is kept who has seen it."""
    if Mail(site).write_to(member, letter):
        return _roster(request, site, invited=member.code_name)
    token = site.door.new_link(member.id, now=site.clock(), lasts_s=INVITATION_S, entry=WayIn.HANDED)
    _note(site, session, "link handed over", member.code_name)
    return _roster(request, site, link=f"{site.addresses.app}/enter/{token}", invited=member.code_name)


@members_only(Role.MANAGER)
def revoke(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    member = site.roster.get(request.path_params["member"])
    if member.id == session.member.id:
        raise HTTPException(400, "nobody can shut themselves out; another manager does it")
    site.door.leave_everywhere(member.id)
    site.roster.revoke(member.id)
    _note(site, session, "revoked", member.code_name)
    return RedirectResponse("/manage/people", 303)


@members_only(Role.MANAGER)
def tokens(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    return _tokens(request, site)


def _tokens(request: Request, site: Site, made: str | None = None) -> Response:
    return page(request, "manage_tokens.html", tokens=site.door.api_tokens(), scopes=SCOPES, made=made)


@members_only(Role.MANAGER)
def new_token(request: Request, site: Site, session: Session, form: FormData) -> Response:
    name = word(form, "name")[:100]
    scopes = [str(scope) for scope in form.getlist("scope")]
    if not name or not scopes:
        raise HTTPException(400, "give the token a name and at least one scope")
    made = site.door.new_api_token(session.member.id, name=name, scopes=scopes, now=site.clock())
    _note(site, session, "token made", name, scopes=sorted(scopes))
    return _tokens(request, site, made)


@members_only(Role.MANAGER)
def revoke_token(request: Request, site: Site, session: Session, _form: FormData) -> Response:
    name = site.door.revoke_api_token(request.path_params["token"], now=site.clock())
    _note(site, session, "token revoked", name)
    return RedirectResponse("/manage/tokens", 303)


@members_only(*WATCHERS)
def audit_log(request: Request, site: Site, _session: Session, _form: FormData) -> Response:
    rows = history(site.store, limit=MOST_ROWS)
    return page(request, "manage_audit.html", rows=rows, broken=broken_links(site.store), most=MOST_ROWS)


def _note(site: Site, session: Session, action: str, subject: str, **facts: object) -> None:
    record(
        site.store, at=site.clock(), actor=session.member.code_name, action=action, subject=subject, facts=dict(facts)
    )


def _years(text: str) -> float | None:
    if not text:
        return None
    years = number_in(text, 0, 90)
    if years is None:
        raise HTTPException(400, "years are a number between 0 and 90")
    return years


ROUTES: list[BaseRoute] = [
    Route("/manage/people", roster),
    Route("/manage/people/invite", invite, methods=["POST"]),
    Route("/manage/people/{member}/link", new_link, methods=["POST"]),
    Route("/manage/people/{member}/revoke", revoke, methods=["POST"]),
    Route("/manage/tokens", tokens),
    Route("/manage/tokens/new", new_token, methods=["POST"]),
    Route("/manage/tokens/{token}/revoke", revoke_token, methods=["POST"]),
    Route("/manage/audit", audit_log),
]
