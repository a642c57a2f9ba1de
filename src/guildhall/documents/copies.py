"""What a grader is handed of a file to keep: written by us from what is seen in it, never its maker's own bytes.

Each kind's row in `guildhall.documents.kinds` names one of these functions. The same file gives the same bytes.

Copy a workbook: read and write it in a room, let LibreOffice calculate the copy, write it again with these values.
What programs store for a formula differs (XlsxWriter 0, openpyxl nothing), so every copy stores what LibreOffice
makes of it. LibreOffice is given our copy and never the original, but for kinds that only it can read.

Pictures, sound, film and text decoded and written again by us: what is seen and heard stays, how it was stored goes.
Encoders and their settings are fixed, and nothing but pixels, samples and letters reaches them: no tags, chapters,
attachments, subtitles or captions, no colour profile but the conversion it asks for.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from PIL import Image, ImageSequence, UnidentifiedImageError

from guildhall.confine.limits import MIB
from guildhall.documents.confined import LIMITS, Rooms, confined
from guildhall.documents.detection import detect
from guildhall.documents.extract.plain import decode_text
from guildhall.documents.extract.writing import visible
from guildhall.documents.kinds import Kind, copied_name, function
from guildhall.documents.packages import read_members, write_members
from guildhall.documents.render.images import OPEN_PIXELS, as_seen, svg_picture
from guildhall.documents.render.media import ffmpeg_command
from guildhall.documents.render.office import LoadAs, OfficePool
from guildhall.documents.render.printing import PrintedPage, printed_pdf
from guildhall.documents.render.rendering import Means, show
from guildhall.documents.scrub.archives import gunzipped, plain_names, tar_members
from guildhall.documents.values import Copied, CopiedWorkbook, Omission, PageImage, Rendered
from guildhall.domain.values import Value
from guildhall.errors import MissingTool, UnreadableFile

if TYPE_CHECKING:
    from guildhall.documents.looking import Documents


MOST_SHOWN = 40


class UnpackedFile(Value):
    """One file of an archive: the name it bears there, and where it was unpacked to."""

    name: str
    file: Path | None = None


class Unpacked(Value):
    """Every file of an archive by name; those past the limit are listed but not unpacked."""

    members: tuple[UnpackedFile, ...]
    omitted: tuple[Omission, ...] = ()


def show_archive(file: Path, kind: Kind, out: Path, means: Means) -> Rendered:
    """The table of contents, then the pages of each member that can be shown; the others are counted by name.

    Page numbers run on through the whole archive.
    """
    within = replace(means, depth=means.depth + 1)
    pages: list[PageImage] = []
    with tempfile.TemporaryDirectory(prefix="guildhall-archive-") as folder:
        unpacked = means.rooms.call(unpack, file, out=Path(folder), kind=kind.value)
        contents = Path(folder) / "contents.txt"
        contents.write_text(listing(unpacked), encoding="utf-8")
        omitted = list(unpacked.omitted)
        for name, member in [("contents", contents), *((one.name, one.file) for one in unpacked.members)]:
            if member is None:
                continue
            if len(pages) >= means.max_pages:
                omitted.append(Omission(what=name, reason=f"only {means.max_pages} pages of an archive are drawn"))
                continue
            try:
                drawn = show(member, detect(member), out / f"{member.stem}", within)
            except UnreadableFile as refusal:
                omitted.append(Omission(what=name, reason=refusal.why))
                continue
            pages += [
                page.but(number=len(pages) + place, label=f"{name} {page.label or place}".strip())
                for place, page in enumerate(drawn.pages, 1)
            ]
            omitted += [one.but(what=f"{name}: {one.what}") for one in drawn.omitted]
    return Rendered(kind=kind, renderer="archive", pages=tuple(pages), omitted=tuple(omitted))


def unpack(file: Path, out: Path, *, kind: str) -> Unpacked:
    """Unpack the first files; names inside never become paths, only their extension is kept."""
    contents = {visible(name): data for name, data in plain_names(_contents(file, Kind(kind))).items()}
    members = []
    for number, (name, data) in enumerate(sorted(contents.items()), 1):
        target = out / f"{number:03}{_extension(name)}" if number <= MOST_SHOWN else None
        if target is not None:
            target.write_bytes(data)
        members.append(UnpackedFile(name=name, file=target))
    left = len(members) - MOST_SHOWN
    reason = f"only the first {MOST_SHOWN} files of an archive are shown"
    return Unpacked(
        members=tuple(members), omitted=(Omission(what="members", reason=reason, count=left),) if left > 0 else ()
    )


def _contents(file: Path, kind: Kind) -> dict[str, bytes]:
    match kind:
        case Kind.ZIP:
            return read_members(file)
        case Kind.TAR:
            return tar_members(file.read_bytes(), file.name)
        case Kind.GZIP:
            inner = gunzipped(file.read_bytes(), file.name)
            if inner[257:262] == b"ustar":
                return tar_members(inner, file.name)
            return {file.name.removesuffix(".gz"): inner}
        case _:
            raise UnreadableFile(file, f"no unpacker for {kind.value} is at hand")


def _extension(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    return suffix if suffix[1:].isalnum() and len(suffix) < 8 else ""


def listing(unpacked: Unpacked) -> str:
    """The archive's table of contents as text: names alone, since sizes tell programs apart."""
    names = [member.name for member in unpacked.members]
    return "\n".join([f"{len(names)} files", "", *names, ""])


