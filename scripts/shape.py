"""The shape of the package in a few figures: how many modules, who imports whom, where imports stand, what names mean.

    python scripts/shape.py [FOLDER]        # default: src

Reads the sources and runs nothing of them. `tests/test_shape.py` holds the figures below their ceilings.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

MIDDLE = ("study", "reports", "analysis", "peer")


@dataclass(frozen=True)
class Import:
    """One imported module of the package: by whom, and whether the statement stands inside a function."""

    importer: str
    imported: str
    inside: bool


@dataclass(frozen=True)
class Shape:
    """The modules of the package `guildhall` below `source`, read once."""

    source: Path

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        found = {}
        for path in sorted((self.source / "guildhall").rglob("*.py")):
            parts = path.relative_to(self.source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text())
        return found

    @cached_property
    def packages(self) -> frozenset[str]:
        folders = (path.parent for path in (self.source / "guildhall").rglob("__init__.py"))
        return frozenset(".".join(folder.relative_to(self.source).parts) for folder in folders)

    @cached_property
    def lines(self) -> int:
        return sum(path.read_text().count("\n") for path in (self.source / "guildhall").rglob("*.py"))

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Those that happen when the program runs; those for type checkers alone are left out."""
        found = []
        for name, tree in self.trees.items():
            for node, inside in statements(tree):
                found += [Import(name, target, inside) for target in self._targets(node)]
        return tuple(found)

    def _targets(self, node: ast.Import | ast.ImportFrom) -> set[str]:
        if isinstance(node, ast.Import):
            return {alias.name for alias in node.names if alias.name in self.trees}
        below = {f"{node.module}.{alias.name}" for alias in node.names}
        modules = below & self.trees.keys()
        return modules | ({str(node.module)} & self.trees.keys() if modules != below else set())

    @property
    def with_one_importer(self) -> list[str]:
        """Modules that one other module imports, and no more; a package's own `__init__` is none."""
        importers: dict[str, set[str]] = defaultdict(set)
        for one in self.imports:
            importers[one.imported].add(one.importer)
        return sorted(name for name, by in importers.items() if len(by) == 1 and name not in self.packages)

    @property
    def imports_inside_functions(self) -> Counter[str]:
        """Package -> import statements inside its functions, of whatever module; `cli` starts fast by them."""
        return Counter(
            name.split(".")[1] if "." in name else name
            for name, tree in self.trees.items()
            for _, inside in statements(tree)
            if inside and not name.startswith("guildhall.cli")
        )

    @property
    def names_with_several_meanings(self) -> dict[str, list[str]]:
        """Public class -> the modules that define one of that name, where there are several."""
        where: dict[str, list[str]] = defaultdict(list)
        for name, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    where[node.name].append(name)
        return {name: modules for name, modules in sorted(where.items()) if len(modules) > 1}

    @property
    def cycles(self) -> list[list[str]]:
        """Modules that reach each other by imports, also by those inside functions."""
        graph: dict[str, set[str]] = defaultdict(set)
        for one in self.imports:
            if one.imported != one.importer:
                graph[one.importer].add(one.imported)
        return [group for group in _knots(dict(graph)) if len(group) > 1]

    def modules_in(self, *packages: str) -> int:
        return sum(name.split(".")[1:2] == [package] for name in self.trees for package in packages)

    def figures(self) -> dict[str, int]:
        return {
            "modules": len(self.trees),
            "modules in " + " + ".join(MIDDLE): self.modules_in(*MIDDLE),
            "modules with exactly one importer": len(self.with_one_importer),
            "imports inside functions, outside cli": self.imports_inside_functions.total(),
            "public class names with several meanings": len(self.names_with_several_meanings),
            "import cycles": len(self.cycles),
            "lines": self.lines,
        }


def statements(tree: ast.Module) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import that runs, and whether it stands inside a function."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, inside
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            else:
                yield from walk(child, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda))

    return walk(tree, False)


def _knots(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected modules (Tarjan's way)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            group: list[str] = []
            while not group or group[-1] != name:
                group.append(stack.pop())
            found.append(sorted(group))

    for name in sorted(graph):
        if name not in order:
            visit(name)
    return found


def main() -> None:
    shape = Shape(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "src")
    for what, count in shape.figures().items():
        print(f"{count:>7,}  {what}")
    packages = Counter(name.split(".")[1] for name in shape.trees if "." in name)
    print("\npackage: modules (statements inside functions)")
    inside = shape.imports_inside_functions
    print("\n".join(f"  {package}: {count} ({inside[package]})" for package, count in sorted(packages.items())))
    print("\nnames with several meanings")
    for name, modules in shape.names_with_several_meanings.items():
        print(f"  {name}: {', '.join(module.removeprefix('guildhall.') for module in modules)}")
    print("\nwith exactly one importer")
    print("\n".join(f"  {name.removeprefix('guildhall.')}" for name in shape.with_one_importer))
    for group in shape.cycles:
        print(f"\ncycle: {' -> '.join(group)}")


if __name__ == "__main__":
    main()
