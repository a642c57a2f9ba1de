"""What a technician reads off the mix: levels, loudness, correlation, and a picture of the waveform."""

from __future__ import annotations

import re
import subprocess
import tempfile
import wave
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from sample_bank.audio_quality_control.reference import (
    CLICK,
    CLIPPED,
    DROPOUT,
    FILE_END,
    HUM,
    INVERTED,
    PROGRAM_END,
    PROGRAM_START,
    RATE,
    Signal,
    span,
)

_FAULTS = (
    ("dropout R", *DROPOUT),
    ("hum L", *HUM),
    ("click", CLICK, CLICK + 0.02),
    ("clipping", *CLIPPED),
    ("polarity", *INVERTED),
)


def decode(path: Path) -> Signal:
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "mix.wav"
        subprocess.run(["ffmpeg", "-v", "error", "-i", path, raw], check=True)
        with wave.open(str(raw)) as source:
            frames = source.readframes(source.getnframes())
    return np.frombuffer(frames, "<i2").astype(float).reshape(-1, 2) / 32767


def loudness(path: Path, *, leave_out: tuple[float, float] | None = None) -> tuple[float, float]:
    """Integrated loudness (LUFS) and true peak (dBTP) of the programme, by ffmpeg's EBU R 128 meter."""
    keep = f"between(t,{PROGRAM_START},{PROGRAM_END})"
    if leave_out:
        keep += f"*not(between(t,{leave_out[0]},{leave_out[1]}))"
    chain = f"aselect='{keep}',asetpts=N/SR/TB,ebur128=peak=true"
    command = ["ffmpeg", "-hide_banner", "-nostats", "-i", path, "-af", chain, "-f", "null", "-"]
    summary = subprocess.run(command, check=True, capture_output=True, text=True).stderr.rpartition("Summary:")[2]
    integrated, peak = (re.search(pattern, summary) for pattern in (r"I:\s+(-?[\d.]+)", r"Peak:\s+(-?[\d.]+)"))
    if integrated is None or peak is None:
        raise ValueError(f"ffmpeg gave no loudness summary for {path.name}")
    return float(integrated[1]), float(peak[1])


def correlation(sound: Signal, start: float, end: float) -> float:
    part = sound[span(start, end)]
    return float(np.corrcoef(part[:, 0], part[:, 1])[0, 1])


def hum_dbfs(sound: Signal, channel: int, start: float, end: float) -> float:
    """Level of the 60 Hz component over a stretch, as the peak of the sine."""
    part = sound[span(start, end), channel]
    wave_60 = np.exp(-2j * np.pi * 60 * np.arange(len(part)) / RATE)
    return float(20 * np.log10(2 * abs(np.mean(part * wave_60)) + 1e-9))


def full_scale_samples(sound: Signal, start: float, end: float) -> int:
    return int(np.sum(np.abs(sound[span(start, end)]) >= 0.9999))


def draw_waveform(sound: Signal, path: Path) -> None:
    """Both channels over time, faults shaded and named."""
    wide, tall, left = 1500, 520, 70
    picture = Image.new("RGB", (wide, tall), "white")
    pen = ImageDraw.Draw(picture)
    font = ImageFont.truetype("DejaVuSans.ttf", 18)
    scale = (wide - left - 20) / FILE_END
    for number, (name, start, end) in enumerate(_FAULTS):
        x = left + start * scale
        pen.rectangle([x, 60, max(left + end * scale, x + 3), tall - 40], fill="#F6D7B8")
        pen.text((x - 4, 8 + 24 * (number % 2)), name, fill="#9A4A00", font=font)
    for channel, middle in ((0, 165), (1, 370)):
        pen.text((16, middle - 10), "LR"[channel], fill="#1F2A44", font=font)
        for column in range(wide - left - 20):
            part = sound[span(column / scale, (column + 1) / scale), channel]
            high, low = float(part.max()), float(part.min())
            pen.line([left + column, middle - high * 95, left + column, middle - low * 95], fill="#1B7F79")
        pen.line([left, middle, wide - 20, middle], fill="#9AA4B2")
    for second in range(0, round(FILE_END) + 1, 2):
        pen.text((left + second * scale - 8, tall - 30), f"{second}", fill="#5B6472", font=font)
    picture.save(path, optimize=True)
