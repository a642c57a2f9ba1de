"""Passkeys, with a real browser and its virtual authenticator: added after a link, used, several, taken away."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import CDPSession, Page, expect
from sqlalchemy import select, update

from guildhall.domain.halls import Member
from guildhall.errors import InputError
from guildhall.store.access import passkey_challenges, passkeys
from guildhall.web.passkeys import CHALLENGE_S, Passkeys
from tests.axe import faults
from tests.web.live import Live

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Device:
    """A virtual authenticator in a tab's browser."""

    def __init__(self, tab: Page) -> None:
        self._session: CDPSession = tab.context.new_cdp_session(tab)
        self._session.send("WebAuthn.enable")
        self._id = self._session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]

    def recognises(self, known: bool) -> None:
        facts = {"authenticatorId": self._id, "isUserVerified": known}
        self._session.send("WebAuthn.setUserVerified", facts)

    def close(self) -> None:
        self._session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self._id})


@pytest.fixture
def device(tab: Page) -> Device:
    """It goes with its tab."""
    return Device(tab)


def come_in(live: Live, tab: Page) -> Member:
    member = live.invite()
    tab.goto(live.link(member))
    tab.get_by_role("button", name="Come in").click()
    tab.wait_for_url("**/sets")
    return member


def add(live: Live, tab: Page, name: str) -> None:
    tab.goto(live.address + "/account")
    tab.get_by_label("What to call it").fill(name)
    tab.get_by_role("button", name="Add a passkey").click()
    expect(tab.get_by_role("rowheader", name=name)).to_be_visible()


def leave_and_return(live: Live, tab: Page) -> None:
    tab.get_by_role("button", name="Leave", exact=True).click()
    tab.wait_for_url("**/enter")
    tab.get_by_role("button", name="Come in with a passkey").click()


def test_a_passkey_added_after_a_link_lets_its_holder_in_again(live: Live, tab: Page, device: Device) -> None:
    member = come_in(live, tab)
    add(live, tab, "My laptop")
    assert not (found := faults(tab)), found
    before = {one["value"] for one in tab.context.cookies()}
    leave_and_return(live, tab)
    tab.wait_for_url("**/sets")
    expect(tab.get_by_text(member.code_name)).to_be_visible()
    assert not before & {one["value"] for one in tab.context.cookies()}, "a fresh session, never an old one"
    [kept] = Passkeys(live.site).of(member.id)
    assert kept.name == "My laptop" and kept.used_at is not None


def test_a_person_may_have_several_and_a_removed_one_opens_nothing(live: Live, tab: Page, device: Device) -> None:
    member = come_in(live, tab)
    add(live, tab, "First")
    device.close()
    Device(tab)
    add(live, tab, "Second")
    assert [one.name for one in Passkeys(live.site).of(member.id)] == ["First", "Second"]
    tab.get_by_role("button", name="Remove Second").click()
    expect(tab.get_by_role("rowheader", name="Second")).to_have_count(0)
    leave_and_return(live, tab)
    expect(tab.get_by_role("heading", name="Not let in")).to_be_visible()


def test_a_device_that_does_not_recognise_its_holder_opens_nothing(live: Live, tab: Page, device: Device) -> None:
    come_in(live, tab)
    add(live, tab, "Locked")
    device.recognises(known=False)
    leave_and_return(live, tab)
    expect(tab.get_by_text("That did not work")).to_be_visible()
    assert tab.url.endswith("/enter")


def test_a_revoked_person_stays_out_whatever_their_device_says(live: Live, tab: Page, device: Device) -> None:
    member = come_in(live, tab)
    add(live, tab, "Outlived")
    live.site.roster.revoke(member.id)
    tab.goto(live.address + "/enter")
    tab.get_by_role("button", name="Come in with a passkey").click()
    expect(tab.get_by_role("heading", name="Not let in")).to_be_visible()


