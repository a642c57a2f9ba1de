"""What reaches a judge: everything that can be shown, equal room for every side, each omission said and counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from guildhall.domain.judges import JudgePlan
from guildhall.domain.judgments import ShownPage
from guildhall.domain.prepared import Prepared, PreparedFile
from guildhall.domain.tasks import Task
from guildhall.domain.values import sha256
from guildhall.engine.calls import FilePart, TextPart
from guildhall.judging.comparing import question
from guildhall.judging.preparing import shown_file
from guildhall.judging.requests import Budget, budget_for, fair_shares, material, recordings

TASK = Task(id="t", sector="Information", occupation="Editors", brief="Write a memo.")
NOTHING = Prepared(subject=sha256(b"r"), version="1", files=())
BLOBS: dict[str, bytes] = {}
ROOM = Budget()


def kept(text: str) -> str:
    BLOBS[sha256(text.encode())] = text.encode()
    return sha256(text.encode())


def document(text: str = "", pages: int = 0, **fields: object) -> PreparedFile:
    shown = tuple(ShownPage(image=sha256(b"%d" % number), width=1, height=1) for number in range(pages))
    made = {"kind": "docx", "ending": ".docx", "text": kept(text) if text else None, "pages": shown, **fields}
    return PreparedFile.model_validate(made)


def work(*files: PreparedFile, text: str = "") -> Prepared:
    return Prepared(subject=sha256(b"s"), version="1", files=files, text=text)


def shown(prepared: Prepared, budget: Budget = ROOM, media: tuple[str, ...] = ("image",)):
    return material("Submission A", prepared, read_blob=BLOBS.__getitem__, budget=budget, prefix="A", media=media)


def words(parts) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(0, 100))
def test_shares_are_fair_and_never_above_budget(wanted, budget):
    given_out = fair_shares(wanted, budget)
    assert sum(given_out) <= budget and all(got <= want for got, want in zip(given_out, wanted, strict=True))
    for got, want in zip(given_out, wanted, strict=True):
        if got < want:
            assert all(other <= got + 1 for other in given_out), "whoever is cut gets as much as anybody"


def test_what_is_cut_is_said_to_the_judge_and_counted():
    found = shown(work(document("x" * 100, pages=5), document("short", pages=1)), Budget(characters=60, pages=3))
    told = words(found.parts)
    assert "45 of 100 characters" in told and "3 of 5 pages" in told and "2 things of Submission A" in told
    assert len(found.omissions) == 2 and sum(isinstance(part, FilePart) for part in found.parts) == 3


def test_a_file_with_nothing_to_show_is_an_omission_of_its_own():
    found = shown(work(document(), document(omitted=("no text: damaged",))))
    assert [why.partition(": ")[2] for why in found.omissions] == [
        "there is nothing in it that can be shown",
        "no text: damaged",
    ]


def test_recordings_go_to_judges_that_take_them_and_are_omissions_for_others():
    sound = work(document(kind="mp3", ending=".mp3", copied_as="mp3", copied=sha256(b"mp3")))
    assert recordings(sound) == {"audio"}
    hears = shown(sound, media=("image", "audio"))
    assert [part.media_type for part in hears.parts if isinstance(part, FilePart)] == ["audio/mpeg"]
    assert not hears.omissions and "the audio itself" in shown(sound).omissions[0]


def test_whoever_plays_a_film_is_not_told_that_it_is_missing():
    gone = ("film not shown: 12 moments of 3.0 s are shown as frames", "sound not shown: a waveform", "no text: silent")
    film = work(document(kind="mp4", ending=".mp4", copied_as="mp4", copied=sha256(b"mp4"), omitted=gone))
    assert [why.partition(": ")[2] for why in shown(film, media=("image", "video")).omissions] == ["no text: silent"]
    assert [why.partition(": ")[2] for why in shown(film).omissions][:3] == list(gone)


def test_a_final_message_on_one_side_only_is_shown_only_where_there_are_no_files():
    plan = JudgePlan(name="j", model="scripted/word-counter")
    sides = [work(document("report"), text="I am done."), work(document("other"))]
    asked = question(plan, TASK, NOTHING, sides, read_blob=BLOBS.__getitem__)
    assert "I am done." not in asked.messages[1].text
    both = [work(document("report"), text="I am done."), work(text="Only words.")]
    asked = question(plan, TASK, NOTHING, both, read_blob=BLOBS.__getitem__)
    assert "I am done." in asked.messages[1].text and "Only words." in asked.messages[1].text


def test_both_sides_have_the_same_room_and_larger_contexts_have_more():
    small, large = budget_for(8_000, sides=2), budget_for(128_000, sides=2)
    assert small.characters < large.characters and small.pages < large.pages
    plan = JudgePlan(name="j", model="scripted/word-counter", context_tokens=8_000)
    sides = [work(document("a" * 50_000)), work(document("b" * 50_000))]
    text = question(plan, TASK, NOTHING, sides, read_blob=BLOBS.__getitem__).messages[1].text
    assert text.count("aaaa") == text.count("bbbb") > 0


def test_omissions_are_counted_by_side():
    plan = JudgePlan(name="j", model="scripted/word-counter")
    sides = [work(document("fine")), work(document(omitted=("one", "two")))]
    assert question(plan, TASK, NOTHING, sides, read_blob=BLOBS.__getitem__).omissions == {"A": 0, "B": 2}


def test_a_study_with_originals_hands_out_what_was_cleaned_and_else_our_copy_with_the_reason() -> None:
    digests = {name: sha256(name.encode()) for name in ("copy", "original")}
    cleaned = PreparedFile(
        kind="docx",
        ending=".docx",
        copied=digests["copy"],
        copied_as="pdf",
        scrubbed=digests["original"],
        withheld="lost",
    )
    handed = shown_file(cleaned, "A-1.docx", originals=True)
    assert (handed.digest, handed.copied_as, handed.not_copied) == (digests["original"], "docx", ("lost",))
    kept = shown_file(cleaned.but(scrubbed=None), "A-1.docx", originals=True)
    assert (kept.digest, kept.copied_as, kept.not_copied) == (digests["copy"], "pdf", ("lost",))
    by_default = shown_file(cleaned, "A-1.docx")
    assert (by_default.digest, by_default.copied_as, by_default.not_copied) == (digests["copy"], "pdf", ())
