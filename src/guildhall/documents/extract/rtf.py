"""RTF as text: a line for each paragraph, and comments where they were made."""

from __future__ import annotations

import re

from guildhall.documents.extract.writing import Facts, FileToRead, Writer
from guildhall.errors import UnreadableFile

_TOKEN = re.compile(
    rb"\\'([0-9a-f]{2})|\\u(-?\d+) ?\??|\\([a-z]+)(-?\d+)? ?|\\(.)|([{}])|([^\\{}\r\n]+)", re.DOTALL | re.IGNORECASE
)
_UNSEEN = frozenset(
    b"""fonttbl colortbl stylesheet info pict listtable listoverridetable rsidtbl fldinst filetbl file nextfile template
    revtbl private private1 xe tc tcn rxe txe comment objdata objclass objname objalias objsect datafield listname falt
    panose themedata datastore generator latentstyles userprops xmlnstbl docvar bkmkstart bkmkend ftnsep ftnsepc ftncn
    aftnsep aftnsepc aftncn title subject author operator company manager category keywords doccomm hlinkbase""".split()
)
"""Destinations whose words are on no page: all that the format has without an asterisk; those with one are left out."""
_DEEPEST = 1_000
_LINE_ENDS = frozenset({b"par", b"line", b"row", b"page"})


class _Groups:
    """The braces open at one place: whether what stands there is seen, and which of them hold comments."""

    def __init__(self) -> None:
        self._hidden = [False]
        self._comments: list[int] = []

    @property
    def unseen(self) -> bool:
        return self._hidden[-1]

    def open(self) -> None:
        self._hidden.append(self.unseen)
        if len(self._hidden) > _DEEPEST:
            raise UnreadableFile("RTF", f"its groups are nested more than {_DEEPEST} deep")

    def close(self) -> str:
        """What a reader sees of the group's end."""
        ends_comment = self._comments[-1:] == [len(self._hidden)]
        if ends_comment:
            self._comments.pop()
        if len(self._hidden) > 1:
            self._hidden.pop()
        return "<<}" if ends_comment else ""

    def hide(self) -> None:
        self._hidden[-1] = True

    def show_comment(self) -> str:
        self._hidden[-1] = False
        self._comments.append(len(self._hidden))
        return "{>>"


def extract_rtf(file: FileToRead, writer: Writer) -> Facts:
    """The words of an RTF file."""
    line: list[str] = []
    groups = _Groups()
    for hexed, code, word, _, symbol, brace, text in _TOKEN.findall(file.data()):
        if brace == b"{":
            groups.open()
        elif brace:
            line.append(groups.close())
        elif word == b"annotation":
            line.append(groups.show_comment())
        elif word in _UNSEEN or symbol == b"*":
            groups.hide()
        elif groups.unseen:
            continue
        elif word in _LINE_ENDS:
            writer.add("".join(line), unit="paragraphs")
            line = []
        else:
            line.append(_spelt(hexed, code, word, text))
    if any(line):
        writer.add("".join(line), unit="paragraphs")
    return {}


def _spelt(hexed: bytes, code: bytes, word: bytes, text: bytes) -> str:
    if word in (b"tab", b"cell"):
        return "\t"
    if code:
        return chr(int(code) % 65536)
    return (bytes.fromhex(hexed.decode()) if hexed else text).decode("cp1252", "replace")
