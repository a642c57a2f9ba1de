"""What templates are handed: words stand under the page they are on, or under none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from guildhall.web.showing import texts_by_page


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