def test_an_answer_counts_once_for_one_person_and_for_a_while(live: Live, tab: Page, device: Device) -> None:
    come_in(live, tab)
    add(live, tab, "Recorded")
    answers: list[str] = []
    tab.on("request", lambda one: answers.append(one.post_data or "") if one.url.endswith("/enter/passkey") else None)
    leave_and_return(live, tab)
    tab.wait_for_url("**/sets")
    [sent] = answers
    replayed = live.client().http.post(
        "/enter/passkey", content=sent, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert replayed.status_code == 403 and "set-cookie" not in replayed.headers


def test_a_copied_device_gives_itself_away_by_its_count(live: Live, tab: Page, device: Device) -> None:
    member = come_in(live, tab)
    add(live, tab, "Cloned")
    with live.site.store.transaction() as connection:
        connection.execute(update(passkeys).where(passkeys.c.member == member.id).values(sign_count=10_000))
    leave_and_return(live, tab)
    expect(tab.get_by_role("heading", name="Not let in")).to_be_visible()


def test_anothers_passkey_cannot_be_taken_away(live: Live) -> None:
    owner, other = live.invite(), live.client(live.invite())
    with live.site.store.transaction() as connection:
        row = {"credential": f"cred-{owner.id}", "member": owner.id, "public_key": b"k", "sign_count": 0}
        connection.execute(passkeys.insert().values(**row, added_at=1.0))
    assert other.post(f"/account/passkeys/cred-{owner.id}/remove").status_code == 404
    assert [one.credential for one in Passkeys(live.site).of(owner.id)] == [f"cred-{owner.id}"]
    live.site.roster.erase(owner.id)
    assert not Passkeys(live.site).of(owner.id), "erasing a person takes their passkeys along"


def test_questions_are_bound_to_a_person_and_grow_old(live: Live) -> None:
    mine, other = live.invite(), live.invite()
    desk = Passkeys(live.site)
    challenge = json.loads(desk.options_to_add(mine))["challenge"]
    answer = made_up(challenge)
    with pytest.raises(InputError, match="too long or was sent twice"):
        desk.add(other, answer, name="stolen", own=True)
    live.skew_s = CHALLENGE_S + 1
    try:
        with pytest.raises(InputError, match="too long or was sent twice"):
            desk.add(mine, answer, name="late", own=True)
        desk.options_to_enter()
    finally:
        live.skew_s = 0
    with live.site.store.reading() as connection:
        kept = connection.execute(select(passkey_challenges.c.member)).scalars().all()
    assert mine.id not in kept, "old questions are thrown away"


def made_up(challenge: str, *, kind: str = "create", origin: str = "", credential: str = "AAAA", **parts: str) -> str:
    told = json.dumps({"type": f"webauthn.{kind}", "challenge": challenge, "origin": origin}).encode()
    response = {"clientDataJSON": base64.urlsafe_b64encode(told).decode().rstrip("="), **parts}
    return json.dumps({"id": credential, "rawId": credential, "type": "public-key", "response": response})


TEXT = st.text(max_size=60)
BYTES = st.binary(max_size=120).map(lambda one: base64.urlsafe_b64encode(one).decode().rstrip("="))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    answer=st.one_of(TEXT, JSON.map(json.dumps), st.builds(dict, response=JSON, id=JSON).map(json.dumps)),
    part=TEXT | BYTES,
)
def test_no_answer_however_odd_opens_the_door_or_breaks_it(live: Live, answer: str, part: str) -> None:
    desk, member = Passkeys(live.site), live.invite()
    own = f"known-{member.id}"
    with live.site.store.transaction() as connection:
        row = {"credential": own, "member": member.id, "public_key": b"k", "sign_count": 0, "added_at": 1.0}
        connection.execute(passkeys.insert().values(**row))
    assert desk.enter(answer) is None
    for credential in (own, part, "\ud800\0"):
        real = json.loads(desk.options_to_enter())["challenge"]
        odd = {"credential": credential, "authenticatorData": part, "signature": part}
        assert desk.enter(made_up(real, kind="get", origin=live.address, **odd)) is None
    asked = json.loads(desk.options_to_add(member))["challenge"]
    for given_back in (answer, made_up(asked, origin=live.address, attestationObject=part)):
        with pytest.raises(InputError):
            desk.add(member, given_back, name="odd", own=True)
