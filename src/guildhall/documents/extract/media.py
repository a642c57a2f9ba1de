"""Sound and film as facts: length, streams and loudness."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from guildhall.documents.extract.writing import Facts, FileToRead, Writer
from guildhall.errors import CannotScrub, MissingTool, UnreadableFile

_TIMEOUT_S = 120
_LONGEST_MEASURED_S = 3_600
_LOUDNESS = re.compile(r"\bI:\s+(-?[\d.]+) LUFS")
_RANGE = re.compile(r"\bLRA:\s+(-?[\d.]+) LU\b")
_PEAK = re.compile(r"max_volume: (-?[\d.]+) dB")


def extract_media(file: FileToRead, writer: Writer) -> Facts:
    """Duration, each stream's kind and shape, and how loud it is on the EBU R 128 scale."""
    try:
        path = file.copy or file.path
        found = probe(path)
    except CannotScrub as error:
        raise UnreadableFile(file.path.name, error.why) from error
    duration = _number(found.get("format", {}).get("duration"))
    facts: Facts = {"duration_s": duration}
    writer.add("duration: unknown" if duration is None else f"duration: {duration:.2f} s")
    for stream in found.get("streams", []):
        writer.add(f"stream {stream.get('index')}: {_stream_words(stream)}", unit="streams")
    kinds = [stream.get("codec_type") for stream in found.get("streams", [])]
    facts |= {f"{kind} streams": kinds.count(kind) for kind in ("audio", "video", "subtitle")}
    if "audio" in kinds and duration is not None and duration <= _LONGEST_MEASURED_S:
        loudness = _loudness(path)
        _write_loudness(loudness, writer)
        facts |= loudness
    elif "audio" in kinds:
        writer.omit("loudness", f"longer than {_LONGEST_MEASURED_S} s or of unknown length")
    return facts


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


def _stream_words(stream: dict[str, Any]) -> str:
    words = [str(stream.get("codec_type")), str(stream.get("codec_name", "unknown codec"))]
    if "width" in stream:
        words.append(f"{stream['width']} x {stream.get('height')} at {stream.get('avg_frame_rate')} frames a second")
    if "sample_rate" in stream:
        words.append(f"{stream['sample_rate']} Hz, {stream.get('channels')} channels")
    if "duration" in stream:
        words.append(f"{stream['duration']} s")
    return ", ".join(words)


def _loudness(path: Path) -> Facts:
    filters = "ebur128=framelog=verbose,volumedetect"
    command = [ffmpeg("ffmpeg"), "-nostdin", "-hide_banner", "-protocol_whitelist", "file", "-i", str(path)]
    done = subprocess.run(
        [*command, "-map", "0:a:0", "-af", filters, "-f", "null", "-"],
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    words = done.stderr.decode("utf-8", "replace") if done.returncode == 0 else ""
    return {
        "loudness_lufs": _last(_LOUDNESS, words),
        "loudness_range_lu": _last(_RANGE, words),
        "peak_db": _last(_PEAK, words),
    }


def _write_loudness(measured: Facts, writer: Writer) -> None:
    if any(value is None for value in measured.values()):
        writer.omit("loudness", "it could not be measured")
        return
    level, spread, peak = measured.values()
    writer.add(f"loudness: {level} LUFS (EBU R 128), range {spread} LU, peak {peak} dB")


def _last(pattern: re.Pattern[str], words: str) -> float | None:
    found = pattern.findall(words)
    return float(found[-1]) if found else None


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None
