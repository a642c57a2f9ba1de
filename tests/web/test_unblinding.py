"""Unblinding takes two people whom no single one can play; who works alone says so and every report says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.main import app
from guildhall.domain.design import FORMAT, Design
from guildhall.domain.halls import Role, WayIn
from guildhall.domain.policy import GraderGroup, GroupKind, Policy
from guildhall.domain.studies import Study
from guildhall.store.audit import history
from guildhall.study.reporting import BLINDINGS, methods_of
from guildhall.study.unblinding import FRESH_S, code_names, unblinding
from tests.web.authenticator import Authenticator
from tests.web.live import Live
from tests.web.unblinders import (
    BOARD,
    MODELS,
    STUDY,
    WAYS,
    _ask,
    _confirm,
    _invite,
    _manager,
    blind_hall,
    by_mail,
    try_way,
)


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Live]:
    with blind_hall(tmp_path / "workspace") as served:
        yield served


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nobody_unblinds_a_study_alone(hall: Live, way: Callable[[Live], str]) -> None:
    try_way(hall, way)


def test_two_people_whom_the_operator_brought_unblind_by_mail_or_by_passkey(hall: Live) -> None:
    manager, auditor, device = _manager(hall), hall.invite(Role.AUDITOR), Authenticator()
    device.join(by_mail(hall, auditor))
    assert _ask(manager) == 303 and not unblinding(hall.site.store, STUDY).open
    fresh = hall.client()
    device.enter(fresh)
    assert not any(model in fresh.get(BOARD).text for model in MODELS)
    assert _confirm(fresh) == 303
    assert all(model in manager.get(BOARD).text for model in MODELS)


def test_a_person_whom_the_operator_vouches_for_may_confirm_whoever_invited_them(hall: Live) -> None:
    manager = _manager(hall)
    auditor, _ = _invite(manager, Role.AUDITOR)
    assert _ask(manager) == 303 and _confirm(by_mail(hall, auditor)) == 400
    said = CliRunner().invoke(app, ["people", "vouch", auditor.code_name, "--workspace", str(hall.path)])
    assert said.exit_code == 0, said.output
    assert _confirm(by_mail(hall, auditor)) == 303 and unblinding(hall.site.store, STUDY).open


def test_that_a_manager_handed_a_link_over_is_kept(hall: Live) -> None:
    manager = _manager(hall)
    member, _ = _invite(manager, Role.GRADER)
    said = [row["action"] for row in history(hall.site.store, subject=member.code_name)]
    assert said == ["link handed over", "invited"]


@pytest.mark.parametrize("entry", [None, WayIn.HANDED, WayIn.OPERATOR])
def test_who_did_not_come_in_by_a_factor_of_their_own_confirms_nothing(hall: Live, entry: WayIn | None) -> None:
    assert _ask(_manager(hall)) == 303
    assert _confirm(hall.client(hall.invite(Role.AUDITOR), entry=entry)) == 400


def test_one_person_alone_unblinds_a_study_that_says_so(hall: Live) -> None:
    study = hall.site.study(STUDY)
    alone = Study(**study.model_dump() | {"design": Design(format=FORMAT, blinding="single-handed")})
    hall.site.store.add(alone)
    manager = hall.client(hall.invite(Role.MANAGER), entry=WayIn.HANDED)
    assert "one person alone may" in manager.get(BOARD).text
    assert _ask(manager) == 303 and unblinding(hall.site.store, STUDY).open
    assert history(hall.site.store)[0]["facts"]["alone"] is True


def test_nobody_changes_a_judgment_once_names_are_shown(hall: Live) -> None:
    """For a week a judgment may be changed; results may be public long before."""
    grader = hall.client(hall.invite())
    seat = grader.post("/sets/claim").headers["location"].split("/")[2]
    grader.post(f"/sets/{seat}/brief")
    words = "It answers what was asked for."
    for version, overall in enumerate("AB"):
        grader.post(f"/sets/{seat}/draft", {"overall": overall, "reason": words, "draft_version": str(version)})
        form = {"why": "I was wrong.", "amend": "1"} if version else {}
        assert grader.post(f"/sets/{seat}/submit", form).status_code == 303
    kept = hall.site.queue.seat(seat).judgment
    assert _ask(_manager(hall)) == 303 and _confirm(by_mail(hall, hall.invite(Role.AUDITOR))) == 303
    grader.post(f"/sets/{seat}/draft", {"overall": "A", "reason": words, "draft_version": "2"})
    refused = grader.post(f"/sets/{seat}/submit", {"why": "I know it now.", "amend": "1"})
    assert refused.status_code == 422 and "no longer be changed" in refused.text
    assert hall.site.queue.seat(seat).judgment == kept
    assert "Change it" not in grader.get(f"/sets/{seat}/receipt").text


def test_every_report_says_how_many_people_unblind(hall: Live) -> None:
    study = hall.site.study(STUDY)
    policy = Policy(studies=(STUDY,), graders=GraderGroup(kind=GroupKind.EXPERT), baseline="expert")
    for blinding, words in BLINDINGS.items():
        design = {} if blinding is None else {"format": FORMAT, "blinding": blinding}
        form = Study(**study.model_dump() | {"design": Design(**design)})
        assert words in methods_of(form, [], policy=policy, models=())
    assert len(set(BLINDINGS.values())) == 3 and FRESH_S < 3600


def test_a_study_from_before_its_blinding_was_said_keeps_its_code_names() -> None:
    study = Study(id="old", title="Old", seed=7, tasks=("t@1",))
    assert code_names(study, ["gpt-9"], key=b"1") == code_names(study, ["gpt-9"], key=b"2") == {"gpt-9": "basalt-60dc"}
    new = study.but(design=Design(format=FORMAT, blinding="two-person"))
    assert code_names(new, ["gpt-9"], key=b"1") != code_names(new, ["gpt-9"], key=b"2")
