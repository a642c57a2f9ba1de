"""Domains as data files: shipped ones are sound, new ones can be made and checked, broken ones are refused by name."""

from __future__ import annotations

import pytest

from guildhall.errors import InputError, UnknownName, UnreadableFile
from guildhall.peer.domains import find_domain, new_domain, read_domain, remarks, shipped_domains
from guildhall.peer.prompts import essay_prompt, marking_prompt


def test_eight_subjects_come_with_the_package_at_two_levels():
    found = shipped_domains()
    assert len(found) == 8
    assert {domain.level for domain in found.values()} == {1, 2}
    for domain in found.values():
        assert list(remarks(domain)) == []
        assert str(domain.words[1]) in essay_prompt(domain)
        instructions, _ = marking_prompt(domain, "An essay.", composites=True)
        assert all(criterion in instructions for criterion in domain.criteria)
        assert "Grade: X" in instructions


def test_a_new_domain_is_sound_and_never_overwrites(tmp_path):
    path = new_domain(tmp_path / "my_subject.toml", title='History "one"')
    assert read_domain(path).id == "my_subject"
    assert find_domain(str(path)).title == "History 'one'"
    with pytest.raises(InputError, match="already"):
        new_domain(path, title="Again")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("words = [600, 700]|words = [700, 600]", "least before the most"),
        ("improve it|improve {essay}", "no slots"),
        ('"accuracy"|"coherence"', "one thing twice"),
        ("level = 1|level = 9", "level"),
        ("title = |titel = ", "title"),
        ("words = [600, 700]|words = [600, 700", "no readable TOML"),
    ],
)
def test_a_broken_domain_is_refused_in_words(tmp_path, change, words):
    path = new_domain(tmp_path / "broken.toml", title="Broken")
    old, new = change.split("|")
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UnreadableFile, match=words.replace("[", r"\\[")):
        read_domain(path)


def test_an_unknown_domain_is_named(tmp_path):
    with pytest.raises(UnknownName, match="pol_sci_1"):
        find_domain("astrology")
    with pytest.raises(InputError, match="rename"):
        read_domain(tmp_path / "Bad Name.toml")
