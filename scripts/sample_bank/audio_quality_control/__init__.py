"""Audio and Video Technicians: quality control of a delivered radio mix with planted faults."""

from pathlib import Path

from sample_bank.audio_quality_control import expert, reference


def build(folder: Path) -> None:
    reference.write(folder / "reference")
    expert.write(folder / "expert", folder / "reference" / reference.MIX)
