"""Formulas in one spelling, and only those that compute: what could reach out of the workbook is kept as its value.

A formula is kept when every function it calls is known to compute, and every name in it is a cell, a sheet or a name of
its own workbook. All else (WEBSERVICE, DDE, other workbooks, add-ins) has no way through.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError
from openpyxl.utils import FORMULAE

from guildhall.documents.scrub.sheets import is_volatile
from guildhall.documents.workbook_copy.book import CopiedSheet
from guildhall.documents.workbook_copy.lacking import NotCopied
from guildhall.documents.xmltrees import Tree

LONGEST = 8192
_VOLATILE = (
    "stored value of a formula that follows the clock or chance|"
    "stored values of formulas that follow the clock or chance"
)
_NAMES_LOST = (
    "name that leads out of the workbook or cannot be read|names that lead out of the workbook or cannot be read"
)
_LEADS_OUT = re.compile(r"\[[^\]]*\].*!|#\$|file:|\\\\", re.IGNORECASE)


def _kept(one: str, many: str) -> str:
    return f"formula {one}, kept as its value|formulas {many}, kept as their values"


OUTSIDE = _kept("that points outside the workbook", "that point outside the workbook")
CALLS_OUT = _kept("that would fetch from elsewhere", "that would fetch from elsewhere")
UNKNOWN_FUNCTION = _kept("with a function we do not know", "with a function we do not know")
ABOUT_TABLES = _kept("that speaks of tables by name", "that speak of tables by name")
ABOUT_PIVOTS = _kept("that asks a pivot table", "that ask a pivot table")
ABOUT_NAMES = _kept("with a name that the workbook does not explain", "with a name that the workbook does not explain")
UNREADABLE = _kept("that cannot be read", "that cannot be read")
LINKS = _kept("that links to a file or a made-up address", "that link to a file or a made-up address")

_FETCHING = frozenset(
    str.split(
        """
        WEBSERVICE RTD IMAGE STOCKHISTORY SQL.REQUEST CALL REGISTER REGISTER.ID EXEC DDE DDEINIT INFO PY IMPORTXML
        IMPORTDATA IMPORTHTML IMPORTRANGE IMPORTFEED GOOGLEFINANCE TRANSLATE DETECTLANGUAGE COPILOT CUBEKPIMEMBER
        CUBEMEMBER CUBEMEMBERPROPERTY CUBERANKEDMEMBER CUBESET CUBESETCOUNT CUBEVALUE
        """
    )
)
_SINCE_2010 = frozenset(
    str.split(
        """
        ACOT ACOTH AGGREGATE ARABIC ARRAYTOTEXT BASE BETA.DIST BETA.INV BINOM.DIST BINOM.DIST.RANGE BINOM.INV BITAND
        BITLSHIFT BITOR BITRSHIFT BITXOR BYCOL BYROW CEILING.MATH CEILING.PRECISE CHISQ.DIST CHISQ.DIST.RT CHISQ.INV
        CHISQ.INV.RT CHISQ.TEST CHOOSECOLS CHOOSEROWS COMBINA CONCAT CONFIDENCE.NORM CONFIDENCE.T COT COTH
        COVARIANCE.P COVARIANCE.S CSC CSCH DAYS DECIMAL DROP ECMA.CEILING ERF.PRECISE ERFC.PRECISE EXPAND EXPON.DIST
        F.DIST F.DIST.RT F.INV F.INV.RT F.TEST FILTER FILTERXML FLOOR.MATH FLOOR.PRECISE FORECAST.ETS
        FORECAST.ETS.CONFINT FORECAST.ETS.SEASONALITY FORECAST.ETS.STAT FORECAST.LINEAR FORMULATEXT GAMMA GAMMA.DIST
        GAMMA.INV GAMMALN.PRECISE GAUSS HSTACK HYPGEOM.DIST IFNA IFS IMCOSH IMCOT IMCSC IMCSCH IMSEC IMSECH IMSINH
        IMTAN ISFORMULA ISOMITTED ISOWEEKNUM LAMBDA LET LOGNORM.DIST LOGNORM.INV MAKEARRAY MAP MAXIFS MINIFS
        MODE.MULT MODE.SNGL MUNIT NEGBINOM.DIST NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV NUMBERVALUE PDURATION
        PERCENTILE.EXC PERCENTILE.INC PERCENTRANK.EXC PERCENTRANK.INC PERMUTATIONA PHI POISSON.DIST QUARTILE.EXC
        QUARTILE.INC QUERYSTRING RANDARRAY RANK.AVG RANK.EQ REDUCE RRI SCAN SEC SECH SEQUENCE SHEET SHEETS SINGLE
        SKEW.P SORT SORTBY STDEV.P STDEV.S SWITCH T.DIST T.DIST.2T T.DIST.RT T.INV T.INV.2T T.TEST TAKE TEXTAFTER
        TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW UNICHAR UNICODE UNIQUE VALUETOTEXT VAR.P VAR.S VSTACK WEIBULL.DIST
        WRAPCOLS WRAPROWS XLOOKUP XMATCH XOR Z.TEST ANCHORARRAY GROUPBY PIVOTBY PERCENTOF
        """
    )
)
"""Functions that files spell with a prefix, which some programs forget."""
_SHEET_FUNCTIONS = frozenset({"FILTER", "SORT"})
_UNPREFIXED = frozenset({"AGGREGATE"})
_OLD = frozenset(FORMULAE) | frozenset(
    str.split(
        """
        ROW COLUMN ROWS COLUMNS IF CELL ENCODEURL NETWORKDAYS.INTL WORKDAY.INTL ERROR.TYPE ISO.CEILING SUMIFS
        COUNTIFS AVERAGEIF AVERAGEIFS IFERROR MULTINOMIAL DATEDIF NUMBERSTRING DATESTRING BAHTTEXT PHONETIC JIS ASC
        DBCS
        """
    )
)
_PREFIX = re.compile(r"^(?:_xlfn\.|_xlws\.|_xludf\.)+", re.IGNORECASE)
_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_PLACE = re.compile(rf"^:?(?:{_CELL}(?::{_CELL})?|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}|\$?[0-9]+:\$?[0-9]+)$")
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_PLAIN_SHEET = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_LIKE_A_CELL = re.compile(r"^(?:[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc][0-9]*|[Rr]|[Cc]|TRUE|FALSE)$", re.IGNORECASE)
_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_.]*$|^[^\W\d][\w.]*$")
_PARAMETER = re.compile(r"^_xlpm\.[\w.]+$")
_ANOTHER_BOOK = re.compile(r"\[[^\]]*\][^\[\]]*!|[|]|#\$|://|\\\\|^'?[A-Za-z]:")
_SUSPECT_TEXT = re.compile(r"[\[|\\]|://|#\$")
_FIXED_LINK = re.compile(r'^"(?:https?://|mailto:|#)[^"]*"$', re.IGNORECASE)


class NotKept(Exception):
    """A formula that is kept as its value, and why."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


