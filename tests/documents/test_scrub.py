"""Scrubbing: every planted canary goes, everything a grader should see stays, the same bytes come out twice."""

from __future__ import annotations

import io
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildhall.documents.extract.reading import extract_file
from guildhall.documents.inside import freeze_file, scrub_file
from guildhall.documents.kinds import Kind
from guildhall.documents.opc import Opc
from guildhall.documents.packages import read_members, write_members
from guildhall.documents.scrub.images import blank_profile, scrub_jpeg_2000
from guildhall.documents.scrub.names import ScrubLedger, bare_name, blind_names, tells_a_machine
from guildhall.documents.scrub.pdf import scrub_pdf
from guildhall.documents.scrub.sheets import is_volatile
from guildhall.documents.scrub.word import plain_instruction
from tests.documents.canary_files import MADE, made
from tests.documents.leaks import CANARY, leaks

CLEANED = [kind for kind in MADE if kind.row.scrubber]


@pytest.mark.parametrize("kind", CLEANED, ids=lambda kind: kind.value)
def test_no_canary_survives_and_the_bytes_are_the_same_twice(kind: Kind, tmp_path: Path) -> None:
    path = made(kind, tmp_path)
    assert leaks(path.read_bytes()), "the file held no canary to begin with"
    scrubbed = scrub_file(path, tmp_path / "once", kind=kind)
    assert scrubbed.out is not None, scrubbed.omitted
    again = scrub_file(path, tmp_path / "twice", kind=kind)
    assert again.out is not None
    assert leaks(scrubbed.out.read_bytes()) == []
    assert scrubbed.out.read_bytes() == again.out.read_bytes()
    assert CANARY not in scrubbed.model_dump_json(), "the report repeats what was removed"


@pytest.mark.parametrize("kind", [Kind.DOCX, Kind.XLSX, Kind.PPTX, Kind.PDF, Kind.IPYNB])
def test_the_words_a_reader_sees_are_the_same_before_and_after(kind: Kind, tmp_path: Path) -> None:
    path = made(kind, tmp_path)
    frozen = freeze_file(path, tmp_path / "frozen", kind=kind).out
    scrubbed = scrub_file(path, tmp_path / "scrubbed", kind=kind).out
    assert frozen is not None
    assert scrubbed is not None
    before, after = extract_file(frozen, kind=kind), extract_file(scrubbed, kind=kind)
    assert after.text == before.text.replace(f"C:\\Users\\{CANARY}\\", "")
    assert after.facts == before.facts


def test_comments_and_tracked_changes_keep_their_words_and_lose_their_authors(tmp_path: Path) -> None:
    scrubbed = scrub_file(made(Kind.DOCX, tmp_path), tmp_path / "out", kind=Kind.DOCX).out
    assert scrubbed is not None
    text = extract_file(scrubbed, kind=Kind.DOCX).text
    assert "The fee is {--12--}{++24++}{>>Author 1: Please check this number.<<}" in text
    markup = read_members(scrubbed)["word/document.xml"].decode()
    assert 'w:author="Author 1"' in markup
    assert 'w:author="Author 2"' in markup


def test_formulas_survive_and_volatile_ones_become_the_value_the_file_stored(tmp_path: Path) -> None:
    scrubbed = scrub_file(made(Kind.XLSX, tmp_path), tmp_path / "out", kind=Kind.XLSX).out
    assert scrubbed is not None
    sheet = read_members(scrubbed)["xl/worksheets/sheet1.xml"].decode()
    assert "<f>SUM(B2:B3)</f><v>1500</v>" in sheet
    assert "TODAY()" not in sheet
    assert "<v>44230</v>" in sheet
    assert "RAND()" not in sheet
    assert "[file]" in sheet, "the file name in the page header has no stored value"