CONVERTED = {
    Kind.XLS: LoadAs("xls", ("MS Excel 97", "")),
    Kind.ODS: LoadAs("ods", ("calc8", "")),
}
"""Kinds that LibreOffice turns into a package first, each by its own filter: left to guess it reads noise as words."""
_BY_LIBREOFFICE = "what LibreOffice does not read of this kind of file"
_NOT_CALCULATED = "stored values of formulas (they are computed when the copy is opened)"
COPIED = frozenset({*CONVERTED, Kind.XLSX, Kind.CSV, Kind.TSV})


def copy_workbook(source: Path, out: Path, *, office: OfficePool, rooms: Rooms) -> CopiedWorkbook:
    """A copy of the workbook as the file `out`, and what it lacks; `withheld` says why there is none."""
    try:
        return _copied(source, out, office, rooms)
    except UnreadableFile as refusal:
        return CopiedWorkbook(withheld=refusal.why)


def _copied(source: Path, out: Path, office: OfficePool, rooms: Rooms) -> CopiedWorkbook:
    known = detect(source)
    kind, read = known.kind, source
    if kind not in COPIED:
        raise UnreadableFile(source, f"is no workbook that can be copied ({kind.value})")
    lost: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="guildhall-copy-") as name:
        folder = Path(name)
        if kind in CONVERTED:
            read = folder / "converted.xlsx"
            read.write_bytes(office.workbook(source, source.read_bytes(), CONVERTED[kind]))
            lost = ("macros",) * known.macros + (_BY_LIBREOFFICE,)
            kind = Kind.XLSX
        write = function("workbook_copy.writing:write_copy")  # by name: only rooms load the writer and its library
        made: CopiedWorkbook = rooms.call(write, read, out=folder / "draft", kind=kind.value)
        if made.formulas and made.out is not None:
            calculated = _calculated(made.out, folder / "calculated.xlsx", office)
            lost += () if calculated else (_NOT_CALCULATED,)
            # Without LibreOffice the draft stands in for its result: it stores no value for any formula.
            also = {"calculated": calculated or made.out}
            made = rooms.call(write, read, out=folder / "final", also=also, kind=kind.value)
        if made.out is None:
            raise UnreadableFile(source, "left no copy")
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made.out, out)
    return made.but(out=out, not_copied=(*lost, *made.not_copied))


