"""STEP files (ISO 10303-21) as polylines: the edges of every solid, placed as the assembly places them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

MOST_INSTANCES = 2_000
MOST_EDGES = 200_000
_STRING_OR_END = re.compile(r"'[^']*'|;")
_NUMBERED = re.compile(r"\s*#(\d+)\s*=")
_SIMPLE = re.compile(r"\s*([A-Z0-9_]+)\s*\((.*)\)\s*$", re.DOTALL)
_PART = re.compile(r"([A-Z0-9_]+)\s*\(")
_REFERENCE = re.compile(r"#(\d+)")
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[Ee][-+]?\d+)?")
_STRING = re.compile(r"'[^']*'")


@dataclass
class StepModel:
    """Entities by number: the name and, for each, its arguments as text without strings."""

    entities: dict[int, dict[str, str]]
    straightened: set[str] = field(default_factory=set)

    def of(self, name: str) -> Iterator[tuple[int, str]]:
        for number, parts in self.entities.items():
            if name in parts:
                yield number, parts[name]

    def arguments(self, number: int, name: str) -> str | None:
        return self.entities.get(number, {}).get(name)


def read_step(text: str) -> StepModel:
    """Every entity of the data section; the text may be hostile, so nothing is evaluated."""
    entities: dict[int, dict[str, str]] = {}
    for statement in _statements(text):
        numbered = _NUMBERED.match(statement)
        if numbered:
            body = _STRING.sub("''", statement[numbered.end() :])
            simple = _SIMPLE.match(body)
            entities[int(numbered[1])] = {simple[1]: simple[2]} if simple else _parts(body)
    return StepModel(entities)


def _statements(text: str) -> Iterator[str]:
    """What stands between semicolons, those inside strings not counted; one pass, whatever the text."""
    start = 0
    for found in _STRING_OR_END.finditer(text):
        if found[0] == ";":
            yield text[start : found.start()]
            start = found.end()


def _parts(body: str) -> dict[str, str]:
    """A complex entity, `( NAME(...) NAME(...) )`, by the names of its parts."""
    parts: dict[str, str] = {}
    position = body.find("(") + 1
    while found := _PART.search(body, position):
        depth, end = 1, found.end()
        while depth and end < len(body):
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        parts[found[1]] = body[found.end() : end - 1]
        position = end
    return parts


def references(arguments: str) -> list[int]:
    return [int(number) for number in _REFERENCE.findall(arguments)]


def numbers(arguments: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(_REFERENCE.sub("", arguments))]


def polylines(step: StepModel) -> list[Points]:
    """The edges of all solids in their places; edges that no assembly places stay where they are drawn."""
    drawn: dict[int, Points] = {}
    for number, arguments in step.of("EDGE_CURVE"):
        line = _edge(step, arguments)
        if line is not None and np.isfinite(line).all():
            drawn[number] = line
        if len(drawn) >= MOST_EDGES:
            break
    placed: list[Points] = []
    seen: set[int] = set()
    for edges, placements in _shapes(step):
        seen |= edges
        for matrix in placements:
            placed += [drawn[edge] @ matrix[:3, :3].T + matrix[:3, 3] for edge in edges if edge in drawn]
    return placed + [line for edge, line in drawn.items() if edge not in seen]


def _edge(step: StepModel, arguments: str) -> Points | None:
    ends = references(arguments)
    if len(ends) < 3:
        return None
    start, finish = _vertex(step, ends[0]), _vertex(step, ends[1])
    if start is None or finish is None:
        return None
    return _curve(step, ends[2], start, finish, forward=".T." in arguments)


def _curve(step: StepModel, number: int, start: Points, finish: Points, *, forward: bool) -> Points:
    parts = step.entities.get(number, {})
    for wrapper in ("SURFACE_CURVE", "SEAM_CURVE", "TRIMMED_CURVE"):
        inner = references(parts.get(wrapper, ""))
        if inner and inner[0] != number:
            return _curve(step, inner[0], start, finish, forward=forward)
    for round_kind in ("CIRCLE", "ELLIPSE"):
        if round_kind in parts:
            radii = numbers(parts[round_kind])
            frame = placement(step, references(parts[round_kind])[0])
            return arc(frame, radii[0], radii[-1], start, finish, forward=forward)
    if "B_SPLINE_CURVE_WITH_KNOTS" in parts:
        return _spline(step, parts)
    if "LINE" not in parts and "POLYLINE" not in parts:
        step.straightened.update(parts)
    return np.stack((start, finish))


def _spline(step: StepModel, parts: dict[str, str]) -> Points:
    """In a simple entity all arguments stand together; in a complex one control points and knots stand apart."""
    knotted = parts["B_SPLINE_CURVE_WITH_KNOTS"]
    shape = parts.get("B_SPLINE_CURVE", knotted)
    controls = np.array([_point(step, number) for number in references(shape)])
    groups = re.findall(r"\(([^()]*)\)", knotted)
    times, knots = numbers(groups[-2]), numbers(groups[-1])
    vector = np.repeat(knots, np.array(times, dtype=int).clip(0, 64))
    weights = numbers(parts.get("RATIONAL_B_SPLINE_CURVE", "")) or [1.0] * len(controls)
    return spline(controls, int(numbers(shape)[0]), vector, np.array(weights))


def _vertex(step: StepModel, number: int) -> Points | None:
    inner = references(step.arguments(number, "VERTEX_POINT") or "")
    return _point(step, inner[0]) if inner else None


def _point(step: StepModel, number: int) -> Points:
    return _three(step.arguments(number, "CARTESIAN_POINT"))


def _three(arguments: str | None) -> Points:
    """Three coordinates; those a broken file leaves out are 0."""
    return np.array([*numbers(arguments or ""), 0.0, 0.0, 0.0][:3])


def placement(step: StepModel, number: int) -> Points:
    """The 4 x 4 matrix of an axis placement; missing or unusable axes are the world's own."""
    inner = references(step.arguments(number, "AXIS2_PLACEMENT_3D") or "")
    matrix = np.eye(4)
    if not inner:
        return matrix
    matrix[:3, 3] = _point(step, inner[0])
    axes = [_three(step.arguments(one, "DIRECTION")) for one in inner[1:3]]
    up = _unit(axes[0]) if axes else None
    if up is None:
        return matrix
    side = axes[1] if len(axes) > 1 else np.array((1.0, 0.0, 0.0))
    across = _unit(side - (side @ up) * up)
    if across is None:
        across = _unit(np.cross(up, (0.0, 1.0, 0.0) if abs(up[1]) < 0.9 else (1.0, 0.0, 0.0)))
    if across is not None:
        matrix[:3, 0], matrix[:3, 1], matrix[:3, 2] = across, np.cross(up, across), up
    return matrix


