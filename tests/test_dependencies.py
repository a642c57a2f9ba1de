"""What pyproject declares is what the code imports: no package for nothing, and none that is there by luck."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sources")
ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
THROUGH = {
    "python-multipart": "Starlette reads forms with it",
    "psycopg": "SQLAlchemy reaches PostgreSQL with it",
    "s3fs": "fsspec reads s3:// addresses with it",
    "openai": "Inspect's provider",
    "anthropic": "Inspect's provider",
    "google-genai": "Inspect's provider",
}
"""Declared and never imported by us: which library imports it, and for what."""
NOT_OURS = {
    "sentence_transformers": "some gigabytes that whoever wants finer clusters of reasons installs by hand",
    "uno": "comes with LibreOffice's own Python, inside which that module runs",
    "unohelper": "comes with LibreOffice's own Python",
    "com": "comes with LibreOffice's own Python",
}
"""Imported and declared nowhere, on purpose."""
COMING: set[str] = set()
"""Declared for code that is not merged yet; the first import in the package ends the exception."""
OWN = {"guildhall", "tests", "proofs", "benchmarks", "scripts", "sample_bank"}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> set[str]:
    return {plain(re.split(r"[\[<>=; ]", one, maxsplit=1)[0]) for one in requirements}


CORE = declared(PROJECT["project"]["dependencies"])
EXTRAS = {name: declared(wanted) for name, wanted in PROJECT["project"]["optional-dependencies"].items()}
DEVELOPMENT = declared(PROJECT["dependency-groups"]["dev"])
SHIPPED = CORE.union(*EXTRAS.values())
DISTRIBUTIONS = packages_distributions()


@cache
def imported(*folders: str) -> dict[str, set[str]]:
    """Module at the top of a package -> the files that import it, anywhere in them."""
    found: dict[str, set[str]] = {}
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - OWN:
                found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    return found


def packages(modules: dict[str, set[str]]) -> set[str]:
    """The distributions that these modules come from; one that is not installed stands for itself."""
    return {plain(one) for module in modules for one in DISTRIBUTIONS.get(module, [module])}


def undeclared(modules: dict[str, set[str]], allowed: set[str]) -> dict[str, list[str]]:
    return {
        module: sorted(files)
        for module, files in modules.items()
        if module not in NOT_OURS and not packages({module: files}) & allowed
    }


def test_whatever_the_package_imports_is_declared() -> None:
    assert undeclared(imported("src"), SHIPPED) == {}


def test_whatever_is_declared_is_imported_by_the_package() -> None:
    assert SHIPPED - packages(imported("src")) - set(THROUGH) - COMING == set()


def test_what_only_the_checks_import_is_declared_for_development() -> None:
    assert undeclared(imported("tests", "proofs", "benchmarks", "scripts"), SHIPPED | DEVELOPMENT) == {}


def test_no_exception_outlives_its_reason() -> None:
    used = packages(imported("src"))
    assert set(THROUGH) | COMING <= SHIPPED - used
    assert set(NOT_OURS) <= set(imported("src"))


def test_no_package_is_declared_twice() -> None:
    everywhere = [*CORE, *(one for wanted in EXTRAS.values() for one in wanted), *DEVELOPMENT]
    assert sorted(everywhere) == sorted(set(everywhere))


@pytest.mark.parametrize("name", ["all", "core", "server"])
def test_the_pins_hold_what_is_declared_and_no_address(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    pinned = {plain(one) for one in re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==", text, re.MULTILINE)}
    server = {"observe", "postgres", "providers", "s3"}
    wanted = {"all": SHIPPED | DEVELOPMENT, "core": CORE, "server": CORE.union(*(EXTRAS[one] for one in server))}[name]
    assert wanted - pinned == set()
    assert "://" not in text
