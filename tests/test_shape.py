"""The package grows in what it does, not in what one must hold in mind: each figure of its shape has a ceiling."""

from __future__ import annotations

from pathlib import Path

from scripts.shape import Shape

SHAPE = Shape(Path(__file__).parent.parent / "src")
CEILINGS = {
    "modules": 520,
    "modules in study + reports + analysis + peer": 130,
    "modules with exactly one importer": 100,
    "imports inside functions, outside cli": 150,
    "public class names with several meanings": 0,
    "import cycles": 0,
}
"""What one person can still hold in mind. Lines are told, and not held."""


def test_no_module_reaches_itself_by_imports() -> None:
    assert SHAPE.cycles == []


def test_no_figure_is_above_its_ceiling() -> None:
    figures = SHAPE.figures()
    assert {what: figures[what] for what, most in CEILINGS.items() if figures[what] > most} == {}


def package(folder: Path, **modules: str) -> Shape:
    """A package `guildhall` of these modules."""
    place = folder / "guildhall"
    place.mkdir()
    for name, text in {"__init__": "", **modules}.items():
        (place / f"{name}.py").write_text(text)
    return Shape(folder)


def test_a_cycle_is_seen_wherever_its_imports_stand(tmp_path: Path) -> None:
    late = "def f():\n    from guildhall.c import d\n"
    shape = package(tmp_path, a="from guildhall import b\n", b=late, c="import guildhall.a\n")
    assert shape.cycles == [["guildhall.a", "guildhall.b", "guildhall.c"]]
    assert shape.imports_inside_functions == {"b": 1}


def test_an_import_for_type_checkers_makes_no_cycle(tmp_path: Path) -> None:
    checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from guildhall.b import B\n"
    shape = package(tmp_path, a=checked, b="from guildhall.a import A\n")
    assert shape.cycles == [] and shape.with_one_importer == ["guildhall.a"]


def test_one_name_for_two_classes_is_seen(tmp_path: Path) -> None:
    shape = package(tmp_path, a="class Desk: ...\nclass _Own: ...\n", b="class Desk: ...\nclass _Own: ...\n")
    assert shape.names_with_several_meanings == {"Desk": ["guildhall.a", "guildhall.b"]}
