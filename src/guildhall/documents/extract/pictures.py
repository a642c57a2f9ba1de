"""Pictures: their size, and their words where tesseract is at hand."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from guildhall.documents.extract.writing import Facts, FileToRead, Writer
from guildhall.errors import MissingTool, UnreadableFile

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 100_000_000
_MOST_OCR_PIXELS = 25_000_000
_TIMEOUT_S = 60


def extract_picture(file: FileToRead, writer: Writer) -> Facts:
    """Size, mode and frames of a picture; its words are written as text."""
    from PIL import Image, UnidentifiedImageError

    facts: Facts = {}
    Image.MAX_IMAGE_PIXELS = None  # counted below, before anything is unpacked
    try:
        with Image.open(io.BytesIO(file.data())) as picture:
            facts |= {"width": picture.width, "height": picture.height, "mode": picture.mode}
            facts["frames"] = int(getattr(picture, "n_frames", 1))
            if picture.width * picture.height > MOST_PIXELS:
                raise UnreadableFile("picture", f"has more than {MOST_PIXELS} pixels")
            if picture.width * picture.height > _MOST_OCR_PIXELS:
                writer.omit("words in the picture", f"it has more than {_MOST_OCR_PIXELS} pixels")
                return facts
            words = read_picture(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableFile("picture", f"cannot be read ({error})") from error
    except MissingTool as missing:
        writer.omit("words in the picture", str(missing))
        return facts
    frames = f", {facts['frames']} frames" if facts["frames"] != 1 else ""
    writer.add(f"picture: {facts['width']} x {facts['height']} pixels{frames}")
    for line in words.split("\n"):
        if line.strip():
            writer.add(line)
    return facts


def read_picture(picture: Image) -> str:
    """The words tesseract reads in a picture; `MissingTool` where it is not installed."""
    program = shutil.which("tesseract")
    if program is None:
        raise MissingTool("tesseract", needed_for="reading words in pictures", fix="install tesseract-ocr")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "page.png")
        picture.save(source)
        try:
            done = subprocess.run(
                [program, str(source), "-", "--psm", "3"],
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
                env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/bin:/bin"},
            )
        except subprocess.TimeoutExpired:
            return "(reading this picture took too long and was stopped)"
    return done.stdout.decode("utf-8", "replace").strip()
