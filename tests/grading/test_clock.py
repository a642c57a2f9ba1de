"""Active time on a fake clock: within two seconds of the truth, whatever the tab, the lid or the clock does."""

from __future__ import annotations

from guildhall.grading.clock import Beat, Tally, idle_limit_s

WORK = Beat(visible=True)


def sit(*parts: tuple[float, Beat], start: float = 1000.0, beat_s: float = 15.0) -> Tally:
    """Beats every 15 seconds through parts of a sitting: (seconds, what the browser tells)."""
    tally, now = Tally().after(WORK, start), start
    for length, beat in parts:
        end = now + length
        while now < end:
            now = min(now + beat_s, end)
            tally = tally.after(beat, now)
    return tally


def near(seconds: float, expected: float) -> bool:
    return abs(seconds - expected) <= 2


def test_steady_work_is_counted_to_the_second() -> None:
    tally = sit((3600, WORK))
    assert near(tally.active_s, 3600) and near(tally.wall_s, 3600)


def test_reading_eight_minutes_of_dense_text_without_a_touch_is_work() -> None:
    dense = 480 * 3.3 + 10
    parts = [(15.0, Beat(visible=True, idle_s=idle, words_in_view=int(dense))) for idle in range(0, 480, 15)]
    assert near(sit(*parts).active_s, 480)


def test_an_empty_chair_counts_for_five_minutes_and_no_more() -> None:
    parts = [(15.0, Beat(visible=True, idle_s=idle)) for idle in range(15, 1200, 15)]
    assert near(sit(*parts).active_s, 300)


def test_a_hidden_tab_is_not_work() -> None:
    tally = sit((600, WORK), (600, Beat(visible=False)), (600, WORK))
    assert near(tally.active_s, 1200) and near(tally.visible_s, 1200) and near(tally.wall_s, 1800)


def test_work_in_another_program_counts_for_an_hour_when_said_so() -> None:
    assert near(sit((1800, Beat(visible=False, outside=True))).active_s, 1800)
    assert abs(sit((7200, Beat(visible=False, outside=True))).active_s - 3600) <= 15


def test_a_playing_recording_is_work_however_still_one_sits() -> None:
    assert near(sit((1500, Beat(visible=True, idle_s=1500, media=True))).active_s, 1500)


def test_a_closed_lid_and_a_clock_that_jumps_add_nothing() -> None:
    tally = sit((600, WORK))
    after_sleep = tally.after(WORK, 1600 + 8 * 3600)
    assert near(after_sleep.active_s, 600)
    assert tally.after(WORK, 100).active_s == tally.active_s


def test_two_tabs_count_once() -> None:
    tally, now = Tally().after(WORK, 0), 0.0
    for _ in range(240):
        now += 15
        tally = tally.after(WORK, now - 7).after(WORK, now)
    assert near(tally.active_s, 3600)


def test_a_lost_beat_costs_little() -> None:
    tally = Tally().after(WORK, 0).after(WORK, 15).after(WORK, 45).after(WORK, 60)
    assert 50 <= tally.active_s <= 60


def test_without_beats_nothing_is_known() -> None:
    assert Tally().started is None


def test_more_words_in_view_allow_longer_reading() -> None:
    assert idle_limit_s(0) == 300 and idle_limit_s(3000) > 600 and idle_limit_s(10**6) == 1200