@dataclass(frozen=True)
class Vocabulary:
    """What a formula may speak of: the sheets and the names of its workbook, each by its small letters."""

    sheets: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    texts_like_links: bool = False
    """Whether a cell holds words that INDIRECT could follow out of the workbook."""


@dataclass(frozen=True)
class Spelled:
    """A formula without its equals sign, in the one spelling, and the names it uses in small letters."""

    text: str
    names: frozenset[str]


def usable_name(name: str) -> bool:
    """Whether a spreadsheet takes this as the name of something."""
    return bool(_NAME.match(name)) and not _LIKE_A_CELL.match(name) and len(name) < 256


def legal_titles(names: Sequence[str]) -> list[str]:
    """Names that every program takes for sheets: short, without its marks, each once."""
    made: list[str] = []
    for name in names:
        plain = _NOT_IN_NAMES.sub(" ", name).strip("'")[:31].strip("'").strip() or "Sheet"
        title, number = plain, 2
        while title.casefold() in {one.casefold() for one in made} or title.casefold() == "history":
            title, number = f"{plain[:26]} ({number})", number + 1
        made.append(title if title != plain or plain != name.strip() else name)
    return made


def quoted_sheet(name: str) -> str:
    plain = _PLAIN_SHEET.match(name) and not _LIKE_A_CELL.match(name)
    return name if plain else "'" + name.replace("'", "''") + "'"


