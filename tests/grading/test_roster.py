"""A roster from a table: everybody or nobody, once, of the kind the table says, and nothing personal in the open."""

from __future__ import annotations

from pathlib import Path

import pytest

from guildhall.domain.halls import Role
from guildhall.errors import FaultsFound, InputError
from guildhall.grading.people import Roster, read_invitations
from guildhall.store.workspace import Workspace

HEAD = "\ufeffemail,name,role,kind,occupations,years,employer\n"


def people(folder: Path, *rows: str) -> Path:
    path = folder / "people.csv"
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return path


def test_a_table_of_people_comes_in_once(workspace: Workspace, tmp_path: Path) -> None:
    rows = ["a@x.org,Anna,,student,Editors; Lawyers,4,Acme", "b@x.org,Ben,reviewer,,,,", "c@x.org,,,,,,Acme"]
    roster = Roster(workspace.store, pepper=b"p")
    made = [member for _, member in roster.invite_all(read_invitations(people(tmp_path, *rows)))]
    assert [(one.role, str(one.grader_kind), one.occupations, one.years) for one in made] == [
        (Role.GRADER, "student", ("Editors", "Lawyers"), 4),
        (Role.REVIEWER, "expert", (), None),
        (Role.GRADER, "expert", (), None),
    ]
    assert made[0].employer_mark == made[2].employer_mark
    assert roster.personal(made[0].id) == {"name": "Anna", "email": "a@x.org", "employer": "Acme"}
    assert not any(word in made[0].canonical().decode() for word in ("Anna", "x.org", "Acme"))
    again = [*rows, "d@x.org,,,,,,"]
    assert len(roster.invite_all(read_invitations(people(tmp_path, *again)))) == 1
    assert len(roster.everyone()) == 4


FAULTS = {
    "no address": ",Anna,,,,,",
    "no address at all": "anna,Anna,,,,,",
    "a header in an address": '"a@x.org\r\nBcc: b@x.org",,,,,,',
    "an unknown role": "b@x.org,,king,,,,",
    "a simulated person": "b@x.org,,,simulated,,,",
    "years of nonsense": "b@x.org,,,,,-3,",
    "years that are none": "b@x.org,,,,,nan,",
    "the same address": "A@X.org,,,,,,",
}


@pytest.mark.parametrize("row", FAULTS.values(), ids=FAULTS.keys())
def test_one_fault_invites_nobody_and_is_named(tmp_path: Path, row: str) -> None:
    with pytest.raises(FaultsFound) as caught:
        read_invitations(people(tmp_path, "a@x.org,,,,,,", row))
    assert all(fault.startswith("row 2") for fault in caught.value.faults)


def test_a_column_nobody_knows_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("email,salary\na@x.org,9\n")
    with pytest.raises(InputError, match="salary"):
        read_invitations(tmp_path / "p.csv")
