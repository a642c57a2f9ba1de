"""The five task-content scores, and the digital share held against them."""

from __future__ import annotations

import math
import random
import statistics
from pathlib import Path

import pytest

from guildhall.errors import UnreadableFile
from guildhall.occupations.labels import by_rule
from guildhall.occupations.selection import digital_shares, read_official
from guildhall.occupations.validation import (
    MEANS,
    SCORES,
    content_scores,
    fisher_interval,
    of_occupation,
    read_contents,
    validate,
)

FILES = {"activities": "Work Activities.txt", "context": "Work Context.txt", "abilities": "Abilities.txt"}


def write_contents(folder: Path, values: dict[str, dict[str, float]]) -> None:
    """O*NET's three files from element -> O*NET code -> value, with rows of other scales that must not count."""
    for source, name in FILES.items():
        lines = ["O*NET-SOC Code\tElement ID\tElement Name\tScale ID\tCategory\tData Value"]
        for scale in (one for scales in SCORES.values() for one in scales if one.source == source):
            for onet, value in values.get(scale.element, {}).items():
                lines.append(f"{onet}\t{scale.element}\t{scale.name}\t{MEANS[source]}\tn/a\t{value}")
                lines.append(f"{onet}\t{scale.element}\t{scale.name}\tLV\t1\t99")
        (folder / name).write_text("\n".join(lines) + "\n")


def spread(seed: int, codes: list[str]) -> dict[str, dict[str, float]]:
    draw = random.Random(seed)
    elements = [one.element for scales in SCORES.values() for one in scales]
    return {element: {code: draw.uniform(1, 5) for code in codes} for element in elements}


def test_sixteen_scales_make_five_scores_and_one_of_them_is_turned_round() -> None:
    scales = [one for scales in SCORES.values() for one in scales]
    assert (len(SCORES), len(scales), len({one.element for one in scales})) == (5, 16, 16)
    assert [one.element for one in scales if one.turned] == ["4.C.3.b.8"]


def test_the_analytical_score_is_the_sum_of_its_three_standardised_activities(tmp_path: Path) -> None:
    codes = ["11-1011.00", "13-2011.00", "51-4121.00"]
    values = spread(1, codes)
    write_contents(tmp_path, values)
    found = content_scores(read_contents(tmp_path))["non-routine cognitive: analytical"]
    by_hand = 0.0
    for element in ("4.A.2.a.4", "4.A.2.b.2", "4.A.4.a.1"):
        column = list(values[element].values())
        by_hand += (values[element]["13-2011.00"] - statistics.fmean(column)) / statistics.pstdev(column)
    assert found["13-2011.00"] == pytest.approx(by_hand)
    assert sum(found.values()) == pytest.approx(0)


def test_freedom_to_structure_ones_work_lowers_the_routine_score(tmp_path: Path) -> None:
    values = spread(2, ["free", "bound"])
    values |= {element: {"free": 1.0, "bound": 5.0} for element in ("4.C.3.b.7", "4.C.3.b.4")}
    values["4.C.3.b.8"] = {"free": 5.0, "bound": 1.0}
    write_contents(tmp_path, values)
    found = content_scores(read_contents(tmp_path))["routine cognitive"]
    assert found == pytest.approx({"free": -3, "bound": 3})


def test_a_score_with_a_missing_scale_is_absent() -> None:
    values = spread(3, ["one", "two", "three"])
    del values["4.A.2.a.4"]["two"]
    found = of_occupation(["two"], content_scores(values))
    assert found["non-routine cognitive: analytical"] is None and found["routine manual"] is not None


def test_each_missing_file_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    write_contents(tmp_path, spread(4, ["one", "two"]))
    (tmp_path / "Abilities.txt").unlink()
    with pytest.raises(UnreadableFile, match=r"no O\*NET Abilities.*O\*NET database"):
        read_contents(tmp_path)


def test_validation_leaves_out_and_counts_occupations_without_scores(data: Path) -> None:
    write_contents(data, spread(5, ["13-2011.00", "51-4121.00"]))
    official = read_official(data)
    found = validate(data, official, digital_shares(official, by_rule), labelled_by="rule", threshold=0.6)
    assert {one.title for one in found.occupations} == {"Accountants and Auditors", "Welders"}
    assert found.without_scores == 1
    assert [one.interval for one in found.correlations] == [None] * 5, "two occupations make no interval"


def test_fishers_interval_is_the_textbooks() -> None:
    """r = 0.5 of 103 pairs: atanh(0.5) = 0.5493, give or take 1.96 / 10, and back."""
    low, high = fisher_interval(0.5, 103) or (math.nan, math.nan)
    assert (round(low, 3), round(high, 3)) == (0.339, 0.632)
    assert fisher_interval(0.5, 3) is None and fisher_interval(1.0, 50) is None
