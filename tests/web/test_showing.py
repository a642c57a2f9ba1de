"""What templates are handed: words stand under the page they are on, or under none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from guildhall.documents.kinds import Family, Kind
from guildhall.documents.looking import Documents
from guildhall.domain.judgments import BlindedFile, BlindedSide, BlindedView
from guildhall.domain.prepared import Prepared
from guildhall.errors import CorruptBlob
from guildhall.grading.opening import open_hall
from guildhall.judging.preparing import Preparer
from guildhall.store.blobs import Blobs
from guildhall.store.workspace import Workspace
from guildhall.web.files import files_app
from guildhall.web.showing import shown_files, texts_by_page
from guildhall.web.site import Site
from tests.web.studies import make_task, open_study

FILM = ("film not shown: 12 moments of 3.0 s are shown as frames", "sound not shown: a waveform", "no text: silent")
PLAYED = [kind for kind in Kind if kind.row.inline and kind.family in (Family.AUDIO, Family.VIDEO)]


def site_with(blobs: Blobs, *files: BlindedFile) -> Site:
    """As much of a site as one view's files need."""
    view = BlindedView.model_construct(brief="", sides=(BlindedSide(place="A", files=files),), reference_files=())
    return cast(
        "Site",
        SimpleNamespace(
            blobs=blobs,
            read_link=lambda token: ("seat", token),
            view=lambda _seat: view,
            file_link=lambda _seat, what, name: f"/f/{what}/{name}",
        ),
    )


@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.value)
def test_a_browser_is_handed_what_it_can_show_and_offered_the_rest_to_keep(kind: Kind, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    site = site_with(blobs, BlindedFile(name="A-1", kind=kind.value, digest=blobs.put(b"bytes"), copied_as=kind.value))
    with TestClient(files_app(site)) as client:
        sent = client.get("/f/A.1/A-1")
    assert sent.status_code == 200 and sent.content == b"bytes"
    assert sent.headers["content-disposition"].partition(";")[0] == ("inline" if kind.row.inline else "attachment")
    asked = kind.row.media_type if kind.row.inline else "application/octet-stream"
    assert sent.headers["content-type"] == asked


def test_a_photograph_is_shown_in_the_page() -> None:
    assert Kind.JPEG.row.inline and Kind.JPEG.row.media_type == "image/jpeg"


@pytest.mark.parametrize("kind", PLAYED, ids=lambda kind: kind.value)
def test_nothing_says_that_a_recording_is_missing_above_its_player(kind: Kind, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    file = BlindedFile(name="A-1", kind=kind.value, digest=blobs.put(b"bytes"), copied_as=kind.value, omitted=FILM)
    unplayed = file.but(copied_as=Kind.AVI.value)
    [played, not_played] = shown_files(site_with(blobs), "seat", "A", (file, unplayed))
    assert played.player == kind.family and played.omitted == ("no text: silent",)
    assert not_played.player is None and not_played.omitted == FILM


@given(words=st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1, max_size=12))
def test_each_page_gets_its_own_words(words: list[str]) -> None:
    text = "\n".join(f"# Page {number}\n{one}" for number, one in enumerate(words, 1))
    assert texts_by_page(text, len(words)) == dict(enumerate(words, 1))


def test_words_are_put_under_no_page_when_pages_and_headings_do_not_match() -> None:
    assert texts_by_page("# Slide 1\na\n# Slide 2 (hidden)\nb", 1) == {}
    assert texts_by_page("# Page 1\na\n# Page 2\nb", 1) == {}
    assert texts_by_page("# Page 1\na\n# Page 1\nb", 2) == {}
    assert texts_by_page("A memo without pages", 1) == {}


def test_a_page_without_words_has_none() -> None:
    assert texts_by_page("# Page 1\n# Page 2\nb", 2) == {2: "b"}


def test_a_file_costs_the_same_at_its_first_fetch_as_at_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = Blobs(tmp_path)
    site = site_with(blobs, BlindedFile(name="A-1", kind="png", digest=blobs.put(b"bytes"), copied_as="png"))
    read = list[str]()
    monkeypatch.setattr(Blobs, "open", lambda _blobs, digest: read.append(digest))
    with TestClient(files_app(site)) as client:
        assert [client.get("/f/A.1/A-1").content for _ in range(2)] == [b"bytes"] * 2
    assert not read, "it was verified when its study was opened"


@pytest.mark.parametrize("part", ["copied", "text", "layer", "grid", "page"])
def test_a_study_with_a_damaged_file_is_not_opened(tmp_path: Path, part: str) -> None:
    with Workspace.create(tmp_path / "workspace") as workspace:
        study = open_study(workspace, [make_task(0)])
        preparer = Preparer(workspace, cast("Documents", None))
        assert open_hall(workspace, study, preparer).prepared == 2
        memo, sheet = workspace.store.find(Prepared)[-1].files
        digests = {"copied": memo.copied, "text": memo.text, "layer": memo.layer, "grid": sheet.grid}
        digest = (digests | {"page": memo.pages[0].image})[part]
        assert digest
        place = workspace.blobs.path(digest)
        place.chmod(0o600)
        place.write_bytes(b"other bytes")
        with pytest.raises(CorruptBlob):
            open_hall(workspace, study, preparer)