def test_a_volatile_formula_without_a_stored_value_is_left_and_counted(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    book.active["A1"] = "=NOW()"
    book.save(tmp_path / "book.xlsx")
    scrubbed = scrub_file(tmp_path / "book.xlsx", tmp_path / "out", kind=Kind.XLSX)
    assert [(one.what, one.count) for one in scrubbed.omitted] == [("volatile formulas left as they are", 1)]


@pytest.mark.parametrize(
    ("formula", "volatile"),
    [
        ("=TODAY()", True),
        ("=B2-now()", True),
        ('=CELL("filename",A1)', True),
        ("=RANDBETWEEN(1,6)", True),
        ('="TODAY() is a word"', False),
        ("='NOW()'!A1", False),
        ("=SUM(A1:A9)", False),
        ("=MYTODAY(1)", False),
        ("=INDIRECT(A1)", False),
    ],
)
def test_only_formulas_that_change_by_themselves_are_volatile(formula: str, volatile: bool) -> None:
    assert is_volatile(formula) is volatile


def test_the_generator_becomes_one_value_and_is_never_absent(tmp_path: Path) -> None:
    import docx

    docx.Document().save(str(tmp_path / "other.docx"))
    values = []
    for path in (made(Kind.DOCX, tmp_path), tmp_path / "other.docx"):
        scrubbed = scrub_file(path, tmp_path / "out", kind=Kind.DOCX).out
        assert scrubbed is not None
        values.append(read_members(scrubbed)["docProps/app.xml"])
    assert values[0] == values[1]
    assert b"<Application>Microsoft Office Word</Application>" in values[0]


@pytest.mark.parametrize(
    ("kind", "told"), [("oleObject", "embedded objects"), ("vbaProject", "macros"), ("aFutureThing", None)]
)
def test_what_cannot_be_looked_into_is_left_out_and_told(kind: str, told: str | None, tmp_path: Path) -> None:
    package = read_members(made(Kind.DOCX, tmp_path))
    package["word/thing.bin"] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + CANARY.encode() * 60
    rels = package["word/_rels/document.xml.rels"].decode()
    relation = (
        f'<Relationship Id="rIdX" Type="http://x/relationships/{kind}" Target="/word/thing.bin"/></Relationships>'
    )
    package["word/_rels/document.xml.rels"] = rels.replace("</Relationships>", relation).encode()
    path = tmp_path / "locked.docx"
    path.write_bytes(write_members(package))
    scrubbed = scrub_file(path, tmp_path / "out", kind=Kind.DOCX)
    assert scrubbed.out is not None and leaks(scrubbed.out.read_bytes()) == []
    assert (told in {one.what for one in scrubbed.omitted}) is (told is not None)


def test_pictures_keep_every_pixel_and_their_turn(tmp_path: Path) -> None:
    from PIL import Image

    for kind in (Kind.PNG, Kind.JPEG):
        path = made(kind, tmp_path)
        scrubbed = scrub_file(path, tmp_path / "out", kind=kind).out
        assert scrubbed is not None
        with Image.open(path) as before, Image.open(scrubbed) as after:
            assert before.convert("RGBA").tobytes() == after.convert("RGBA").tobytes(), kind
            assert before.getexif().get(274, 1) == after.getexif().get(274, 1) or kind is Kind.PNG, kind


def test_a_profile_keeps_the_name_by_which_readers_know_srgb_and_loses_all_other_words() -> None:
    entries = ((b"desc", 0x184, 60), (b"cprt", 0x1D0, 20))
    table = b"".join(name + offset.to_bytes(4, "big") + size.to_bytes(4, "big") for name, offset, size in entries)
    profile = bytearray(3144)
    profile[36:40], profile[128:132], profile[132 : 132 + len(table)] = b"acsp", (2).to_bytes(4, "big"), table
    profile[0x184:0x188], profile[0x190:0x1A1] = b"desc", b"sRGB IEC61966-2.1"
    profile[0x1A4 : 0x1A4 + len(CANARY)] = profile[0x1D8 : 0x1D8 + len(CANARY)] = CANARY.encode()
    blanked = blank_profile(bytes(profile))
    assert blanked[0x190:0x1A1] == b"sRGB IEC61966-2.1"
    assert CANARY.encode() not in blanked


def test_a_pdf_made_by_conversion_is_scrubbed_like_any_other() -> None:
    import pikepdf

    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.docinfo["/Creator"], pdf.docinfo["/Author"] = "Writer", CANARY
        out = io.BytesIO()
        pdf.save(out)
    with pikepdf.open(io.BytesIO(scrub_pdf(out.getvalue(), ScrubLedger()))) as scrubbed:
        assert dict(scrubbed.docinfo) == {"/Producer": "Guildhall"}


def test_a_package_that_is_scrubbed_twice_does_not_change_again(tmp_path: Path) -> None:
    for kind in (Kind.DOCX, Kind.XLSX, Kind.PPTX):
        once = scrub_file(made(kind, tmp_path), tmp_path / "once", kind=kind).out
        assert once is not None
        twice = scrub_file(once, tmp_path / "twice", kind=kind).out
        assert twice is not None
        assert once.read_bytes() == twice.read_bytes(), kind


def test_every_relationship_of_a_scrubbed_package_leads_somewhere(tmp_path: Path) -> None:
    for kind in (Kind.DOCX, Kind.XLSX, Kind.PPTX):
        scrubbed = scrub_file(made(kind, tmp_path), tmp_path / "out", kind=kind).out
        assert scrubbed is not None
        package = Opc(scrubbed.read_bytes(), name="out")
        for part in ["", *package.parts]:
            for relation in package.relations(part):
                assert relation.get("TargetMode") == "External" or package.target(part, relation), relation.attrib


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("C:\\Users\\jane\\a b.xlsx", "a b.xlsx"),
        ("file:///C:/Users/jane/a.xlsx", "a.xlsx"),
        ("file:///home/jane/a.xlsx", "a.xlsx"),
        ("../../../C:/Users/jane/a.xlsx", "a.xlsx"),
        ("../../home/jane/a.xlsx", "a.xlsx"),
        ("\\\\server\\jane\\a.xlsx", "a.xlsx"),
        ("../data/a.xlsx", None),
        ("data/a.xlsx", None),
        ("https://example.org/home/a.xlsx", None),
        ("/word/document.xml", None),
        ("C:\\Users\\jane\\", "folder"),
    ],
)
def test_a_path_on_somebodys_disk_keeps_its_last_step_and_other_links_stay(path: str, shown: str | None) -> None:
    assert (bare_name(path) if tells_a_machine(path) else None) == shown


