"""The technician's report: verdict first, then the fault log with times, measurements and remedies."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from docx.shared import Inches

from sample_bank import finish, word
from sample_bank.audio_quality_control import measure
from sample_bank.audio_quality_control.reference import (
    CLICK,
    CLIPPED,
    DROPOUT,
    FILE_END,
    HUM,
    INVERTED,
    MIX,
    PROGRAM_END,
    PROGRAM_START,
    STATION,
    Signal,
)

TITLE = "Quality control report: Harbor Lights promo, mix v3"

# item of the specification, class and remedy, fault by fault
RULINGS = [
    ("6: at most 20 ms", "A", "Re-export from session; check the edit on the right bus"),
    ("7: below -50 dBFS", "A", "Find the source clip that starts and ends here; replace or notch before the mix"),
    ("6: no clicks", "A", "Redraw or crossfade the edit"),
    ("4: at most -2 dBTP", "A", "Lower the gain before the limiter; cannot be restored from this file"),
    ("5: negative for at most 1 s", "A", "Undo the polarity switch on this clip"),
    ("3: -24 +/- 2 LUFS", "B", "Follows from fault 4; measure again after the fix"),
    ("8: 1.0 +/- 0.25 s", "C", "Trim on re-export; we can trim if all else passes"),
]


def write(folder: Path, mix: Path) -> None:
    sound = measure.decode(mix)
    document = word.new_document(margin_in=0.8)
    document.add_heading(TITLE, 1)
    word.paragraph(
        document,
        f"{STATION}, engineering\nFile: {MIX} (28.0 s, stereo, 48 kHz, 16 bit, FLAC)\nChecked against the delivery"
        " specification, issue 4",
    )
    word.paragraph(
        document,
        "**Verdict: REJECT, return to the mixer.** Five class A faults, one class B and one class C. Line-up, format"
        " and the rest of the program are in order. None of the A faults can be put right here without the session.",
    )
    _fault_log(document, sound, mix)
    with tempfile.TemporaryDirectory() as scratch:
        picture = Path(scratch) / "waveform.png"
        measure.draw_waveform(sound, picture)
        document.add_heading("Where the faults are", 2)
        document.add_picture(str(picture), width=Inches(6.8))
    _measurements(document, sound, mix)
    _request(document)
    word.footer(document, f"{STATION} (invented)  |  sample data")
    finish.save_word(document, folder / "qc_report_harbor_lights_v3.docx", title=TITLE, author=STATION)


def _fault_log(document: Any, sound: Signal, mix: Path) -> None:
    header = ["No.", "Time (s)", "Ch.", "Finding", "Specification", "Class", "Remedy"]
    rows = [_with_minus_signs(row) for row in _faults(sound, mix)]
    word.table(document, header, rows, widths_in=[0.4, 0.95, 0.45, 1.9, 1.2, 0.5, 1.6], size=8.5)


def _faults(sound: Signal, mix: Path) -> list[list[str]]:
    loud, peak = measure.loudness(mix)
    clipped, hum = measure.full_scale_samples(sound, *CLIPPED), measure.hum_dbfs(sound, 0, *HUM)
    inverted = measure.correlation(sound, *INVERTED)
    found = [
        (_times(*DROPOUT), "R", "Dropout, digital silence for 250 ms"),
        (_times(*HUM), "L", f"Mains hum, 60 Hz at {hum:.1f} dBFS with 120 Hz"),
        (f"{CLICK:.2f}", "L+R", "Click, about 0.1 ms, same in both channels"),
        (_times(*CLIPPED), "L+R", f"Clipping, {clipped:,} samples at full scale, {peak:+.1f} dBTP"),
        (
            _times(*INVERTED),
            "R",
            f"Right channel inverted: correlation {inverted:+.2f} for 3 s; program cancels in mono",
        ),
        ("program", "L+R", f"Loudness {loud:.1f} LUFS integrated"),
        (_times(PROGRAM_END, FILE_END), "L+R", "Tail of 2.0 s"),
    ]
    return [
        [str(number), *what, *rule] for number, (what, rule) in enumerate(zip(found, RULINGS, strict=True), start=1)
    ]


def _times(start: float, end: float) -> str:
    return f"{start:.2f}-{end:.2f}"


def _with_minus_signs(row: list[str]) -> list[str]:
    """A hyphen before a figure would let the line break between sign and number."""
    return [re.sub(r"(?<![\w.])-(?=\d)", "\u2212", text) for text in row]


def _measurements(document: Any, sound: Signal, mix: Path) -> None:
    document.add_page_break()
    document.add_heading("Measurements", 2)
    loud, peak = measure.loudness(mix)
    without, clean_peak = measure.loudness(mix, leave_out=(CLIPPED[0] - 0.01, CLIPPED[1] + 0.01))
    clean = measure.correlation(sound, PROGRAM_START, DROPOUT[0])
    rows = [
        ["Line-up tone", "1 kHz, -20.0 dBFS, L and R equal, in phase, 3.0 s; pause 1.0 s", "pass"],
        ["Integrated loudness, program (4.0 to 26.0 s)", f"{loud:.1f} LUFS", "fail"],
        ["  without the clipped passage", f"{without:.1f} LUFS", "would pass"],
        ["True peak, program", f"{peak:+.1f} dBTP", "fail"],
        ["  without the clipped passage", f"{clean_peak:+.1f} dBTP (the click)", "would pass"],
        ["Correlation outside the fault (4.0 to 8.4 s)", f"{clean:+.2f}", "pass"],
        [
            "60 Hz in the left channel, before the hum (8 to 11 s)",
            f"{measure.hum_dbfs(sound, 0, 8, 11):.0f} dBFS",
            "pass",
        ],
    ]
    word.table(
        document, ["Measure", "Reading", "Result"], [_with_minus_signs(row) for row in rows], widths_in=[3.2, 2.7, 1.0]
    )
    word.paragraph(
        document,
        "Read this way: the loudness failure is one fault, not two. The 1.5 s of clipped sound raises the integrated"
        " figure because the meter's gate then drops the quieter rest. Turning the whole mix down would pass the meter"
        " and leave the program too quiet.",
    )


def _request(document: Any) -> None:
    document.add_heading("To the mixer", 2)
    word.bullets(
        document,
        [
            (
                "Please fix faults 1 to 5 in the session and deliver v4 with the same line-up. Do not repair v3 in an"
                " editor."
            ),
            "Check v4 in mono before sending: fault 5 is easy to miss in stereo headphones.",
            "Do not change the overall level to meet loudness until fault 4 is fixed.",
        ],
    )
    word.paragraph(
        document,
        "Method: listened twice in stereo and once in mono; times read to 0.01 s from the start of the file; loudness"
        " and true peak by an EBU R 128 meter; hum by a narrow band at 60 Hz; correlation over the stretch named."
        " Artistic balance was not judged.",
    )
