"""The workspace's secret: one for all who open it, for its owner only, and nowhere in the database."""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer

from guildhall.errors import UnreadableFile
from guildhall.store.secret import ELSEWHERE, KEY_FILE, OLD_KEY_FILE, derive, open_secret
from guildhall.store.workspace import MARK, SETTINGS, Workspace
from guildhall.web.site import Addresses, Site


def test_a_new_workspace_has_a_secret_of_its_own_for_its_owner_only(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        with Workspace.create(tmp_path / name) as workspace:
            found.append(workspace.secret)
        assert stat.S_IMODE((tmp_path / name / KEY_FILE).stat().st_mode) == 0o600
        assert found[-1] not in (tmp_path / name / "guildhall.sqlite").read_bytes()
    assert len(found[0]) == 32 and found[0] != found[1]


def test_a_secret_stays_what_it_was_and_its_keys_tell_nothing_about_each_other(tmp_path: Path) -> None:
    first = open_secret(tmp_path)
    assert open_secret(tmp_path) == first
    assert len({first, derive(first, "one"), derive(first, "two")}) == 3
    assert derive(first, "one") == derive(open_secret(tmp_path), "one")


@pytest.mark.parametrize("old", [None, b"k" * 32])
def test_of_many_who_make_a_secret_at_once_all_have_the_same(tmp_path: Path, old: bytes | None) -> None:
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        if old:
            (folder / OLD_KEY_FILE).write_bytes(old)
        with ThreadPoolExecutor(16) as many:
            found = set(many.map(open_secret, [folder] * 32))
        assert len(found) == 1 and found == {old or (folder / KEY_FILE).read_bytes()}
        assert [file.name for file in folder.iterdir()] == [KEY_FILE]


def test_one_who_comes_second_takes_what_the_first_has_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link: Callable[..., None] = os.link

    def after_another(making: Path, path: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        theirs.append(open_secret(tmp_path))
        link(making, path)

    theirs: list[bytes] = []
    monkeypatch.setattr(os, "link", after_another)
    assert [open_secret(tmp_path)] == theirs


def test_what_an_earlier_version_signed_and_sealed_stays_good(workspace: Workspace) -> None:
    key = b"k" * 32
    (workspace.path / KEY_FILE).unlink()
    (workspace.path / OLD_KEY_FILE).write_bytes(key)
    settings = (workspace.path / SETTINGS).read_text().splitlines()
    (workspace.path / SETTINGS).write_text("\n".join(line for line in settings if MARK not in line))
    with Workspace.open(workspace.path) as again:
        site = Site(again, Addresses("http://localhost", "http://files.localhost"))
        assert site.roster.mark("Acme") == hmac.new(key, b"acme", "sha256").hexdigest()
        signed = site.signer.dumps(["seat", "what"])
        assert URLSafeTimedSerializer(key, salt="deliverable").loads(signed) == ["seat", "what"]
        assert again.key_for("webhooks") == hmac.digest(key, b"guildhall webhooks", "sha256")


def test_a_secret_kept_elsewhere_is_read_from_there_and_never_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "elsewhere.key"
    monkeypatch.setenv(ELSEWHERE, str(place))
    with pytest.raises(UnreadableFile, match=ELSEWHERE):
        Workspace.create(tmp_path / "hall")
    assert not place.exists()
    place.write_bytes(b"s" * 32)
    with Workspace.create(tmp_path / "hall") as workspace:
        assert workspace.secret == b"s" * 32 and not (workspace.path / KEY_FILE).exists()


@pytest.mark.parametrize("cut_short", [b"", b"short"])
def test_a_secret_that_was_cut_short_is_refused_by_its_name(tmp_path: Path, cut_short: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(cut_short)
    with pytest.raises(UnreadableFile, match=KEY_FILE):
        open_secret(tmp_path)
