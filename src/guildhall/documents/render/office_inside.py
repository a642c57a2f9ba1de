"""The warm LibreOffice of one room; run by the system's Python, which has the `uno` module, and by nothing else.

`office_inside.py PROFILE SOCKET` starts LibreOffice on a private profile and serves conversions one at a time. A job is
`{"file", "target", "filter", "max_pages", "workbook", "calculate"}`; the answer has `error` or the facts of the conversion.
"""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

START_WITHIN_S = 60
LEAST_SCALE = 0.45
"""A wide sheet is spread over several pages rather than shrunk below this."""
EXPORT_FILTERS = (
    ("com.sun.star.text.WebDocument", "writer_web_pdf_Export"),
    ("com.sun.star.text.GenericTextDocument", "writer_pdf_Export"),
    ("com.sun.star.sheet.SpreadsheetDocument", "calc_pdf_Export"),
    ("com.sun.star.presentation.PresentationDocument", "impress_pdf_Export"),
    ("com.sun.star.drawing.DrawingDocument", "draw_pdf_Export"),
)


def main() -> None:
    serve(*sys.argv[1:])


def received(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def serve(profile: str, address: str) -> None:
    office, context = started(profile)
    create = context.ServiceManager.createInstanceWithContext
    desktop = create("com.sun.star.frame.Desktop", context)
    main_thread = create("com.sun.star.awt.AsyncCallback", context)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(1)
        while office.poll() is None:
            connection, _ = server.accept()
            with connection:
                job = json.loads(received(connection))
                answer = in_one_event(main_thread, office, partial(converted, desktop, job)) if job else {}
                if answer is None:
                    return  # LibreOffice is gone; no answer says so
                connection.sendall(json.dumps(answer).encode())


def in_one_event(
    main_thread: Any, office: subprocess.Popen[bytes], work: Callable[[], dict[str, Any]]
) -> dict[str, Any] | None:
    """What the work answers, done while LibreOffice's event loop waits for it; None when LibreOffice died.

    Between two calls of ours the loop would build a window for each comment of a Writer file, and LibreOffice without a
    user interface dies of that. Calls made from within one of its events leave the loop no such moment.
    """
    import unohelper  # type: ignore[import-not-found]
    from com.sun.star.awt import XCallback  # type: ignore[import-not-found]

    done = threading.Event()
    answers: list[dict[str, Any] | None] = []

    class Turn(unohelper.Base, XCallback):  # type: ignore[misc]
        def notify(self, _data: object) -> None:
            try:
                answers.append(work())
            except Exception as fault:  # noqa: BLE001 - whatever LibreOffice throws is the answer
                gone = type(fault).__name__.endswith("DisposedException")
                answers.append(None if gone else {"error": f"{type(fault).__name__}: {str(fault).strip()}"[:400]})
            finally:
                done.set()

    main_thread.addCallback(Turn(), None)
    while not done.wait(0.2):
        if office.poll() is not None:
            return None
    return answers[0]


def started(profile: str) -> tuple[subprocess.Popen[bytes], Any]:
    import uno

    office = subprocess.Popen(
        [
            "soffice",
            f"-env:UserInstallation=file://{profile}",
            *("--headless", "--norestore", "--nologo", "--nolockcheck", "--nodefault", "--nofirststartwizard"),
            "--accept=pipe,name=guildhall;urp;",
        ],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )
    not_yet = uno.getClass("com.sun.star.connection.NoConnectException")
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
    ends = time.monotonic() + START_WITHIN_S
    while office.poll() is None and time.monotonic() < ends:
        try:
            remote = resolver.resolve("uno:pipe,name=guildhall;urp;StarOffice.ComponentContext")
        except not_yet:
            time.sleep(0.02)
        else:
            return office, remote
    raise SystemExit("LibreOffice did not start")


def properties(**values: object) -> tuple[Any, ...]:
    import uno

    made = []
    for name, value in values.items():
        made.append(uno.createUnoStruct("com.sun.star.beans.PropertyValue"))
        made[-1].Name, made[-1].Value = name, value
    return tuple(made)


def converted(desktop: Any, job: dict[str, Any]) -> dict[str, Any]:
    import uno

    # Without Hidden, 7.4 dies in its clipboard code; the other settings keep macros and links from doing anything.
    options: dict[str, object] = {"Hidden": True, "ReadOnly": True, "MacroExecutionMode": 0, "UpdateDocMode": 0}
    if job.get("filter"):
        options["FilterName"], options["FilterOptions"] = job["filter"]
    url = uno.systemPathToFileUrl(job["file"])
    document = desktop.loadComponentFromURL(url, "_blank", 0, properties(**options))
    if document is None:
        return {"error": "LibreOffice refused to load it"}
    try:
        target = uno.systemPathToFileUrl(job["target"])
        if job["workbook"]:
            return as_workbook(document, target, calculate=job["calculate"])
        facts: dict[str, Any] = dict(described(document))
        export = next(name for service, name in EXPORT_FILTERS if document.supportsService(service))
        pages = uno.Any("[]com.sun.star.beans.PropertyValue", properties(PageRange=f"1-{job['max_pages']}"))
        document.storeToURL(target, properties(FilterName=export, FilterData=pages))
        return facts
    finally:
        document.close(True)


def as_workbook(document: Any, target: str, *, calculate: bool) -> dict[str, Any]:
    if not document.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
        return {"error": "it is no spreadsheet"}
    if calculate:
        document.calculateAll()
    document.storeToURL(target, properties(FilterName="Calc MS Excel 2007 XML"))
    return {}


def described(document: Any) -> dict[str, int]:
    """What the document says of itself that its pages will not show."""
    if document.supportsService("com.sun.star.sheet.SpreadsheetDocument"):
        sheets = [document.Sheets.getByIndex(index) for index in range(document.Sheets.Count)]
        fitted = sum(fit_to_width(document, sheet) for sheet in sheets)
        hidden = sum(not sheet.IsVisible for sheet in sheets)
        comments = sum(sheet.Annotations.Count for sheet in sheets)
        return {"sheets": len(sheets), "hidden_sheets": hidden, "fitted_sheets": fitted, "comments": comments}
    if document.supportsService("com.sun.star.presentation.PresentationDocument"):
        slides = [document.DrawPages.getByIndex(index) for index in range(document.DrawPages.Count)]
        hidden = sum(not slide.Visible for slide in slides)
        return {"slides": len(slides), "hidden_slides": hidden, "notes": sum(map(has_notes, slides))}
    if document.supportsService("com.sun.star.text.GenericTextDocument"):
        comments = sum(
            field.supportsService("com.sun.star.text.textfield.Annotation") for field in each(document.TextFields)
        )
        return {"comments": comments, "remarks_by_authors": comments + len(list(each(document.Redlines)))}
    return {}


def each(container: Any) -> Iterator[Any]:
    elements = container.createEnumeration()
    while elements.hasMoreElements():
        yield elements.nextElement()


def has_notes(slide: Any) -> bool:
    page = slide.NotesPage
    shapes = [page.getByIndex(index) for index in range(page.Count)]
    return any(
        shape.ShapeType == "com.sun.star.presentation.NotesShape"
        and not shape.IsEmptyPresentationObject
        and shape.String.strip()
        for shape in shapes
    )


def fit_to_width(document: Any, sheet: Any) -> bool:
    """Show a wide sheet on few pages side by side, unless it says itself how to print it; True when changed."""
    style = document.StyleFamilies.getByName("PageStyles").getByName(sheet.PageStyle)
    if style.ScaleToPages or style.ScaleToPagesX or style.ScaleToPagesY or style.PageScale != 100:
        return False
    cursor = sheet.createCursor()
    cursor.gotoEndOfUsedArea(False)
    last = sheet.getCellByPosition(cursor.RangeAddress.EndColumn, 0)
    wide = last.Position.X + last.Size.Width
    room = style.Width - style.LeftMargin - style.RightMargin
    if wide <= room or sheet.getPrintAreas():
        return False
    if not style.IsLandscape:
        style.IsLandscape = True
        style.Width, style.Height = style.Height, style.Width
    landscape_room = style.Width - style.LeftMargin - style.RightMargin
    style.ScaleToPagesX, style.ScaleToPagesY = math.ceil(wide * LEAST_SCALE / landscape_room), 0
    return True


if __name__ == "__main__":
    main()
