"""Pictures, sound and film with a canary in every metadata place."""

from __future__ import annotations

import io
import struct
import subprocess
import zlib
from pathlib import Path

from tests.documents.leaks import CANARY

MARK = CANARY.encode()
XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><dc>" + MARK + b"</dc></x:xmpmeta>"


def _picture() -> object:
    from PIL import Image

    picture = Image.new("RGB", (96, 64), "white")
    for x in range(96):
        for y in range(64):
            picture.putpixel((x, y), (x * 2, y * 3, (x * y) % 255))
    return picture


def _saved(kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    _picture().save(out, kind, **options)  # type: ignore[attr-defined]
    return out.getvalue()


def exif(turn: int = 6) -> bytes:
    from PIL import Image

    tags = Image.Exif()
    tags[270], tags[271], tags[272], tags[305], tags[315] = CANARY, CANARY, CANARY, CANARY, CANARY
    tags[274] = turn
    tags[33432] = CANARY
    tags.get_ifd(0x8769)[37510] = MARK
    tags.get_ifd(0x8825)[29] = CANARY
    return tags.tobytes()


def profile() -> bytes:
    """A real colour profile whose texts are the canary."""
    from PIL import ImageCms

    data = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    words = "sRGB built-in"
    return data.replace(words.encode("utf-16-be"), CANARY.ljust(len(words)).encode("utf-16-be")).replace(
        b"lcms", MARK[:4]
    )


def jpeg() -> bytes:
    plain = _saved("JPEG", exif=exif(), comment=MARK, icc_profile=profile(), quality=90)
    extra = b"".join(
        bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2, "big") + body
        for marker, body in (
            (0xE1, b"http://ns.adobe.com/xap/1.0/\0" + XMP),
            (0xEB, b"JP\x00\x01\x00\x00\x00\x01jumbc2pa" + MARK),
            (0xED, b"Photoshop 3.0\0" + MARK),
        )
    )
    first = 4 + int.from_bytes(plain[4:6], "big")  # readers want to meet the JFIF segment first
    return plain[:first] + extra + plain[first:] + MARK


def png() -> bytes:
    from PIL.PngImagePlugin import PngInfo

    texts = PngInfo()
    texts.add_text("Author", CANARY)
    texts.add_text("Software", CANARY, zip=True)
    texts.add_itxt("XML:com.adobe.xmp", XMP.decode(), zip=True)
    plain = _saved("PNG", pnginfo=texts, exif=exif(1), icc_profile=profile())
    chunks = b"".join(
        _chunk(name, body) for name, body in ((b"caBX", MARK), (b"tIME", b"\x07\xe5\2\3\4\5\6"), (b"prVt", MARK))
    )
    return plain[:33] + chunks + plain[33:] + MARK


def _chunk(name: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


def gif() -> bytes:
    plain = _saved("GIF", comment=MARK)
    xmp = b"\x21\xff\x0bXMP DataXMP" + bytes((len(MARK),)) + MARK + b"\0"
    at = 13 + (3 << ((plain[10] & 7) + 1))
    return plain[:at] + xmp + plain[at:]


def webp() -> bytes:
    return _saved("WEBP", exif=exif(), xmp=XMP, icc_profile=profile(), lossless=True)


def tiff() -> bytes:
    return _saved(
        "TIFF",
        tiffinfo={270: CANARY, 305: CANARY, 315: CANARY, 33432: CANARY, 700: XMP, 34665: {}},
        icc_profile=profile(),
    )


def bmp() -> bytes:
    """A bitmap with words in the gap that its header leaves before the pixels."""
    plain = _saved("BMP")
    size, offset = len(plain) + len(MARK), int.from_bytes(plain[10:14], "little")
    head = plain[:2] + size.to_bytes(4, "little") + plain[6:10] + (offset + len(MARK)).to_bytes(4, "little")
    return head + plain[14:offset] + MARK + plain[offset:]


def svg() -> bytes:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape" '
        f'width="40" height="20" inkscape:export-filename="{CANARY}"><!-- {CANARY} -->'
        f"<metadata>{CANARY}</metadata><rect width='40' height='20' fill='teal'/></svg>"
    ).encode()


_TAGS = ("title", "artist", "album", "comment", "copyright", "encoder", "composer", "description")
_SOUND = ["-f", "lavfi", "-i", "sine=frequency=440:duration=0.6"]
_FILM = ["-f", "lavfi", "-i", "testsrc=size=96x64:rate=5:duration=1"]
_MEDIA = {
    "wav": (_SOUND, ["-write_bext", "1"]),
    "mp3": (_SOUND, ["-write_id3v1", "1", "-write_apetag", "1"]),
    "flac": (_SOUND, []),
    "ogg": (_SOUND, ["-c:a", "libvorbis"]),
    "m4a": (_SOUND, ["-c:a", "aac"]),
    "mp4": (_FILM, ["-c:v", "libx264", "-movflags", "use_metadata_tags"]),
    "mov": (_FILM, ["-c:v", "libx264"]),
    "mkv": (_FILM, ["-c:v", "libx264"]),
    "webm": (_FILM, ["-c:v", "libvpx"]),
    "avi": (_FILM, ["-c:v", "mpeg4"]),
}


def media(kind: str, folder: Path) -> bytes:
    source, options = _MEDIA[kind]
    target = folder / f"made.{kind}"
    tags = [part for tag in _TAGS for part in ("-metadata", f"{tag}={CANARY} {tag}")]
    streams = ["-metadata:s:0", f"title={CANARY}", "-metadata:s:0", f"handler_name={CANARY}"]
    command = ["ffmpeg", "-nostdin", "-v", "error", "-y", *source, *options, *tags, *streams, str(target)]
    subprocess.run(command, check=True)
    return target.read_bytes()


def stl() -> bytes:
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    return MARK.ljust(80, b"\0") + (1).to_bytes(4, "little") + triangle