def _unit(vector: Points) -> Points | None:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-12 else None


def _shapes(step: StepModel) -> Iterator[tuple[set[int], list[Points]]]:
    """For each representation that holds solids: its edges, and the matrices that place it in the whole."""
    same, upward = _assembly(step)
    for name in ("ADVANCED_BREP_SHAPE_REPRESENTATION", "MANIFOLD_SURFACE_SHAPE_REPRESENTATION"):
        for number, arguments in step.of(name):
            yield _edges_below(step, arguments), _placements(_group(same, number), upward)


def _assembly(step: StepModel) -> tuple[dict[int, int], dict[int, list[tuple[int, Points]]]]:
    """Which representations share a frame, and which stands in which other by which matrix."""
    same: dict[int, int] = {}
    moved: list[tuple[int, int, Points]] = []
    for parts in step.entities.values():
        related = parts.get("SHAPE_REPRESENTATION_RELATIONSHIP") or parts.get("REPRESENTATION_RELATIONSHIP")
        pair = references(parts.get("REPRESENTATION_RELATIONSHIP") or related or "")
        if len(pair) < 2:
            continue
        by = references(parts.get("REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION", ""))
        frames = references(step.arguments(by[0], "ITEM_DEFINED_TRANSFORMATION") or "") if by else []
        if len(frames) >= 2:
            matrix = placement(step, frames[1]) @ np.linalg.inv(placement(step, frames[0]))
            moved.append((pair[0], pair[1], matrix))
        else:
            same[_group(same, pair[0])] = _group(same, pair[1])
    upward: dict[int, list[tuple[int, Points]]] = defaultdict(list)
    for child, parent, matrix in moved:
        upward[_group(same, child)].append((_group(same, parent), matrix))
    return same, upward