def test_files_are_numbered_by_name_and_keep_only_the_extension_of_their_real_kind() -> None:
    names = blind_names(
        ["Zoe_final.DOCX", "budget.xlsx", "notes.janedoe"],
        side="B",
        asked=["Budget.xlsx"],
        kinds=[Kind.DOCX, Kind.XLSX, None],
    )
    assert [(name.shown, name.named_as_asked) for name in names] == [
        ("B-3.docx", False),
        ("B-1.xlsx", True),
        ("B-2", False),
    ]
    assert blind_names(["a.pdf"])[0].named_as_asked is None


@given(names=st.lists(st.text(min_size=1, max_size=20).filter(lambda name: "/" not in name), max_size=8))
def test_no_shown_name_repeats_or_holds_the_original(names: list[str]) -> None:
    shown = [name.shown for name in blind_names(names)]
    assert len(set(shown)) == len(names)
    assert all(name.startswith("A-") for name in shown)


def test_files_of_one_name_in_two_peoples_folders_are_both_kept(tmp_path: Path) -> None:
    path = tmp_path / "both.zip"
    path.write_bytes(write_members({"Users/ann/plan.txt": b"hers", "Users/bob/plan.txt": b"his", "plan.txt": b"ours"}))
    scrub_file(path, tmp_path / "out.zip", kind=Kind.ZIP)
    kept = read_members(tmp_path / "out.zip")
    assert kept == {"plan-2.txt": b"hers", "plan-3.txt": b"his", "plan.txt": b"ours"}


@pytest.mark.parametrize(
    ("instruction", "plain"),
    [
        (r' HYPERLINK "C:\\Users\\ann\\plan.docx" ', ' HYPERLINK "plan.docx" '),
        (' HYPERLINK "https://example.org/plan" ', ' HYPERLINK "https://example.org/plan" '),
        (' ADDIN ZOTERO_ITEM CSL_CITATION {"uris":["http://zotero.org/users/1/items/2"]} ', " "),
        (f" SEQ {CANARY} ", f" SEQ w{crc32(CANARY.encode())} "),
        (r' TOC \o "1-3" \h ', r' TOC \o "1-3" \h '),
        (" PAGE ", " PAGE "),
    ],
)
def test_a_field_loses_folders_and_add_in_data_and_nothing_else(instruction: str, plain: str) -> None:
    assert plain_instruction(instruction) == plain


def test_an_instruction_spread_over_runs_is_still_found(tmp_path: Path) -> None:
    parts = read_members(made(Kind.DOCX, tmp_path))
    runs = "".join(
        f"<w:r><w:instrText>{piece}</w:instrText></w:r>" for piece in (' HYPERLINK "C:', "\\Us", f'ers\\{CANARY}\\a.x"')
    )
    field = f'<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r>{runs}<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    parts["word/document.xml"] = parts["word/document.xml"].replace(b"<w:sectPr", field.encode() + b"<w:sectPr", 1)
    (tmp_path / "spread.docx").write_bytes(write_members(parts))
    scrub_file(tmp_path / "spread.docx", tmp_path / "out.docx", kind=Kind.DOCX)
    assert leaks((tmp_path / "out.docx").read_bytes()) == []
    assert b' HYPERLINK "a.x"' in read_members(tmp_path / "out.docx")["word/document.xml"]


def test_a_jpeg_2000_keeps_its_pixels_and_loses_its_texts() -> None:
    from PIL import Image

    out = io.BytesIO()
    Image.effect_noise((40, 30), 60).save(out, "JPEG2000")
    before = out.getvalue()
    at = before.index(b"jp2c") - 4
    text = b"xml " + CANARY.encode()
    after = scrub_jpeg_2000(before[:at] + (len(text) + 4).to_bytes(4, "big") + text + before[at:], ScrubLedger())
    assert leaks(after) == []
    with Image.open(io.BytesIO(before)) as one, Image.open(io.BytesIO(after)) as other:
        assert one.tobytes() == other.tobytes()
