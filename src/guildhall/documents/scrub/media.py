"""Sound and film: streams are copied packet for packet into a fresh container without tags.

ffmpeg does the copying; nothing is decoded or coded anew. Cover pictures, attached files and data tracks
(places, timecode of the camera) describe the making and are left out and counted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from guildhall.documents.kinds import Kind
from guildhall.documents.scrub.names import ScrubContext, ScrubLedger
from guildhall.errors import CannotScrub, MissingTool

_TIMEOUT_S = 120
_ENCODER_MARKS = tuple(
    bytes.fromhex(mark) for mark in ("dc45e9bde6d948b7962cd820d923eeef", "2ca2de09b51747dbbb55a4fe7fc2fc4e")
)
"""What goes before the settings that x264 and x265 write into a film."""
_OLD_TAG_BYTES = 128


def scrub_media(data: bytes, ledger: ScrubLedger, context: ScrubContext) -> bytes:
    """The same streams without tags; refused when ffmpeg cannot copy them."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        source.write_bytes(_without_old_tag(data, ledger))
        _count_left_out(probe(source), ledger)
        command = ["-i", str(source), "-map", "0:V?", "-map", "0:a?", "-map", "0:s?", "-c", "copy"]
        command += ["-map_metadata", "-1", "-map_metadata:s", "-1", "-fflags", "+bitexact", "-flags", "+bitexact"]
        command += ["-id3v2_version", "0"] if context.kind is Kind.MP3 else []
        command += ["-f", context.kind.row.muxer, str(target)]
        done = subprocess.run(
            [ffmpeg("ffmpeg"), "-nostdin", "-v", "error", "-protocol_whitelist", "file", *command],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        if done.returncode or not target.exists() or not target.stat().st_size:
            raise CannotScrub(context.kind.value, f"ffmpeg cannot copy its streams: {_complaint(done.stderr)}")
        copied = target.read_bytes()
    ledger.clean("media tags", "removed")
    return _blank_encoder_marks(copied, ledger)


def probe(path: Path) -> dict[str, Any]:
    """What ffprobe says of a file's container and streams."""
    done = subprocess.run(
        [
            ffmpeg("ffprobe"),
            "-v",
            "error",
            "-protocol_whitelist",
            "file",
            "-show_format",
            "-show_streams",
            "-of",
            "json",
            str(path),
        ],
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise CannotScrub(path.name, f"ffprobe cannot read it: {_complaint(done.stderr)}")
    found: dict[str, Any] = json.loads(done.stdout or b"{}")
    return found


def _complaint(stderr: bytes) -> str:
    return stderr.decode("utf-8", "replace")[-200:].strip()


def ffmpeg(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise MissingTool(program, needed_for="sound and film", fix="install ffmpeg")
    return found


def _count_left_out(found: dict[str, Any], ledger: ScrubLedger) -> None:
    for stream in found.get("streams", []):
        if stream.get("disposition", {}).get("attached_pic"):
            ledger.clean("cover picture", "removed")
        elif stream.get("codec_type") in ("data", "attachment"):
            ledger.clean(f"{stream['codec_type']} track", "removed")


def _without_old_tag(data: bytes, ledger: ScrubLedger) -> bytes:
    """Without the block that old programs hang on the end of any sound file; ffmpeg takes it for sound in some."""
    if data[-_OLD_TAG_BYTES:].startswith(b"TAG"):
        ledger.clean("media tags", "removed")
        return data[:-_OLD_TAG_BYTES]
    return data


def _blank_encoder_marks(data: bytes, ledger: ScrubLedger) -> bytes:
    """Encoders sign inside the coded streams, where decoders skip over it: same length, spaces instead."""
    blanked = bytearray(data)
    for mark in _ENCODER_MARKS:
        position = data.find(mark)
        while position >= 0:
            start = position + len(mark)
            end = start
            while end < len(data) and 32 <= data[end] < 127:
                end += 1
            blanked[start:end] = b" " * (end - start)
            ledger.clean("encoder's settings", "blanked")
            position = data.find(mark, end)
    return bytes(blanked)