def _group(same: dict[int, int], number: int) -> int:
    while number in same and same[number] != number:
        number = same[number]
    return number


def _placements(start: int, upward: dict[int, list[tuple[int, Points]]]) -> list[Points]:
    """One matrix for each way up to the whole; a loop, which no sound file has, ends the way."""
    found: list[Points] = []
    ways: list[tuple[int, Points, frozenset[int]]] = [(start, np.eye(4), frozenset())]
    while ways and len(found) < MOST_INSTANCES:
        group, matrix, passed = ways.pop()
        higher = [] if group in passed else upward.get(group, [])
        if not higher:
            found.append(matrix)
        ways += [(parent, move @ matrix, passed | {group}) for parent, move in higher]
    return found


def _edges_below(step: StepModel, arguments: str) -> set[int]:
    """All edges reachable from a representation's items."""
    waiting, seen, edges = references(arguments), set[int](), set[int]()
    while waiting:
        number = waiting.pop()
        if number in seen:
            continue
        seen.add(number)
        parts = step.entities.get(number, {})
        if "EDGE_CURVE" in parts:
            edges.add(number)
        elif not any(name.startswith(("CARTESIAN", "DIRECTION", "VERTEX")) for name in parts):
            for text in parts.values():
                waiting += references(text)
    return edges


_STEPS = 48


def arc(
    frame: Points, across: float, along: float, start: Points, finish: Points, *, forward: bool, steps: int = _STEPS
) -> Points:
    """Points of a circle or ellipse from start to finish, about the third axis of a 4 x 4 frame; a full turn when
    both are the same point."""
    begin, end = (_angle(frame, across, along, point) for point in (start, finish))
    turn = (end - begin) % (2 * np.pi) if forward else -((begin - end) % (2 * np.pi))
    if np.allclose(start, finish) or turn == 0:
        turn = 2 * np.pi
    angles = begin + np.linspace(0, turn, steps + 1)
    flat = np.stack((across * np.cos(angles), along * np.sin(angles), np.zeros_like(angles)), axis=1)
    return np.asarray(flat @ frame[:3, :3].T + frame[:3, 3])


def _angle(frame: Points, across: float, along: float, point: Points) -> float:
    local = (point - frame[:3, 3]) @ frame[:3, :3]
    return float(np.arctan2(local[1] / (along or 1), local[0] / (across or 1)))


def spline(controls: Points, degree: int, knots: Points, weights: Points, *, steps: int = _STEPS) -> Points:
    """Points of a (rational) B-spline over its range, by de Boor; its control polygon when the knots do not fit."""
    count = len(controls)
    fits = (
        1 <= degree < count
        and len(knots) == count + degree + 1
        and len(weights) == count
        and np.all(np.diff(knots) >= 0)
    )
    if not fits:
        return controls
    lifted = np.hstack((controls * weights[:, None], weights[:, None]))
    places = np.linspace(knots[degree], knots[count], max(steps, 4 * count) + 1)
    points = np.array([_de_boor(lifted, degree, knots, place) for place in places])
    scale = np.where(np.abs(points[:, 3:]) < 1e-12, 1, points[:, 3:])
    return np.asarray(points[:, :3] / scale)


def _de_boor(controls: Points, degree: int, knots: Points, place: float) -> Points:
    span = int(np.clip(np.searchsorted(knots, place, side="right") - 1, degree, len(controls) - 1))
    work = [controls[span - degree + index] for index in range(degree + 1)]
    for level in range(1, degree + 1):
        for index in range(degree, level - 1, -1):
            low, high = knots[span - degree + index], knots[span + 1 + index - level]
            share = (place - low) / (high - low) if high > low else 0.0
            work[index] = (1 - share) * work[index - 1] + share * work[index]
    return np.asarray(work[degree])
