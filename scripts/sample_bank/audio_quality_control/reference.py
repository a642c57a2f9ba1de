"""A synthesised mix whose faults sit at known times, and the station's delivery specification."""

from __future__ import annotations

import subprocess
import tempfile
import wave
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sample_bank import finish, word

Signal = npt.NDArray[np.float64]
RATE = 48_000
MIX = "harbor_lights_promo_mix_v3.flac"
STATION = "WHLB Community Radio"
TONE_END, PROGRAM_START, PROGRAM_END, FILE_END = 3.0, 4.0, 26.0, 28.0
DROPOUT, HUM, CLICK, CLIPPED, INVERTED = (8.40, 8.65), (11.0, 14.0), 15.300, (17.0, 18.5), (20.0, 23.0)
CHORDS = ((196.0, 246.9, 293.7), (164.8, 196.0, 246.9), (130.8, 164.8, 196.0), (146.8, 185.0, 220.0))


def span(start: float, end: float) -> slice:
    return slice(round(start * RATE), round(end * RATE))


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _encode(mix(), folder / MIX)
    _write_specification(folder / "delivery_specification.pdf")


def mix() -> Signal:
    """Line-up tone, pause, programme with its faults, silence: one column per channel."""
    sound = np.zeros((round(FILE_END * RATE), 2))
    time = np.arange(len(sound)) / RATE
    tone = 10 ** (-20 / 20) * np.sin(2 * np.pi * 1000 * time[span(0, TONE_END)])
    sound[span(0, TONE_END)] = tone[:, None]
    sound[span(PROGRAM_START, PROGRAM_END)] = _music(time[span(0, PROGRAM_END - PROGRAM_START)])
    hum = time[span(*HUM)]
    sound[span(*HUM), 0] += 0.012 * np.sin(2 * np.pi * 60 * hum) + 0.004 * np.sin(2 * np.pi * 120 * hum)
    sound[span(*CLIPPED)] = np.clip(sound[span(*CLIPPED)] * 10.5, -1.0, 1.0)
    sound[span(*INVERTED), 1] *= -1
    sound[span(*DROPOUT), 1] = 0.0
    sound[round(CLICK * RATE) : round(CLICK * RATE) + 4] = 0.6
    return sound


def _music(time: Signal) -> Signal:
    """A slow pad over four chords, a little different left and right, fading in and out."""
    left, right = np.zeros_like(time), np.zeros_like(time)
    bar = 2.0
    for number in range(int(np.ceil(time[-1] / bar))):
        here = (time >= number * bar) & (time < (number + 1) * bar)
        inside = time[here] - number * bar
        swell = np.minimum(1, np.minimum(inside, bar - inside) / 0.15)
        for voice, pitch in enumerate(CHORDS[number % 4]):
            note = np.sin(2 * np.pi * pitch * inside) + 0.4 * np.sin(4 * np.pi * pitch * inside)
            left[here] += swell * note * (0.050 - 0.007 * voice)
            right[here] += swell * note * (0.036 + 0.007 * voice)
    edge = np.minimum(1, np.minimum(time, time[-1] - time) / 0.5)
    return np.stack([left * edge, right * edge], axis=1)


def _encode(sound: Signal, path: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "mix.wav"
        with wave.open(str(raw), "wb") as out:
            out.setnchannels(2)
            out.setsampwidth(2)
            out.setframerate(RATE)
            out.writeframes((np.round(sound * 32767)).astype("<i2").tobytes())
        command = ["ffmpeg", "-v", "error", "-y", "-i", raw, "-compression_level", "12", "-bitexact", path]
        subprocess.run(command, check=True)


def _write_specification(path: Path) -> None:
    document = word.new_document(font="Liberation Sans", size=10)
    document.add_heading("Program delivery specification: promos and spots", 1)
    word.paragraph(document, f"{STATION}, engineering  |  issue 4, January 2026")
    rows = [
        ["1", "Format", "Stereo, 48 kHz, lossless"],
        [
            "2",
            "Line-up",
            "1 kHz at -20 dBFS (peak of a sine reads -20), both channels, in phase, 3 s; then 1 s of silence",
        ],
        ["3", "Loudness", "Integrated -24 LUFS +/- 2 LU, measured over the program only, without line-up and silence"],
        ["4", "Peaks", "True peak not above -2 dBTP; no clipping"],
        ["5", "Phase", "Correlation of left and right not negative for more than 1 s"],
        ["6", "Continuity", "No dropout longer than 20 ms in either channel; no clicks"],
        ["7", "Noise", "No mains hum audible above program; below -50 dBFS in any channel"],
        ["8", "Tail", "Silence of 1.0 s +/- 0.25 s after the program"],
    ]
    word.table(document, ["No.", "Item", "Requirement"], rows, widths_in=[0.5, 1.1, 4.9])
    word.paragraph(
        document,
        "Grading of faults: **A** reject, must be fixed before air; **B** fix if the mix is reopened; **C** note only."
        " Items 4 to 7 are A when audible. A level that is off but constant may be corrected by us; anything else goes"
        " back to the mixer.",
    )
    word.footer(document, f"{STATION} (invented)  |  sample data")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "specification.docx"
        finish.save_word(document, source, title="Delivery specification", author=STATION)
        finish.save_pdf(source, path, title="Delivery specification", author=STATION)