def _calculated(draft: Path, target: Path, office: OfficePool) -> Path | None:
    """The draft with every formula computed anew; None where LibreOffice is missing or gives up."""
    try:
        target.write_bytes(office.workbook(draft, draft.read_bytes(), LoadAs("xlsx"), calculate=True))
    except (UnreadableFile, MissingTool):
        return None
    return target


MOST_FRAMES = 240
FILM_S = 1_200.0
"""A recording that takes longer to encode is not handed out; its pages still are shown."""
_ALIKE = ["-map_metadata", "-1", "-map_metadata:s", "-1", "-map_chapters", "-1", "-sn", "-dn"]
_ALIKE += ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact"]
_EVEN = "scale=trunc(iw/2)*2:trunc(ih/2)*2"
_SETTINGS = {
    Kind.WAV: ["-map", "0:a:0", "-c:a", "pcm_s16le", "-f", "wav"],
    Kind.MP3: [
        *("-map", "0:a:0", "-af", "aformat=sample_rates=48000|44100|32000:channel_layouts=stereo|mono"),
        *("-c:a", "libmp3lame", "-b:a", "320k", "-id3v2_version", "0", "-write_xing", "0", "-f", "mp3"),
    ],
    Kind.MP4: [
        *("-map", "0:V:0?", "-map", "0:a?", "-vf", _EVEN, "-c:v", "libx264", "-preset", "veryfast", "-crf", "18"),
        *("-pix_fmt", "yuv420p", "-a53cc", "0", "-c:a", "aac", "-b:a", "192k"),
        *("-movflags", "+faststart", "-f", "mp4"),
    ],
}
"""What each kind of recording we hand out is encoded with."""


def recode_picture(file: Path, out: Path, *, kind: str, to: str) -> Copied:
    """Its pixels, upright and in one colour space; a picture that moves goes on moving."""
    target = out / f"copy.{to}"
    if kind == Kind.SVG:
        as_seen(svg_picture(file.read_text(encoding="utf-8", errors="replace"))).save(target)
        return Copied(kind=Kind(to), out=target)
    Image.MAX_IMAGE_PIXELS = None  # our own limit, with our own words, comes first
    try:
        with Image.open(file) as picture:
            room = OPEN_PIXELS // max(1, picture.width * picture.height)
            if not room:
                raise UnreadableFile(file, f"has more than {OPEN_PIXELS // 10**6} million pixels")
            if to == Kind.JPEG:
                as_seen(picture).convert("RGB").save(target, "JPEG", quality=95, subsampling=0)
                return Copied(kind=Kind.JPEG, out=target)
            return _moving(picture, target, most=min(room, MOST_FRAMES))
    except UnidentifiedImageError as error:
        raise UnreadableFile(file, "cannot be opened as a picture") from error


def _moving(picture: Image.Image, target: Path, *, most: int) -> Copied:
    count = getattr(picture, "n_frames", 1)
    frames: list[Image.Image] = []
    lasting: list[int] = []
    for frame in ImageSequence.Iterator(picture):
        if len(frames) == most:
            break
        lasting.append(int(frame.info.get("duration") or 100))
        frames.append(as_seen(frame))
    if len(frames) == 1:
        frames[0].save(target, "PNG")
    else:
        frames[0].save(target, "PNG", save_all=True, append_images=frames[1:], duration=lasting, loop=0)
    lost = (f"{count - len(frames)} frames: only the first {len(frames)} are copied",) if count > len(frames) else ()
    return Copied(kind=Kind.PNG, out=target, not_copied=lost)


def recode_recording(file: Path, out: Path, *, kind: str, to: str) -> Copied:
    """Sound and film through one encoder each."""
    target = out / f"copy.{to}"
    command = ffmpeg_command(file, Kind(kind), [*_ALIKE, *_SETTINGS[Kind(to)], str(target)])
    done = subprocess.run(command, capture_output=True, timeout=FILM_S)
    if done.returncode or not target.exists() or not target.stat().st_size:
        raise UnreadableFile(file, "could not be encoded again")
    return Copied(kind=Kind(to), out=target)