def spelled(formula: str, words: Vocabulary) -> Spelled:
    """The formula in the one spelling; `NotKept` when it might do more than compute."""
    if len(formula) > LONGEST:
        raise NotKept(UNREADABLE)
    try:
        tokens: list[Token] = Tokenizer(f"={formula}").items
    except (TokenizerError, IndexError, ValueError) as error:
        raise NotKept(UNREADABLE) from error
    if not tokens or any(token.type == Token.LITERAL for token in tokens):
        raise NotKept(UNREADABLE)
    names: set[str] = set()
    written = []
    for at, token in enumerate(tokens):
        if token.type == Token.FUNC and token.subtype == Token.OPEN:
            written.append(_function(token.value, tokens[at + 1 :], words))
        elif token.type == Token.OPERAND:
            written.append(_operand(token, words, names))
        elif token.type == Token.WSPACE:
            written.append(_blank(tokens, at))
        else:
            written.append(token.value)
    return Spelled("".join(written), frozenset(names))


def _function(opened: str, rest: Collection[Token], words: Vocabulary) -> str:
    name = _PREFIX.sub("", opened[:-1].lstrip("@")).upper()
    if name in _FETCHING:
        raise NotKept(CALLS_OUT)
    if name == "GETPIVOTDATA":
        raise NotKept(ABOUT_PIVOTS)
    if name not in _OLD and name not in _SINCE_2010:
        raise NotKept(OUTSIDE if _ANOTHER_BOOK.search(opened) else UNKNOWN_FUNCTION)
    following = next((token for token in rest if token.type != Token.WSPACE), None)
    if name == "HYPERLINK" and not (following and _FIXED_LINK.match(following.value) and _alone(rest)):
        raise NotKept(LINKS)
    texts = (token.value for token in rest if token.subtype == Token.TEXT)
    if name == "INDIRECT" and (words.texts_like_links or any(map(_SUSPECT_TEXT.search, texts))):
        raise NotKept(OUTSIDE)
    if name in _SINCE_2010 and name not in _UNPREFIXED:
        name = f"_xlfn.{'_xlws.' * (name in _SHEET_FUNCTIONS)}{name}"
    return f"{name}("


def _alone(rest: Collection[Token]) -> bool:
    """Whether the first argument is one text and nothing joined to it."""
    kinds = [token.type for token in rest if token.type != Token.WSPACE]
    return len(kinds) > 1 and kinds[1] in (Token.SEP, Token.FUNC)


def _operand(token: Token, words: Vocabulary, names: set[str]) -> str:
    if token.subtype == Token.NUMBER:
        try:
            return f"{float(token.value):.15g}"
        except ValueError:
            raise NotKept(UNREADABLE) from None
    if token.subtype in (Token.LOGICAL, Token.ERROR):
        return str(token.value).upper()
    if token.subtype == Token.TEXT:
        return str(token.value)
    return _reference(token.value, words, names)


def _reference(text: str, words: Vocabulary, names: set[str]) -> str:
    """A cell, a range or a name of this workbook; anything else leads out of it."""
    text = text.removeprefix("@")
    sheet, mark, place = text.rpartition("!")
    if mark:
        return f"{_sheet(sheet, words)}!{_place(place, words, names)}"
    return _place(text, words, names)


