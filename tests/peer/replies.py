"""Replies made up for the tests: every form in which a grader might state, withhold or scatter grades."""

from __future__ import annotations

from hypothesis import strategies as st

from guildhall.domain.grades import COMPOSITES, LETTERS

GRADES = (*LETTERS, *COMPOSITES)
grades = st.sampled_from(GRADES)
letters = st.sampled_from(LETTERS)

PROSE = st.sampled_from(
    [
        "The essay argues its case with care. A clearer thesis would help.",
        "A strong opening, though the second half drifts. Plan B is barely discussed.",
        "Sources such as the C standard and Vitamin C studies are cited; C++ is mentioned once.",
        "Facts are accurate and the structure is easy to follow; an A-level reader would cope.",
        "With deeper evidence it could reach an A+ or an A; as it stands it falls short of an A+.",
        "The comparison of A/B testing and C/C++ tooling is apt. N/A is used for missing data.",
        "Bad transitions abound. Did the author check D-Day's date? Facts matter.",
    ]
)
LABELS = st.sampled_from(
    [
        "Grade",
        "Final Grade",
        "Overall Grade",
        "Letter Grade",
        "grade",
        "GRADE",
        "My grade for this essay",
        "Final letter grade",
    ]
)
MARKUP = st.sampled_from(
    [
        "{label}: {grade}",
        "**{label}: {grade}**",
        "**{label}:** {grade}",
        "**{label}**: {grade}",
        "{label}: **{grade}**",
        "### {label}: {grade}",
        "`{label}: {grade}`",
        "```\n{label}: {grade}\n```",
        "{label}:\n{grade}",
        "### {label}\n\n**{grade}**",
        "{label} - {grade}",
        "{label} = {grade}",
        "| {label} | {grade} |",
        '{{"grade": "{grade}"}}',
        "{label}: [{grade}]",
        "{label}: {grade}.",
        "{label}: {grade} (see above)",
        "{label}: {grade} because it holds together",
        "*{label}:* {grade}  ",
    ]
)
SENTENCES = st.sampled_from(
    [
        "I would give this essay a {grade}.",
        "Overall, the essay earns a solid {grade}.",
        "It deserves a grade of {grade}.",
        "I assign it a {grade} overall.",
        "The final grade is **{grade}**.",
        "In sum, a {grade} is appropriate.",
    ]
)
HYPHENS = st.sampled_from(["-", "‑", "–", "−", "－"])
CRITERIA = ("Depth of Analysis", "Clarity and Structure", "Accuracy", "Coherence of Argument", "Originality")
PARTS = ("TypeScript", "Python", "Rust", "Kotlin")


@st.composite
def labelled_replies(draw: st.DrawFn) -> tuple[str, str]:
    """A reply with prose around one labelled grade, and that grade."""
    grade = draw(grades)
    shown = grade.replace("-", draw(HYPHENS)) if draw(st.booleans()) else grade
    line = draw(MARKUP).format(label=draw(LABELS), grade=shown)
    before, after = draw(st.lists(PROSE, max_size=3)), draw(st.lists(PROSE, max_size=2))
    return "\n\n".join([*before, line, *after]), grade


@st.composite
def sentence_replies(draw: st.DrawFn) -> tuple[str, str]:
    """A reply that gives its grade in a sentence only."""
    grade = draw(letters)
    return "\n\n".join([*draw(st.lists(PROSE, max_size=3)), draw(SENTENCES).format(grade=grade)]), grade


@st.composite
def part_replies(draw: st.DrawFn) -> tuple[str, list[str], str]:
    """Sections with a grade each and no overall one; the grades; the style they were written in."""
    style = draw(st.sampled_from(["heading", "bold", "numbered", "list", "brackets"]))
    names = draw(st.sampled_from([CRITERIA, PARTS]))
    given = draw(st.lists(letters, min_size=len(names), max_size=len(names)).filter(lambda found: len(set(found)) > 1))
    shapes = {
        "heading": "### {name}\n{prose}\n\nGrade: {grade}",
        "bold": "**{name}**\n{prose}\n\n**Grade: {grade}**",
        "numbered": "{number}. {name}: {prose} Grade: {grade}",
        "list": "- **{name}**: {grade}",
        "brackets": "#### {name} ({grade})\n{prose}",
    }
    prose = "It is done with care and reads well."
    sections = [
        shapes[style].format(number=number, name=name, prose=prose, grade=grade)
        for number, (name, grade) in enumerate(zip(names, given, strict=True), 1)
    ]
    return "\n\n".join(sections), given, style
