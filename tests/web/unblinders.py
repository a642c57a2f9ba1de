"""One person who tries to unblind a study alone, by the pages: each way ends in a refusal that the log keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import unescape
from pathlib import Path

from guildhall.domain.design import FORMAT, Design
from guildhall.domain.halls import Member, Role, WayIn
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.store.audit import broken_links, history
from guildhall.store.workspace import Workspace
from guildhall.study.unblinding import FRESH_S, unblinding
from tests.web.authenticator import Authenticator
from tests.web.live import Live, Visitor
from tests.web.studies import make_task, open_study

STUDY, BOARD = "blind", "/manage/studies/blind"
MODELS = ("model-0", "model-1")


@contextmanager
def blind_hall(folder: Path, *, database: str | None = None) -> Iterator[Live]:
    """A study in two-person form, served."""
    with Workspace.create(folder, database=database) as workspace:
        made = open_study(workspace, [make_task(number) for number in range(3)], models=2, name=STUDY)
        design = Design(format=FORMAT, blinding="two-person", people=made.design.people)
        workspace.store.add(Study(id=STUDY, title=made.title, seed=made.seed, tasks=made.tasks, design=design))
    hall = Live(folder).start()
    yield hall
    hall.stop()


def by_mail(hall: Live, member: Member) -> Visitor:
    """Somebody who presses the button behind the link in their own letter."""
    token = hall.site.door.new_link(member.id, now=hall.site.clock(), entry=WayIn.MAIL)
    return _behind(hall, token)


def _behind(hall: Live, token: str) -> Visitor:
    visitor = hall.client()
    assert visitor.http.post(f"/enter/{token}").status_code == 303
    return visitor


def _invite(manager: Visitor, role: Role) -> tuple[Member, str]:
    """Whom a manager brings onto the roster by the page, and the link that the page shows to the manager."""
    given = {"role": str(role), "occupations": "Editors"}
    text = unescape(manager.post("/manage/people/invite", given).text)
    token = re.search(r"/enter/([\w-]{20,})", text)
    code_name = history(manager.live.site.store)[0]["subject"]
    assert token
    return manager.live.site.roster.by_code_name(code_name), token[1]


def _link_for(manager: Visitor, member: Member) -> str:
    token = re.search(r"/enter/([\w-]{20,})", unescape(manager.post(f"/manage/people/{member.id}/link").text))
    assert token
    return token[1]


def _ask(visitor: Visitor) -> int:
    return visitor.post(f"{BOARD}/unblind", {"why": "I want to know."}).status_code


def _confirm(visitor: Visitor) -> int:
    return visitor.post(f"{BOARD}/unblind/confirm").status_code


def _manager(hall: Live) -> Visitor:
    return hall.client(hall.invite(Role.MANAGER))


def names_are_not_to_be_computed(hall: Live) -> str:
    """Everything a page tells, hashed in every order, with and without what lies between, gives no code name."""
    manager, study = _manager(hall), hall.site.study(STUDY)
    text = manager.get(BOARD).text
    shown = set(re.findall(r"\b[a-z]+-[0-9a-f]{4}\b", text)) - set(MODELS)
    assert shown, "code names are shown"
    known = [study.id, str(study.seed), study.key, study.title]
    for model in MODELS:
        tried = {"\n".join((one, other, model)) for one in known for other in known} | {model}
        tried |= {f"{one}\n{model}" for one in known} | {f"{model}\n{one}" for one in known}
        digests = [sha256(one.encode()).digest()[1:3].hex() for one in tried]
        assert not {name.rpartition("-")[2] for name in shown} & set(digests)
    return ""


def an_auditor_of_my_own(hall: Live) -> str:
    manager = _manager(hall)
    _, token = _invite(manager, Role.AUDITOR)
    assert _ask(manager) == 303
    assert _confirm(_behind(hall, token)) == 400
    return "unblinding refused"


def a_grader_who_is_me(hall: Live) -> str:
    """An existing grader with a set at hand, and a new one: neither shows anything behind a link I have seen."""
    manager, grader = _manager(hall), hall.invite()
    seat = hall.client(grader).post("/sets/claim").headers["location"].split("/")[2]
    for token in (_link_for(manager, grader), _invite(manager, Role.GRADER)[1]):
        me = _behind(hall, token)
        assert me.post("/sets/claim").status_code == 403
        assert me.post(f"{BOARD}/unblind/confirm").status_code == 404
        for path in ("", "/brief", "/review", "/receipt"):
            assert me.get(f"/sets/{seat}{path}").status_code in {403, 404}
    assert by_mail(hall, grader).get(f"/sets/{seat}/brief").status_code == 200
    return "sets refused"


def a_passkey_behind_a_link_i_saw(hall: Live) -> str:
    manager, auditor, device = _manager(hall), hall.invite(Role.AUDITOR), Authenticator()
    assert _ask(manager) == 303
    device.join(_behind(hall, _link_for(manager, auditor)))
    me = hall.client()
    device.enter(me)
    assert _confirm(me) == 400
    again = Authenticator()
    again.join(me)  # a second one, added by the first
    me = hall.client()
    again.enter(me)
    assert _confirm(me) == 400
    return "unblinding refused"


def an_auditor_with_a_second_address_of_mine(hall: Live) -> str:
    manager = _manager(hall)
    auditor, _ = _invite(manager, Role.AUDITOR)
    assert _ask(manager) == 303
    assert _confirm(by_mail(hall, auditor)) == 400
    return "unblinding refused"


def a_chain_of_people_i_made_up(hall: Live) -> str:
    manager = _manager(hall)
    second, _ = _invite(manager, Role.MANAGER)
    acting = by_mail(hall, second)
    third, _ = _invite(acting, Role.MANAGER)
    fourth, _ = _invite(by_mail(hall, third), Role.AUDITOR)
    assert _ask(acting) == 303
    assert _confirm(by_mail(hall, fourth)) == 400
    assert _confirm(manager) == 400
    return "unblinding refused"


def asking_in_another_managers_name(hall: Live) -> str:
    """So that I could confirm as myself."""
    manager, colleague = _manager(hall), hall.invite(Role.MANAGER)
    assert _ask(_behind(hall, _link_for(manager, colleague))) == 400
    assert _confirm(manager) == 400
    return "unblinding refused"


def drowning_the_log(hall: Live) -> str:
    """What happened long ago in the log still counts: that I asked, and whom I brought."""
    manager = _manager(hall)
    auditor, _ = _invite(manager, Role.AUDITOR)
    assert _ask(manager) == 303
    with hall.site.store.transaction():  # many rows about both at once, as hundreds of clicks would make
        for _ in range(230):
            for subject in (auditor.code_name, f"unblinding of {STUDY}"):
                _row(hall, manager, subject)
    assert _confirm(by_mail(hall, auditor)) == 400 and _confirm(manager) == 400
    return "unblinding refused"


def _row(hall: Live, manager: Visitor, subject: str) -> None:
    from guildhall.store.audit import record

    session = hall.site.door.session(manager.http.cookies.get("guildhall"), now=hall.site.clock())
    assert session
    actor = session.member.code_name
    record(hall.site.store, at=hall.site.clock(), actor=actor, action="link made", subject=subject, facts={})


def a_session_left_open(hall: Live) -> str:
    """Somebody else's browser, long after they came in."""
    manager, auditor = _manager(hall), hall.invite(Role.AUDITOR)
    assert _ask(manager) == 303
    open_still = by_mail(hall, auditor)
    hall.skew_s = FRESH_S + 1
    try:
        assert _confirm(open_still) == 400
    finally:
        hall.skew_s = 0
    return "unblinding refused"


