"""What a workbook holds and its copy will not: each thing by name, and what nobody here knows by its own.

The lists say what is copied or seen by nobody; whatever stands on none of them is told. What every workbook has in the
way of its program (properties, page set-up, views) is one sentence on every copy, because naming it would name the program.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator

from guildhall.documents.extract.workbooks import Sheet
from guildhall.documents.opc import CONTENT_TYPES, Opc
from guildhall.documents.xmltrees import Tree, attribute, local

ALWAYS = (
    "page set-up, headers and footers of pages, zoom and selected cells, properties of the file",
    "fonts, column widths and row heights that nobody chose (one font and one width stand for every program's own)",
)
_WITHOUT_NUMBER = frozenset({"macros", "protection", "protection of the workbook", "calculation in rounds"})
_UNKNOWN = "something we do not know: "
_NOT_CALLED = ""

_PARTS = {
    "officeDocument worksheet chartsheet dialogsheet xlMacrosheet xlIntlMacrosheet styles theme sharedStrings calcChain"
    " sheetMetadata metadata core-properties extended-properties custom-properties thumbnail printerSettings"
    " vmlDrawing comments threadedComment person persons drawing image hdphoto chart chartEx chartStyle chartColorStyle"
    " style colors themeOverride chartUserShapes hyperlink table pivotCacheDefinition pivotCacheRecords"
    " diagramData diagramLayout diagramQuickStyle diagramColors diagramDrawing tableSingleCells"
    " rdRichValue rdRichValueStructure rdRichValueTypes rdArray rdSupportingPropertyBag"
    " rdSupportingPropertyBagStructure richStyles richValueRel": _NOT_CALLED,
    "vbaProject vbaProjectSignature wordVbaData": "macros",
    "pivotTable": "pivot table",
    "connections": "data connection",
    "queryTable": "query table",
    "externalLink": "link to another workbook|links to other workbooks",
    "externalLinkPath externalLinkLongPath xlExternalLinkPath oleObjectLink": _NOT_CALLED,
    "slicer": "slicer",
    "slicerCache timelineCache": _NOT_CALLED,
    "timeline": "timeline",
    "ctrlProp control activeXControlBinary": "form control",
    "oleObject package": "embedded object",
    "customXml": "attached XML data",
    "customXmlProps": _NOT_CALLED,
    "xmlMaps": "XML map",
    "volatileDependencies": "live data feed",
    "revisionHeaders revisionLog usernames": "record of changes|records of changes",
    "powerPivotData model": "data model",
    "extensibility ui": "change of the ribbon|changes of the ribbon",
    "webextensiontaskpanes webextension taskpanes": "add-in",
    "origin signature certificate": "digital signature",
    "customProperty": "property of a sheet|properties of sheets",
    "attachedToolbars": "toolbar",
    "audio video media": "sound or film|sounds or films",
    "rdRichValueWebImage": "picture from the web|pictures from the web",
    "featurePropertyBag": "set of checkboxes|sets of checkboxes",
}
_SHEET = {
    "sheetPr dimension sheetViews sheetFormatPr sheetCalcPr cols sheetData mergeCells hyperlinks phoneticPr sortState"
    " printOptions pageMargins pageSetup headerFooter rowBreaks colBreaks ignoredErrors cellWatches legacyDrawing"
    " legacyDrawingHF extLst customProperties drawing smartTags drawingHF": _NOT_CALLED,
    "sheetProtection": "protection",
    "protectedRanges": "protected range",
    "scenarios": "set of scenarios|sets of scenarios",
    "autoFilter": "filter",
    "dataConsolidate": "consolidation",
    "customSheetViews": "view of somebody's own|views of somebody's own",
    "picture": "background picture",
    "oleObjects controls": _NOT_CALLED,
    "webPublishItems": "published item",
    "tableParts": _NOT_CALLED,
}
_COUNTED = {
    "cfRule": "conditional format",
    "dataValidation": "rule for what may be entered|rules for what may be entered",
    "tablePart": "table frame (its cells are copied)|table frames (their cells are copied)",
    "sparkline": "sparkline",
    "oleObject": "embedded object",
    "slicerRef timelineRef": _NOT_CALLED,
}
_BOOK = {
    "fileVersion workbookPr bookViews sheets functionGroups externalReferences definedNames calcPr oleSize pivotCaches"
    " smartTagPr smartTagTypes webPublishing fileRecoveryPr webPublishObjects extLst AlternateContent"
    " revisionPtr workbookProtection": _NOT_CALLED,
    "fileSharing": "password to change the file|passwords to change the file",
    "customWorkbookViews": "view of somebody's own|views of somebody's own",
}
_INSIDE_EXTENSIONS = {
    "conditionalFormattings conditionalFormatting": _NOT_CALLED,
    "dataValidations": _NOT_CALLED,
    "sparklineGroups": _NOT_CALLED,
    "slicerList slicerCaches slicerCache timelineRefs timelineCacheRefs pivotCaches tableSlicerCache": _NOT_CALLED,
    "extCalcPr workbookPr calcFeatures slicerStyles timelineStyles absPath revisionPtr ignoredErrors calcPr"
    " pivotTableReferences id dxfs": _NOT_CALLED,
    "dataModel": "data model",
    "protectedRanges": "protected range",
    "webExtensions": "add-in",
    "definedNames": _NOT_CALLED,
    "externalLinksPr": _NOT_CALLED,
    "connection": _NOT_CALLED,
    "featurePropertyBag": "set of checkboxes|sets of checkboxes",
}
_DRAWN = {
    "pic": "picture",
    "sp": "drawn shape or text box|drawn shapes or text boxes",
    "cxnSp": "drawn line",
    "contentPart": "ink drawing",
}
_FRAMED = {"chart": "chart", "chartex": "chart", "diagram": "diagram", "slicer": "", "timeslicer": ""}


def _table(groups: dict[str, str]) -> dict[str, str]:
    return {name: words for names, words in groups.items() for name in names.split()}


PARTS, SHEET, COUNTED = _table(_PARTS), _table(_SHEET), _table(_COUNTED)
BOOK, EXTENSIONS = _table(_BOOK), _table(_INSIDE_EXTENSIONS)


class NotCopied:
    """The running list; things are counted by name and sheet, in the order they are met."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def add(self, what: str, *, sheet: str = "", count: int = 1) -> None:
        if what and count > 0:
            self._seen[what, sheet] += count

    def unknown(self, name: str, *, sheet: str = "") -> None:
        self.add(f"{_UNKNOWN}{name}", sheet=sheet)

    def listed(self) -> tuple[str, ...]:
        """A line for each thing, then what no copy has."""
        lines = [_line(what, sheet, count) for (what, sheet), count in self._seen.items()]
        return (*lines, *ALWAYS)


