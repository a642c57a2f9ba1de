"""Tells: what may unblind is found, ordinary professional prose is not, and nothing is altered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.documents.tells import find_tells


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Drafted with ChatGPT on Monday.", "model-name"),
        ("We compared GPT-4o and others.", "model-name"),
        ("Claude Sonnet wrote this.", "model-name"),
        ("Made by Qwen2.5 overnight", "model-name"),
        *(
            (f"Prepared by {name}", "model-name")
            for name in ("Grok", "Claude", "Gemini", "GPT", "Llama", "Copilot", "Kimi")
        ),
        *(
            (f"Reviewed with {name}.", "model-name")
            for name in ("GPT-6", "gpt 12", "Grok 7", "Claude 9.1", "o5-mini", "Llama v9")
        ),
        ("OpenAI announced a price.", "vendor-name"),
        ("As an AI language model, I cannot sign.", "as-an-ai"),
        ("My knowledge cutoff is 2023.", "as-an-ai"),
        ("Certainly! The memo follows.", "chat-phrase"),
        ("I hope this helps your team.", "chat-phrase"),
        ("CONFIDENCE[92]", "chat-phrase"),
        ("Saved to /mnt/data/report.docx", "tool-signature"),
        ("Chart made in matplotlib", "tool-signature"),
        ("The **total** is due", "markup-left-over"),
        ("Dear [Insert Name Here],", "markup-left-over"),
    ],
)
def test_a_tell_is_found_by_its_rule(text: str, rule: str) -> None:
    assert rule in {finding.rule for finding in find_tells(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Mr Claude Monet met the Gemini crew in Llama country.",
        "The phi coefficient and the grok of it; command and control.",
        "Painted by Claude Monet; prepared by Gemma Stone, drafted in Nova Scotia and written by Kimi Raikkonen.",
        "Net revenue rose 4 % to $12,400 - see table 3 for detail.",
        "Please contact our office if you have questions about this invoice.",
        "The model train set costs 20 dollars; item o3 is sold out.",
    ],
)
def test_ordinary_prose_tells_nothing(text: str) -> None:
    assert find_tells(text) == ()


def test_rates_are_told_only_when_there_is_enough_to_count() -> None:
    dashed = "Sales rose \u2014 sharply \u2014 in spring \u2014 and fell \u2014 in autumn. " * 2
    assert [f.rule for f in find_tells(dashed)] == ["dash-rate"]
    assert find_tells("One \u2014 dash.") == ()
    personal = "I think my plan works. " * 5
    assert [f.rule for f in find_tells(personal)] == ["first-person"]


def test_names_known_to_the_study_are_looked_for_as_whole_words() -> None:
    (finding,) = find_tells("Prepared by jane doe, CPA.", identities=["Jane Doe", "Al"])
    assert finding.rule == "known-name"
    assert find_tells("Algebra and janedoeish words", identities=["Jane Doe", "Algeb"]) == ()


@given(st.text(max_size=300))
def test_any_text_is_scanned_without_failing_and_a_rule_speaks_once(text: str) -> None:
    rules = [finding.rule for finding in find_tells(text)]
    assert len(rules) == len(set(rules))
