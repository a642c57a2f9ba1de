"""Pictures, sound, film and text decoded and written again by us: what is seen and heard stays, how it was stored goes.

Encoders and their settings are fixed, and nothing but pixels, samples and letters reaches them: no tags, chapters,
attachments, subtitles or captions, no colour profile but the conversion it asks for.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from PIL import Image, ImageSequence, UnidentifiedImageError

from guildhall.documents.extract.plain import decode_text
from guildhall.documents.extract.writing import visible
from guildhall.documents.kinds import Kind
from guildhall.documents.render.images import OPEN_PIXELS, as_seen, svg_picture
from guildhall.documents.render.media import ffmpeg_command
from guildhall.documents.values import Copied
from guildhall.errors import UnreadableFile

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