def _line(what: str, sheet: str, count: int) -> str:
    where = f" on sheet '{sheet}'" if sheet else ""
    one, _, many = what.partition("|")
    if one in _WITHOUT_NUMBER or one.startswith(_UNKNOWN):
        return f"{one}{where}"
    return f"{count} {one if count == 1 else many or f'{one}s'}{where}"


def look_through(package: Opc, main: str, missing: NotCopied) -> None:
    """Everything the package holds outside its sheets' own elements."""
    _parts(package, missing)
    book = package.tree(main)
    if book is not None:
        _children(book, BOOK, missing)
        if any(one.get("iterate") in ("1", "true") for one in book.iter("{*}calcPr")):
            missing.add("calculation in rounds")
        if any(one.attrib for one in book.iter("{*}workbookProtection")):  # some programs always write an empty one
            missing.add("protection of the workbook")


def look_at_sheet(package: Opc, sheet: Sheet, root: Tree, missing: NotCopied) -> None:
    """The elements of a sheet without its rows, and the drawings on it."""
    _children(root, SHEET, missing, sheet=sheet.name)
    for element in root.iter():
        name = local(element.tag)
        if name in COUNTED and not (name == "cfRule" and _repeated(element)):
            missing.add(COUNTED[name], sheet=sheet.name)
    _views(root, sheet, missing)
    for relation in package.relations(sheet.part):
        part, kind = package.target(sheet.part, relation), _kind(relation)
        tree = package.tree(part) if part else None
        if tree is not None and kind == "drawing":
            drawing(tree, missing, sheet=sheet.name)
        if tree is not None and kind == "vmlDrawing":
            _controls(tree, missing, sheet=sheet.name)


def _repeated(rule: Tree) -> bool:
    """Whether a rule only says more of one that stands in the older list, too."""
    in_extension = any(local(one.tag) == "extLst" for one in _above(rule))
    return in_extension and next(iter(rule), None) is not None and local(next(iter(rule)).tag) == "dataBar"


