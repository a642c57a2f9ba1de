"""The elicitation prompt says everything METHOD section 12 lists, and names only tools that exist."""

from __future__ import annotations

import re

import pytest

from guildhall.engine.agents import SHELL_TOOLS, SUBMIT
from guildhall.errors import InputError
from guildhall.judging.pages import LOOK
from guildhall.sampling.elicitation import ADDITIONAL_PACKAGES, Condition, Tools, prompt_for, read_confidence

SAID = {
    "no U+2011": r"Never write U\+2011",
    "plain hyphen instead": r"U\+002D",
    "no emoji": r"emoji",
    "no odd bullets": r"unusual bullet",
    "figures at least half the page width": r"at least half the page width",
    "no collages of shapes": r"overlaid shapes",
    "PDFs by LibreOffice": r"every PDF with LibreOffice",
    "Noto fonts": r"Noto Sans and Noto Serif",
    "or embedded fonts": r"embed it",
    "no links to files": r"not put links to your files",
    "final text at most 4 sentences": r"four sentences at most",
    "deliverables as files": r"delivered as files",
    "unsolvable parts named": r"could not be done",
    "complete and self-contained": r"complete and stand by itself",
    "not verbose": r"without being wordy",
    "standard file types": r"PDF, DOCX, XLSX, PPTX, MP4, ZIP",
    "video checked by frames": r"still frames",
    "one PNG a page": r"PNG for each page or slide",
    "made by LibreOffice": r"into pictures with LibreOffice",
    "looked at": r"Look at each of these pictures",
    "zoomed": r"Zoom in",
    "cut, overlapping, blank": r"cut off, overlapping,\s+distorted or blank",
    "dark on dark": r"dark on dark or light on light",
    "checked by program": r"Check by program: no blank pages",
    "page limits": r"limit on pages or slides",
    "instruction-to-section match": r"match each with the section",
    "exact file set": r"set of files is exactly",
    "reopened": r"reopen each file",
    "any fault repeats steps 1 to 5": r"repeat steps 1 to 5",
    "confidence on the last line": r"a line of its own that reads CONFIDENCE\[XX\]",
    "from 0 to 100": r"from 0 to 100",
    "never inside files": r"never inside a file",
    "mandatory": r"mandatory",
}


@pytest.mark.parametrize("item", SAID)
def test_the_elicited_prompt_contains(item):
    text = prompt_for(Condition.ELICITED, Tools.CODE).text
    assert re.search(SAID[item], text), item


def test_the_steps_come_in_order():
    text = prompt_for(Condition.ELICITED, Tools.CODE).text
    assert [text.index(f"STEP {number}.") for number in range(1, 6)] == sorted(
        text.index(f"STEP {number}.") for number in range(1, 6)
    )


def test_the_additional_packages_are_named():
    text = prompt_for(Condition.ELICITED, Tools.CODE).text
    assert all(package in text for package in ADDITIONAL_PACKAGES)


@pytest.mark.parametrize("tools", [tools for tools in Tools if tools is not Tools.NONE])
@pytest.mark.parametrize("condition", [Condition.PLAIN, Condition.ELICITED])
def test_every_tool_a_prompt_names_exists(condition, tools):
    named = set(re.findall(r"`(\w+)`", prompt_for(condition, tools).text))
    known = {*SHELL_TOOLS, LOOK, SUBMIT, "deliverables", "reference_files"}
    assert named <= known | ({"web_search"} if tools is Tools.CODE_AND_SEARCH else set())


def test_without_tools_no_tool_is_named_and_no_file_is_asked_for():
    for condition in (Condition.PLAIN, Condition.ELICITED):
        text = prompt_for(condition, Tools.NONE).text
        assert "`" not in text and "deliverables" not in text
    assert "CONFIDENCE[XX]" in prompt_for(Condition.ELICITED, Tools.NONE).text


def test_every_condition_and_tool_set_has_its_own_digest(tmp_path):
    own = tmp_path / "mine.md"
    own.write_text("Do it well.")
    prompts = [prompt_for(condition, tools) for condition in (Condition.PLAIN, Condition.ELICITED) for tools in Tools]
    prompts.append(prompt_for(Condition.OWN, Tools.CODE, own=own))
    plain_with_tools = {prompt.prompt_digest for prompt in prompts[1:4]}
    assert len(plain_with_tools) == 1, "the plain prompt does not change with the tools"
    assert len({prompt.prompt_digest for prompt in prompts}) == len(prompts) - 2


def test_ones_own_prompt_is_used_as_it_is_and_must_be_there(tmp_path):
    own = tmp_path / "mine.md"
    own.write_text("Costs $5 and `anything`.")
    assert prompt_for(Condition.OWN, Tools.CODE, own=own).text == "Costs $5 and `anything`."
    with pytest.raises(InputError, match="needs a prompt file"):
        prompt_for(Condition.OWN, Tools.CODE)


@pytest.mark.parametrize(
    ("text", "confidence", "kept"),
    [
        ("Done.\n\nCONFIDENCE[87]", 87, "Done."),
        ("Done.\nCONFIDENCE[0]\n\n", 0, "Done."),
        ("CONFIDENCE[100]", 100, ""),
        ("Done. CONFIDENCE[87]", None, "Done. CONFIDENCE[87]"),
        ("CONFIDENCE[87]\nDone.", None, "CONFIDENCE[87]\nDone."),
        ("Done.\nCONFIDENCE[101]", None, "Done.\nCONFIDENCE[101]"),
        ("Done.\nCONFIDENCE[high]", None, "Done.\nCONFIDENCE[high]"),
        ("Done.\nCONFIDENCE[XX]", None, "Done.\nCONFIDENCE[XX]"),
        ("Done.\nConfidence: 90", None, "Done.\nConfidence: 90"),
        ("", None, ""),
    ],
)
def test_confidence_is_read_from_a_last_line_of_its_own_and_never_guessed(text, confidence, kept):
    stated = read_confidence(text)
    assert (stated.confidence, stated.text) == (confidence, kept)
    assert (stated.fault is not None) == (confidence is None and "CONFIDENCE[" in text)
