"""Sound and film as pictures: a waveform, and frames spread evenly over the length, drawn by ffmpeg."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from guildhall.documents.kinds import Family, Kind
from guildhall.documents.render.images import save_page
from guildhall.documents.values import Omission, PageImage, Rendered
from guildhall.errors import UnreadableFile

RENDERER = "ffmpeg"
MOVING = FILM, SOUND = "film", "sound"
"""What pages cannot show of a recording."""
FRAMES = 12
STRIP_COLUMNS = 4
FRAME_WIDTH = 960


def draw_media(file: Path, out: Path, *, kind: str) -> Rendered:
    """First page: the frame strip or the waveform; then each frame; a film's sound comes last."""
    which = Kind(kind)
    probe = _probe(file, which)
    streams = {stream.get("codec_type") for stream in probe.get("streams", ())}
    seconds = float(probe.get("format", {}).get("duration") or 0)
    pages: list[PageImage] = []
    omitted = []
    if which.family is Family.VIDEO and "video" in streams:
        pages = _frames(file, out, which, seconds)
        between = f"{len(pages) - 1} moments of {seconds:.1f} s are shown as frames, the motion between them is not"
        omitted.append(Omission(what=FILM, reason=between))
    if "audio" in streams:
        pages.append(_waveform(file, out, which, number=len(pages) + 1, seconds=seconds))
        omitted.append(Omission(what=SOUND, reason=f"{seconds:.1f} s of sound are shown as a waveform only"))
    if not pages:
        raise UnreadableFile(file, "holds neither a picture nor a sound that can be decoded")
    return Rendered(kind=which, renderer=RENDERER, pages=tuple(pages), omitted=tuple(omitted))


def _probe(file: Path, kind: Kind) -> dict[str, Any]:
    # The container is named, because left to guess ffmpeg may read a playlist and follow what it lists.
    command = ["ffprobe", "-v", "error", "-f", kind.row.demuxer, "-show_format", "-show_streams", "-of", "json"]
    answer = subprocess.run([*command, f"file:{file}"], capture_output=True, timeout=30)
    if answer.returncode:
        raise UnreadableFile(file, f"cannot be read as {kind.value} ({_last_line(answer.stderr)})")
    probe: dict[str, Any] = json.loads(answer.stdout)
    return probe


def _frames(file: Path, out: Path, kind: Kind, seconds: float) -> list[PageImage]:
    taken = []
    for index in range(FRAMES if seconds > 0 else 1):
        moment = seconds * (index + 0.5) / FRAMES
        raw = out / "frame.png"
        scale = f"scale='min({FRAME_WIDTH},iw)':-2"
        if (
            _ffmpeg(file, kind, ["-vf", scale, "-frames:v", "1", str(raw)], before=["-ss", f"{moment:.3f}"])
            and raw.exists()
        ):
            taken.append((moment, Image.open(raw).convert("RGB").copy()))
            raw.unlink()
    if not taken:
        raise UnreadableFile(file, "has a picture stream of which no frame can be decoded")
    width = max(frame.width for _, frame in taken) // 2
    height = max(frame.height for _, frame in taken) * width // max(frame.width for _, frame in taken)
    rows = -(-len(taken) // STRIP_COLUMNS)
    strip = Image.new("RGB", (width * STRIP_COLUMNS, (height + 16) * rows), "white")
    for index, (moment, frame) in enumerate(taken):
        left, top = index % STRIP_COLUMNS * width, index // STRIP_COLUMNS * (height + 16)
        strip.paste(frame.resize((width, height)), (left, top + 16))
        ImageDraw.Draw(strip).text((left + 4, top + 2), _clock(moment), fill="black")
    pages = [save_page(strip, out, 1, label="frame strip")]
    for number, (moment, frame) in enumerate(taken, 2):
        pages.append(save_page(frame, out, number, label=f"frame at {_clock(moment)}"))
    return pages


def _waveform(file: Path, out: Path, kind: Kind, *, number: int, seconds: float) -> PageImage:
    raw = out / "wave.png"
    drawn = "showwavespic=s=1600x400:split_channels=1:colors=0x1f4e79|0x7f3f00"
    if not _ffmpeg(file, kind, ["-filter_complex", drawn, "-frames:v", "1", str(raw)]) or not raw.exists():
        raise UnreadableFile(file, "has a sound stream that cannot be decoded")
    with Image.open(raw) as wave:
        ground = Image.new("RGB", wave.size, "white")
        ground.paste(wave, mask=wave.convert("RGBA").getchannel("A"))
    raw.unlink()
    return save_page(ground, out, number, label=f"waveform, {_clock(seconds)} long")


def _ffmpeg(file: Path, kind: Kind, after: list[str], *, before: list[str] | None = None) -> bool:
    return subprocess.run(ffmpeg_command(file, kind, after, before), capture_output=True, timeout=50).returncode == 0


def ffmpeg_command(file: Path, kind: Kind, after: list[str], before: list[str] | None = None) -> list[str]:
    """How ffmpeg is called on a file that may list others, none of which it may follow."""
    read = ["-protocol_whitelist", "file", "-f", kind.row.demuxer, *(before or []), "-i", f"file:{file}"]
    return ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-y", *read, *after]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{seconds % 60:04.1f}"


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else "no reason given"