def a_form_in_anothers_browser(hall: Live) -> str:
    """Cross-site requests: a form without the page's token, and a link."""
    manager, auditor = _manager(hall), hall.invite(Role.AUDITOR)
    assert _ask(manager) == 303
    lured = by_mail(hall, auditor)
    assert lured.http.post(f"{BOARD}/unblind/confirm", data={"form_token": manager.token}).status_code == 403
    assert lured.http.get(f"{BOARD}/unblind/confirm").status_code == 405
    return ""


def keys_beside_names(hall: Live) -> str:
    """The wizard again over the same tasks, and everything else a manager can open: no key of a work is anywhere."""
    manager = _manager(hall)
    works = [one.key for one in hall.site.store.find(Submission)]
    steps = "&".join(["id=second", "title=Second", "gold=task-0", "author=model-0", "author=model-1"])
    pages = [f"/manage/new?{steps}&step={number}" for number in range(1, 6)]
    pages += [BOARD, f"{BOARD}/items", f"{BOARD}/judges", "/manage", "/manage/audit", "/manage/people"]
    pages += [f"{BOARD}/export/{ending}" for ending in ("csv", "jsonl", "codebook")]
    for path in pages:
        text = manager.get(path).text
        assert not [key for key in works if key[:12] in text], path
        assert path.startswith("/manage/new") or not any(model in text for model in MODELS), path
    return ""


WAYS: tuple[Callable[[Live], str], ...] = (
    names_are_not_to_be_computed,
    an_auditor_of_my_own,
    a_grader_who_is_me,
    a_passkey_behind_a_link_i_saw,
    an_auditor_with_a_second_address_of_mine,
    a_chain_of_people_i_made_up,
    asking_in_another_managers_name,
    drowning_the_log,
    a_session_left_open,
    a_form_in_anothers_browser,
    keys_beside_names,
)
"""The first three are an audit's. Each gives the kind of row that the log keeps of it, where it is an act."""


def try_way(hall: Live, way: Callable[[Live], str]) -> None:
    kept = way(hall)
    log = history(hall.site.store, limit=10_000)
    assert not unblinding(hall.site.store, STUDY).open and not broken_links(hall.site.store)
    assert not kept or any(row["action"] == kept and row["facts"] for row in log), f"no row says {kept!r}"
