"""The room is part of a work's key; work done before rooms counted is carried on, and never paid for twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from guildhall.cli.study import app
from guildhall.confine.launch import why_no_bubblewrap
from guildhall.domain.authors import ModelRun, RoomSettings
from guildhall.domain.studies import Study
from guildhall.domain.submissions import Submission
from guildhall.engine import rooms
from guildhall.engine.environments import own_environment
from guildhall.engine.rooms import ask_room
from guildhall.engine.sandboxes import Sandbox
from guildhall.errors import NothingDelivered, RoomChanged, ToldButAbsent
from guildhall.sampling.elicitation import Condition, Tools, prompt_for, require_told
from guildhall.store.ledger import Ledger
from guildhall.store.workspace import Workspace
from guildhall.study.stages import Sampling, require_deliveries
from guildhall.study.studies import OpenStudy
from tests.study.made import task

STUDY = """
[study]
id = "rooms"
title = "Rooms"

[[authors]]
name = "careful"
model = "scripted/careful"
condition = "plain"
samples = 1
"""
ROOM = RoomSettings(
    sandbox="bubblewrap", environment="0" * 64, python="3.11.2", packages=("numpy==2.4.3",), programs=("LibreOffice",)
)
confined = pytest.mark.skipif(why_no_bubblewrap() is not None, reason="bubblewrap does not work on this machine")


@pytest.fixture
def path(workspace: Workspace, tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    workspace.store.add_all(task(number, brief="Please write `memo.docx`.") for number in range(2))
    return path


def opened(path: Path, workspace: Workspace, *, room: RoomSettings | None = ROOM) -> OpenStudy:
    """A study whose room is told instead of asked; without one, as releases before rooms counted saw it."""
    study = OpenStudy.open(path, workspace)
    study.__dict__["room"] = room
    return study


def calls(workspace: Workspace) -> int:
    return Ledger(workspace.store).spent(run="rooms").usage.calls


def test_whatever_of_a_room_may_change_the_work_changes_its_key(workspace: Workspace, path: Path) -> None:
    others = (
        ROOM.but(environment="1" * 64),
        ROOM.but(network=("example.org",)),
        ROOM.but(limits={"memory_bytes": 1.0}),
        ROOM.but(packages=()),
    )
    found = [opened(path, workspace, room=room).items for room in (None, ROOM, *others)]
    assert len({item.key for items in found for item in items}) == 2 * len(found)
    assert len({item.author.key for items in found for item in items}) == len(found)
    assert len({item.known_as for items in found for item in items}) == 2, "by which work from before is found"
    assert all(item.key == item.known_as for item in found[0])


def test_an_author_without_a_room_keeps_its_key_whatever_the_room(workspace: Workspace, path: Path) -> None:
    path.write_text(STUDY + "tools = 'none'\n")
    keys = [[item.key for item in opened(path, workspace, room=room).items] for room in (None, ROOM)]
    assert keys[0] == keys[1]
    assert OpenStudy.open(path, workspace).room is None


def test_a_run_without_a_room_has_the_bytes_and_keys_it_had() -> None:
    run = ModelRun(name="m", model="p/m")
    assert b"room" not in run.canonical() and ModelRun.model_validate_json(run.canonical()) == run
    assert run.but(room=ROOM).settings_digest != run.settings_digest


@confined
def test_an_upgraded_study_repeats_no_call_and_its_old_work_has_an_unknown_environment(
    workspace: Workspace, path: Path
) -> None:
    old = opened(path, workspace, room=None)
    kept = old.freeze()
    Sampling().run(old)
    paid, made = calls(workspace), workspace.store.count(Submission)
    assert paid > 0 and made == 2
    for changed in (False, True):
        study = OpenStudy.open(path, workspace, changed=changed)
        assert study.frozen() == kept, "every item was begun before rooms counted"
        assert Sampling().plan(study)["to_do"] == 0 and Sampling().status(study)["done"] == 2
        Sampling().run(study)
        assert (calls(workspace), workspace.store.count(Submission)) == (paid, made)
    authors = [one.author for one in workspace.store.find(Submission)]
    assert all(isinstance(one, ModelRun) and one.room is None for one in authors)


@confined
def test_what_was_done_of_a_study_that_was_never_kept_is_carried_on_beside_new_work(
    workspace: Workspace, path: Path
) -> None:
    old = opened(path, workspace, room=None)
    old.__dict__["items"] = old.items[:1]
    Sampling().run(old)
    paid = calls(workspace)
    study = OpenStudy.open(path, workspace)
    assert Sampling().plan(study)["to_do"] == 1
    frozen = study.freeze()
    Sampling().run(study)
    assert [author.room is None for author in frozen.authors] == [True, False]
    assert calls(workspace) == 2 * paid, "one task was done before, one is done now"
    assert OpenStudy.open(path, workspace).frozen() == frozen
    assert workspace.store.find(Study) == [frozen]


@confined
def test_a_study_goes_on_in_the_room_it_began_in_or_says_what_differs(workspace: Workspace, path: Path) -> None:
    study = opened(path, workspace)
    study.freeze()
    again = OpenStudy.open(path, workspace)
    assert again.room == ROOM and again.frozen() == study.frozen(), "asked of the kept form, not of this machine"
    with pytest.raises(RoomChanged, match="other environment, packages"):
        Sampling().run(again)
    ended = CliRunner().invoke(app, ["status", str(path), "--workspace", str(workspace.path)])
    assert ended.exit_code == 0, "looking needs no room"


@confined
def test_a_prompt_states_exactly_the_packages_the_room_itself_names() -> None:
    room = ask_room(Sandbox())
    own = own_environment()
    assert own is not None and room.packages == tuple(sorted(set(own.installed)))
    text = prompt_for(Condition.ELICITED, Tools.CODE, room=room).text
    stated = text.partition("has exactly these packages: ")[2].partition(". Programs")[0].partition(".\n")[0]
    assert stated.split(", ") == list(room.packages)
    assert "usual Python packages" not in text


def test_a_container_is_asked_for_nothing_and_nothing_is_claimed_of_it(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("services: {}")
    room = ask_room(Sandbox(kind="docker", config=tmp_path / "compose.yaml"))
    assert room.packages is None and room.environment != ask_room(Sandbox(kind="docker")).environment
    assert "exactly" not in prompt_for(Condition.PLAIN, Tools.CODE, room=room).text
    require_told(Condition.ELICITED, Tools.CODE, room)


def test_what_is_told_and_absent_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = ROOM.but(programs=())
    with pytest.raises(ToldButAbsent, match="LibreOffice"):
        require_told(Condition.ELICITED, Tools.CODE, bare)
    require_told(Condition.PLAIN, Tools.CODE, bare)
    require_told(Condition.ELICITED, Tools.NONE, bare)
    if own_environment() is None:
        pytest.skip("this Python is the system's own: there is no record to hold the room against")
    monkeypatch.setattr(rooms, "_answer", lambda _config: ("3.11.2", [], []))
    ask_room.cache_clear()
    with pytest.raises(ToldButAbsent, match="record of the environment"):
        ask_room(Sandbox())
    ask_room.cache_clear()


def test_a_run_in_which_nobody_delivered_anything_is_an_error() -> None:
    require_deliveries({"ended": {}})
    require_deliveries({"ended": {"finished": 1, "nothing delivered": 3}})
    with pytest.raises(NothingDelivered, match="4 pieces") as refused:
        require_deliveries({"ended": {"nothing delivered": 4}})
    assert refused.value.exit_code != 0