def drawing(tree: Tree, missing: NotCopied, *, sheet: str) -> None:
    for element in tree.iter():
        name = local(element.tag)
        above = element.getparent()
        if name == "graphicData":
            framed = element.get("uri", "").rstrip("/").rpartition("/")[2]
            if framed in _FRAMED:
                missing.add(_FRAMED[framed], sheet=sheet)
            else:
                missing.unknown(framed, sheet=sheet)
        elif name in _DRAWN and not any(local(one.tag) == "Fallback" for one in _above(above)):
            missing.add(_DRAWN[name], sheet=sheet)


def _above(element: Tree | None) -> Iterator[Tree]:
    while element is not None:
        yield element
        element = element.getparent()


def _controls(tree: Tree, missing: NotCopied, *, sheet: str) -> None:
    """Form controls of old; a note's box is drawn the same way."""
    for data in tree.iter("{*}ClientData"):
        if data.get("ObjectType", "Note") not in ("Note", "Pict"):
            missing.add("form control", sheet=sheet)


def _views(root: Tree, sheet: Sheet, missing: NotCopied) -> None:
    for pane in root.iter("{*}pane"):
        if pane.get("state", "split") == "split":
            missing.add("split of the window|splits of the window", sheet=sheet.name)
    grouped = sum(one.get("outlineLevel", "0") != "0" for one in root.iter("{*}col"))
    missing.add("group of columns|groups of columns", sheet=sheet.name, count=grouped)


def _children(root: Tree, known: dict[str, str], missing: NotCopied, *, sheet: str = "") -> None:
    for child in root:
        name = local(child.tag)
        if name == "extLst":
            for extension in child:
                _extension(extension, missing, sheet=sheet)
        elif name in ("conditionalFormatting", "dataValidations"):
            continue  # counted by their rules
        elif name in known:
            missing.add(known[name], sheet=sheet)
        elif name == "AlternateContent":
            for choice in child:
                _children(choice, known | EXTENSIONS, missing, sheet=sheet)
        else:
            missing.unknown(name, sheet=sheet)


def _extension(extension: Tree, missing: NotCopied, *, sheet: str) -> None:
    for child in extension:
        name = local(child.tag)
        if name in EXTENSIONS:
            missing.add(EXTENSIONS[name], sheet=sheet)
        else:
            missing.unknown(name, sheet=sheet)


def _kind(relation: Tree) -> str:
    return relation.get("Type", "").rstrip("/").rpartition("/")[2]


def _parts(package: Opc, missing: NotCopied) -> None:
    """Each part by what leads to it; one that nothing leads to, or that leads nowhere known, by its name."""
    kinds: dict[str, set[str]] = {}
    for owner in ["", *sorted(package.parts)]:
        for relation in package.relations(owner):
            part = package.target(owner, relation)
            if part is not None:
                kinds.setdefault(part, set()).add(_kind(relation))
            elif relation.get("TargetMode") == "External" and _kind(relation) == "image":
                missing.add("picture kept elsewhere|pictures kept elsewhere")
    for part in sorted(package.parts):
        if part == CONTENT_TYPES or part.endswith(".rels"):
            continue
        for kind in sorted(kinds.get(part, {""})):
            if kind in PARTS:
                missing.add(PARTS[kind])
            else:
                missing.unknown(kind or posixpath.basename(part))
        if "chartsheet" in kinds.get(part, ()):
            missing.add("sheet that holds only a chart|sheets that hold only a chart")
        if kinds.get(part, set()) & {"xlMacrosheet", "xlIntlMacrosheet"}:
            missing.add("sheet of macros|sheets of macros")
        if "dialogsheet" in kinds.get(part, ()):
            missing.add("sheet that is a dialog|sheets that are dialogs")


def relation_of(package: Opc, part: str, identifier: str) -> Tree | None:
    return next((one for one in package.relations(part) if one.get("Id") == identifier), None)


def related(package: Opc, part: str, kind: str) -> Iterator[Tree]:
    """The parts of a kind that a part leads to, as trees."""
    for relation in package.relations(part):
        if _kind(relation) == kind:
            found = package.target(part, relation)
            tree = package.tree(found) if found else None
            if tree is not None:
                yield tree


def link_id(element: Tree) -> str:
    return attribute(element, "id")
