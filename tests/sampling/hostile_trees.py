"""Forty work folders that a hostile or unlucky program might leave: each a program that builds it where it runs."""

from __future__ import annotations

START = """
import bz2, io, os, socket, zipfile
os.makedirs(b"deliverables", exist_ok=True)

def put(name, content=None):
    path = b"deliverables/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(name if content is None else content)

def packed(method, spot):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as package:
        package.writestr(zipfile.ZipInfo("notes.txt"), "nothing of note " * 40, method)
    content = bytearray(made.getvalue())
    at = {"member": 45, "length": 22, "directory": content.rindex(b"PK" + bytes([1, 2])) + 10}[spot]
    content[at:at + 4] = b"\\xff" * 4
    return bytes(content)

put(b"!good.txt", b"a good file beside it")
"""

_NAMES = {
    "one byte that is no UTF-8": rb"b'a\xff.txt'",
    "Latin-1": rb"b'caf\xe9.docx'",
    "Shift-JIS": rb"'\u898b\u7a4d.xlsx'.encode('shift-jis')",
    "UTF-16": rb"'ab'.encode('utf-16').replace(bytes(1), b'')",
    "half a surrogate": rb"b'\xed\xa0\x80.md'",
    "an overlong slash": rb"b'a\xc0\xafb.txt'",
    "a line feed": rb"b'two\nlines.csv'",
    "an escape sequence": rb"b'evil\x1b[2J.txt'",
    "a bell and a backspace": rb"b'\x07\x08.txt'",
    "C1 controls": rb"'\x85\x9b.txt'.encode()",
    "backslashes": rb"b'..\\..\\etc\\passwd'",
    "a change of direction": rb"'\u202egpj.exe'.encode()",
    "isolates": rb"'\u2066a\u2069.pdf'.encode()",
    "line separators": rb"'a\u2028b.txt'.encode()",
    "JSON": rb"""b'"], "file", 0, null]'""",
    "blanks alone": rb"b'   '",
    "a leading dash": rb"b'-rf'",
    "255 letters": rb"b'x' * 251 + b'.pdf'",
    "255 bytes that are no UTF-8": rb"b'\xff' * 250 + b'.xlsx'",
    "per cent signs": rb"b'%2E%2E%2Fup.txt'",
    "an emoji and a joiner": rb"'\U0001f469\u200d\U0001f4bb.txt'.encode()",
}

_ARCHIVES = {
    f"a zip ({method}) damaged in its {spot}": f"put(b'broken.zip', packed(zipfile.ZIP_{method}, {spot!r}))"
    for method in ("STORED", "DEFLATED", "BZIP2", "LZMA")
    for spot in ("member", "length", "directory")
}

_SHAPES = {
    "loops of links": "os.symlink(b'loop', b'deliverables/loop'); os.symlink(b'..', b'deliverables/up')",
    "a link to a device": "os.symlink(b'/dev/zero', b'deliverables/endless.bin')",
    "a pipe and a socket": """
os.mkfifo(b'deliverables/pipe')
socket.socket(socket.AF_UNIX).bind('deliverables/door')""",
    "a folder that is shut": """
put(b'shut/inner.txt')
put(b'closed.txt')
os.chmod(b'deliverables/closed.txt', 0)
os.chmod(b'deliverables/shut', 0)""",
    "a deep tree": """
put(b'/'.join([b'deep'] * 60) + b'/leaf.txt')
put(b'/'.join([bytes([0xe9]) * 200] * 12) + b'/leaf.bin')""",
    "a tree deeper than rooms allow": "put(b'/'.join([b'deep'] * 150) + b'/leaf.txt')",
    "two names that come to one": "put(b'\\xff.txt', b'first'); put(b'%FF.txt', b'second'); put(b'%ff.TXT', b'third')",
    "more files than count": "[put(b'%04d.txt' % number) for number in range(260)]",
}

TREES: dict[str, str] = {
    **{name: START + f"put({made.decode()})\n" for name, made in _NAMES.items()},
    **{name: START + made + "\n" for name, made in _ARCHIVES.items()},
    **{name: START + made + "\n" for name, made in _SHAPES.items()},
}