def _place(place: str, words: Vocabulary, names: set[str]) -> str:
    if _PLACE.match(place) or place.upper() == "#REF":
        return place.upper()
    if place.upper() in ("TRUE", "FALSE"):
        return place.upper()
    if _PARAMETER.match(place):
        return place
    known = words.names.get(place.casefold())
    if known is None:
        if _ANOTHER_BOOK.search(place):
            raise NotKept(OUTSIDE)
        raise NotKept(ABOUT_TABLES if "[" in place else ABOUT_NAMES)
    names.add(place.casefold())
    return known


def _sheet(written: str, words: Vocabulary) -> str:
    joined, colon = written, written.startswith(":")
    joined = joined.removeprefix(":")
    if joined.startswith("'") and joined.endswith("'") and len(joined) > 1:
        joined = joined[1:-1].replace("''", "'")
    known = words.sheets.get(joined.casefold())
    if known is not None:
        return ":" * colon + quoted_sheet(known)
    ends = [words.sheets.get(end.casefold()) for end in joined.split(":")]
    if len(ends) == 2 and all(ends):
        return quoted_sheet(":".join(map(str, ends)))
    raise NotKept(OUTSIDE)


def _blank(tokens: list[Token], at: int) -> str:
    """A blank is kept only where it means the cells two ranges share."""
    before, after = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    if before is None or after is None:
        return ""
    ends = before.type == Token.OPERAND or before.subtype == Token.CLOSE
    begins = after.type == Token.OPERAND or after.subtype == Token.OPEN
    return " " if ends and begins else ""


def spell_formulas(
    sheets: list[CopiedSheet], titles: Mapping[str, str], tree: Tree | None, missing: NotCopied
) -> list[tuple[str, str]]:
    """Bring every formula to its one spelling or leave its value; the names that the kept ones use."""
    leads = any(
        isinstance(cell.value, str) and _LEADS_OUT.search(cell.value)
        for sheet in sheets
        for cell in sheet.cells.values()
    )
    names = _names_explained(tree, titles, leads, missing)
    words = Vocabulary(titles, {key: written for key, (written, _, _) in names.items()}, leads)
    used: set[str] = set()
    for sheet in sheets:
        for cell in sheet.cells.values():
            if not cell.formula:
                continue
            try:
                made = spelled(cell.formula, words)
            except NotKept as reason:
                missing.add(reason.why, sheet=sheet.name)
                cell.formula, cell.array = "", None
                continue
            cell.volatile = is_volatile(made.text)
            if cell.volatile:
                missing.add(
                    _VOLATILE,
                    sheet=sheet.name,
                )
            cell.formula = made.text
            used |= made.names
    while more := {name for key in used for name in names[key][2]} - used:
        used |= more
    return [(names[key][0], names[key][1]) for key in sorted(used)]


def _names_explained(
    tree: Tree | None, titles: Mapping[str, str], leads: bool, missing: NotCopied
) -> dict[str, tuple[str, str, frozenset[str]]]:
    """Names whose meaning lies in this workbook: as written, what they stand for, the names in that."""
    stated: dict[str, tuple[str, str]] = {}
    for one in () if tree is None else tree.iter("{*}definedName"):
        name, text = one.get("name", ""), one.text or ""
        if name.startswith("_xlnm."):
            continue
        if name.casefold() in stated:  # the same name on several sheets: nobody here says which one is meant
            text = "#"
        if not usable_name(name) or one.get("function") in ("1", "true") or one.get("xlm") in ("1", "true"):
            missing.add("name that stands for a macro or for nothing|names that stand for macros or for nothing")
            continue
        stated[name.casefold()] = (name, text)
    kept: dict[str, tuple[str, str, frozenset[str]]] = {}
    while True:
        words = Vocabulary(titles, {key: written for key, (written, _, _) in kept.items()}, leads)
        before = len(kept)
        for key in stated.keys() - kept.keys():
            try:
                made = spelled(stated[key][1], words)
            except NotKept:
                continue
            kept[key] = (stated[key][0], made.text, made.names)
        if len(kept) == before:
            missing.add(
                _NAMES_LOST,
                count=len(stated) - len(kept),
            )
            return kept