def rewrite_text(file: Path, out: Path, *, to: str) -> Copied:
    """Its letters in UTF-8, its lines ended as ours; what no reader can see is left out."""
    target = out / f"copy.{to}"
    lines = visible(decode_text(file.read_bytes())).split("\n")
    written = "\n".join(line.rstrip() for line in lines).rstrip("\n")
    target.write_bytes(f"{written}\n".encode("utf-8", "replace"))
    return Copied(kind=Kind(to), out=target)


RECORDING_LIMITS = LIMITS.but(wall_s=FILM_S, cpu_s=FILM_S, memory_bytes=2048 * MIB)
"""Encoding a film takes its time; all else is made within the limits of every file."""
DEEPEST = 2
"""Archives in archives are copied this far, as they are shown."""
MOST_BYTES = 512 * MIB
"""Of all members of an archive together."""


@dataclass(frozen=True)
class CopyMeans:
    """What copies are made with; `depth` counts archives around."""

    looking: Documents
    depth: int = 0


def copy_pages(file: Path, _kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """A PDF printed from the pages shown, with the words that stand on them."""
    rendered = means.looking.renderer.render(file)
    if not rendered.pages:
        raise UnreadableFile(file, rendered.omitted[0].reason)
    words = means.looking.layer(file, rendered).pages
    pages = [PrintedPage(page.image, words.get(place, ())) for place, page in enumerate(rendered.pages, 1)]
    target = out / "copy.pdf"
    target.write_bytes(printed_pdf(pages, dpi=means.looking.renderer.dpi))
    return Copied(kind=Kind.PDF, out=target)


def copy_picture(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """Its pixels."""
    return means.looking.rooms.call(recode_picture, file, out=out, kind=kind.value, to=kind.copied.value)


def copy_recording(file: Path, kind: Kind, out: Path, _means: CopyMeans) -> Copied:
    """Its sound and its moving picture."""
    return confined(recode_recording, file, out=out, limits=RECORDING_LIMITS, kind=kind.value, to=kind.copied.value)


def copy_text(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """Its letters."""
    return means.looking.rooms.call(rewrite_text, file, out=out, to=kind.copied.value)


def copy_book(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """A workbook by one writer of ours, to compute with; what it lacks is told."""
    made = copy_workbook(file, out / "copy.xlsx", office=means.looking.office, rooms=means.looking.rooms)
    if made.withheld or made.out is None:
        return Copied(kind=kind, not_copied=(made.withheld or "it left no copy",))
    return Copied(kind=Kind.XLSX, out=made.out, not_copied=made.not_copied)


def copy_archive(file: Path, kind: Kind, out: Path, means: CopyMeans) -> Copied:
    """The same tree, packed by us, with a copy in the place of each file; what has none is counted by name."""
    if means.depth >= DEEPEST:
        raise UnreadableFile(file, f"lies more than {DEEPEST} archives deep")
    within, kept, left = replace(means, depth=means.depth + 1), dict[str, bytes](), MOST_BYTES
    with tempfile.TemporaryDirectory(prefix="guildhall-copy-") as folder:
        unpacked = means.looking.rooms.call(unpack, file, out=Path(folder) / "members", kind=kind.value)
        lost = [f"{one.what}: {one.reason}" for one in unpacked.omitted]
        for number, member in enumerate(unpacked.members):
            if member.file is None:
                continue
            copied = means.looking.copied(member.file, out=Path(folder) / f"copy-{number}", means=within)
            lost += [f"{member.name}: {one}" for one in copied.not_copied]
            if copied.out is None:
                continue
            if copied.out.stat().st_size > left:
                lost.append(f"{member.name}: an archive holds at most {MOST_BYTES // MIB} MiB")
                continue
            left -= copied.out.stat().st_size
            kept[copied_name(member.name, copied.kind)] = copied.out.read_bytes()
    target = out / "copy.zip"
    target.write_bytes(write_members(kept))
    return Copied(kind=Kind.ZIP, out=target, not_copied=tuple(lost))
