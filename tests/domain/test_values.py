"""Values that grow: what was kept before a field existed keeps its bytes, and a task's key says which wording it is."""

from __future__ import annotations

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.studies import Study
from guildhall.domain.tasks import TaskKey
from guildhall.domain.values import GrownValue, Value
from guildhall.errors import UnknownName
from tests.strategies import ids


class _Old(Value):
    name: str
    note: str | None = None


class _Grown(GrownValue):
    later: ClassVar[frozenset[str]] = frozenset({"room"})

    name: str
    note: str | None = None
    room: str | None = None


class _Holder(Value):
    held: tuple[_Grown, ...]


@given(name=st.text(), note=st.none() | st.text())
def test_a_value_without_its_later_field_has_the_bytes_it_had_before_the_field_existed(name, note):
    old = _Old(name=name, note=note)
    grown = _Grown.model_validate_json(old.canonical())
    assert grown.canonical() == old.canonical()
    assert _Holder(held=(grown,)).canonical() == b'{"held":[' + old.canonical() + b"]}"
    assert grown.but(room="attic").canonical() != old.canonical()
    assert _Grown.model_validate_json(grown.but(room="attic").canonical()).room == "attic"


@given(identity=ids, version=st.integers(1, 10**6))
def test_a_task_key_names_its_task_and_its_version_whatever_the_id(identity, version):
    key = TaskKey.of(identity, version)
    assert (key, key.id, key.version) == (f"{identity}@{version}", identity, version)


@pytest.mark.parametrize("text", ["report", "@3", "report@", "report@three", "report@²"])
def test_a_key_without_a_version_is_read_and_kept_and_names_no_task(text):
    study = Study(id="old", title="old", seed=0, tasks=(text,))
    assert Study.model_validate_json(study.canonical()) == study
    with pytest.raises(UnknownName, match="number of its version"):
        _ = study.tasks[0].version
