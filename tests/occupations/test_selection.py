"""The selection on small files of our own in the official layouts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from guildhall.domain.occupations import Selection, Thresholds
from guildhall.errors import UnreadableFile
from guildhall.occupations.labels import Labeller, by_rule, from_file
from guildhall.occupations.selection import (
    Occupations,
    digital_shares,
    missed_of_the_paper,
    paper_occupations,
    read_official,
    read_placements,
    sector_code,
    select,
    sensitivity,
    shipped_shares,
)
from guildhall.occupations.tasks import ratings_of


def chosen(data: Path, labeller: Labeller = by_rule, *, share: float = 0.6) -> Selection:
    official, thresholds = read_official(data), Thresholds(digital_share=share)
    return select(official, digital_shares(official, labeller), labelled_by="test", thresholds=thresholds)


def test_the_whole_selection_with_a_reason_for_every_occupation(data: Path) -> None:
    found = chosen(data)
    assert (found.detailed, found.kept) == (4, 3)
    verdicts = {one.title: one for one in found.occupations}
    assert verdicts["Accountants and Auditors"].verdict == "selected"
    assert verdicts["Accountants and Auditors"].total_wages_usd == 80_000_000
    assert verdicts["Actors"].total_wages_usd == pytest.approx(100 * 30.5 * 2080)
    assert "sector 71" in verdicts["Actors"].verdict
    assert "under 0.60" in verdicts["Welders"].verdict and verdicts["Welders"].digital.method == "task frequency"
    assert found.selected["Professional, Scientific, and Technical Services"] == ("Accountants and Auditors",)


def test_frequency_is_the_mean_category_over_seven(data: Path) -> None:
    found = chosen(data)
    [share] = [one.digital.share for one in found.occupations if one.code == "13-2011"]
    low = (1 / 7 + 1 / 5 + 10 / 100) / 3
    assert share == pytest.approx(1 / (1 + low))


def test_a_sector_of_exactly_the_share_is_not_above_it_and_is_named(data: Path) -> None:
    official = read_official(data)
    share = next(one.share for one in official.shares if one.naics == "54")
    thresholds = Thresholds(gdp_share=share)
    found = select(official, digital_shares(official, by_rule), labelled_by="rule", thresholds=thresholds)
    assert found.sectors_on_the_edge == ("Professional, Scientific, and Technical Services",)
    assert found.chosen == () and found.total_pay_usd == 0
    assert chosen(data).total_pay_usd == 80_000_000


def test_two_occupations_take_their_ratings_from_a_later_release_where_the_first_has_none(tmp_path: Path) -> None:
    head = "O*NET-SOC Code\tTask ID\tScale ID\tCategory\tData Value\n"
    (tmp_path / "Task Ratings.txt").write_text(head + "13-2011.00\t1\tIM\tn/a\t5\n")
    later = ["11-3013.00\t7\tIM\tn/a\t4", "29-2036.00\t8\tIM\tn/a\t3", "13-2011.00\t1\tIM\tn/a\t1"]
    later += ["15-2051.00\t9\tIM\tn/a\t2"]
    (tmp_path / "Task Ratings 29.0.txt").write_text(head + "\n".join(later) + "\n")
    found = ratings_of(tmp_path)
    assert {key: value["importance"] for key, value in found.items()} == {
        ("13-2011.00", "1"): 5,
        ("11-3013.00", "7"): 4,
        ("29-2036.00", "8"): 3,
    }, "the first release is never overruled, and no third occupation is filled in"
    (tmp_path / "Task Ratings.txt").write_text(head + "11-3013.00\t7\tIM\tn/a\t1\n")
    assert ratings_of(tmp_path)["11-3013.00", "7"]["importance"] == 1


def test_the_papers_44_occupations_are_told_apart_from_those_chosen(data: Path) -> None:
    assert len(set(paper_occupations())) == 44 and "Order Clerks" in paper_occupations()
    missed = missed_of_the_paper(chosen(data))
    assert len(missed) == 43 and "Accountants and Auditors" not in missed
    assert missed["Order Clerks"] == "not among the occupations of this file"
    assert "under 0.95" in missed_of_the_paper(chosen(data, share=0.95))["Accountants and Auditors"]


def test_of_the_digital_occupations_of_a_sector_the_best_paid_are_chosen(data: Path) -> None:
    official = read_official(data)
    first = next(one for one in official.paid.kept if one.code == "13-2011")
    pays = {f"99-000{n}": 10.0 * n for n in (3, 1, 7, 5, 2, 6, 4)}
    made = tuple(first.but(code=code, title=code, total_wages_usd=pay) for code, pay in pays.items())
    both = replace(
        official,
        paid=Occupations(made, made),
        placements=dict.fromkeys(pays, official.placements["13-2011"]),
        tasks=dict.fromkeys(pays, official.tasks["13-2011"]),
    )
    found = select(both, digital_shares(both, by_rule), labelled_by="rule", thresholds=Thresholds())
    assert [one.total_wages_usd for one in found.chosen] == [70.0, 60.0, 50.0, 40.0, 30.0]
    left = [one.verdict for one in found.occupations if one.verdict != "selected"]
    assert sorted(left) == ["digital, but place 6 by pay", "digital, but place 7 by pay"]


def test_labels_come_from_a_file(data: Path) -> None:
    (data / "labels.csv").write_text("O*NET-SOC Code,Task,digital\n51-4121.00,weld and repair frames,true\n")
    found = chosen(data, labeller=from_file(data / "labels.csv"))
    assert {one.title for one in found.occupations if one.verdict == "selected"} == {"Welders"}


def test_a_missing_file_is_named_with_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no OEWS national estimates.*BLS"):
        read_official(tmp_path)


def test_nine_gdp_shares_ship_all_above_five_percent() -> None:
    assert len(shipped_shares()) == 9 and min(one.share for one in shipped_shares()) > 5


def test_two_digits_that_are_one_sector_are_joined() -> None:
    assert [sector_code(code) for code in ("311", "44", "31-33", "54")] == ["31-33", "44-45", "31-33", "54"]


def test_other_thresholds_say_who_comes_and_who_goes(data: Path) -> None:
    official = read_official(data)
    digital = digital_shares(official, by_rule)
    base = select(official, digital, labelled_by="rule", thresholds=Thresholds(digital_share=0.95))
    shifts = {one.thresholds: one for one in sensitivity(official, digital, base)}
    assert base.chosen == ()
    lower = shifts[Thresholds(digital_share=0.80)]
    assert (lower.chosen, lower.comes, lower.goes) == (1, ("Accountants and Auditors",), ())
    assert shifts[Thresholds(digital_share=0.95, per_sector=10)].comes == ()


def test_the_employment_matrix_sums_line_items_in_thousands(tmp_path: Path) -> None:
    rows = [
        "Occupation Type,Occupation Code,Industry Type,Industry Code,2023 Employment",
        "Line Item,13-2011,Line Item,541200,500.5",
        "Line Item,13-2011,Summary,54,900",
        "Line Item,13-2011,Line Item,311000,300",
        "Line Item,13-2011,Line Item,332000,250.1",
        "Line Item,13-2011,Line Item,TE1000,9999",
        "Summary,13-0000,Line Item,541200,9999",
    ]
    (tmp_path / "employment_matrix.csv").write_text("\n".join(rows) + "\n")
    [(code, placed)] = read_placements(tmp_path / "employment_matrix.csv").items()
    assert (code, placed.naics) == ("13-2011", "31-33")
    assert placed.employment == {"54": 500_500, "31-33": 550_100}
