"""Take the pictures of the hall's pages that the docs show, from a demo workspace, in Chromium at 1366 x 768.

Run it after a page has changed, and look at what it made:

    guildhall demo demo-workspace
    python scripts/hall_pictures.py demo-workspace

A second study with nine graders is begun in the workspace, part judged, part held, part disputed.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import CHROMIUM, CHROMIUM_ARGS  # noqa: E402
from tests.web.live import Live  # noqa: E402

from guildhall.domain.halls import HallDesign, Member, Role, Slot, Verdict  # noqa: E402
from guildhall.domain.judgments import Comparison  # noqa: E402
from guildhall.grading.adjudicating import adjudications  # noqa: E402
from guildhall.grading.clock import Beat  # noqa: E402
from guildhall.grading.submitting import submit  # noqa: E402
from guildhall.study.openings import open_next  # noqa: E402
from guildhall.taskbank.listing import newest_tasks  # noqa: E402

IMAGES = ROOT / "docs" / "images"
STUDY = "round-two"
COLOURS = 256
"""A page has few colours: with a palette of so many a picture takes half the room."""
REASONS = (
    "Its totals follow from the statement, and every line of the request is answered.",
    "Both answer the request; this one says where the figures come from.",
    "The other one leaves out what the brief asks for in its second point.",
)


def main() -> None:
    live = Live(Path(sys.argv[1])).start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
            manager = _invite(live, Role.MANAGER)
            graders = _roster(live)
            walk_the_wizard(live, browser, manager)
            open_next(live.workspace, worker="pictures:1:1", clock=live.site.clock)
            fill_the_hall(live, graders)
            show_the_managers_pages(live, browser, manager, graders[8])
            walk_as_a_grader(live, browser, _invite(live, Role.GRADER, graders[8].occupations, years=15))
            show_the_doors(live, browser, graders[0])
            browser.close()
    finally:
        live.stop()


def _roster(live: Live) -> list[Member]:
    """Nine graders, three of them at home in two occupations of the bank and the others in all."""
    occupations = tuple(sorted({task.occupation for task in newest_tasks(live.site.store)}))
    few = [_invite(live, Role.GRADER, occupations[:2], years=4 + number) for number in range(3)]
    return few + [_invite(live, Role.GRADER, occupations, years=7 + number) for number in range(6)]


def _invite(live: Live, role: Role, occupations: tuple[str, ...] = (), *, years: float | None = None) -> Member:
    return live.site.roster.invite_person(role, occupations=occupations, years=years, personal={})


@contextmanager
def inside(live: Live, browser: Browser, member: Member) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(live.link(member))
    page.get_by_role("button").first.click()
    yield page
    context.close()


def keep(page: Page, name: str) -> None:
    """The picture, with a palette of its own."""
    page.evaluate("document.activeElement.blur()")
    taken = Image.open(io.BytesIO(page.screenshot()))
    small = taken.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(IMAGES / f"{name}.png", optimize=True)
    print(f"{name}: {(IMAGES / f'{name}.png').stat().st_size / 1000:.0f} kB")


def walk_the_wizard(live: Live, browser: Browser, manager: Member) -> None:
    with inside(live, browser, manager) as page:
        page.goto(f"{live.address}/manage/new")
        page.get_by_label("Title").fill("The sample bank, second round")
        page.get_by_label("Short name").fill(STUDY)
        keep(page, "manage-new-tasks")
        page.get_by_role("button", name="Next: work").click()
        keep(page, "manage-new-work")
        page.get_by_role("button", name="Next: rules").click()
        page.get_by_label("Dollars an hour").fill("60")
        page.get_by_label("How often one grader may meet one task").fill("2")
        keep(page, "manage-new-rules")
        page.get_by_role("button", name="Next: checks").click()
        page.get_by_label("Add an item on").select_option(index=1)
        page.get_by_role("button", name="Add", exact=True).click()
        item = page.locator("fieldset.gold")
        item.get_by_label("The worse one").select_option(index=2)
        item.get_by_label("What shows it").fill("Only the first one reconciles to the bank's closing balance.")
        page.get_by_label("Share of each grader").fill("0.1")
        keep(page, "manage-new-checks")
        page.get_by_role("button", name="Next: preview").click()
        keep(page, "manage-new-preview")
        if page.get_by_label("Open it although").count():
            page.get_by_label("Open it although").check()
        page.get_by_role("button", name="Freeze and open").click()
        page.get_by_role("heading", name="second round").wait_for()


def fill_the_hall(live: Live, graders: list[Member]) -> None:
    """Half of the sets judged, with disputes, and two places held."""
    design, queue, now = live.site.design(STUDY), live.site.queue, live.site.clock()
    for turn, member in enumerate(graders[3:8]):
        for number in range(9):
            _judge(live, member, design, prefer_first=(turn + number) % 3 != 0, said=REASONS[number % 3])
    for member in graders[:2]:
        seat = queue.claim(member, study=STUDY, design=design, now=now)
        if seat is not None:
            queue.save(seat.id, "{}", version=0, now=now, lease_s=18 * 3600)


def _judge(
    live: Live, member: Member, design: HallDesign, *, prefer_first: bool, said: str, slot: Slot | None = None
) -> None:
    """Take a set (the one of `slot`, where given), look at it for a while, and prefer the expert's work or the other."""
    queue, now = live.site.queue, live.site.clock()
    seat = queue.sit(member, slot, design=design, now=now) if slot else None
    seat = seat or queue.claim(member, study=STUDY, design=design, now=now)
    if seat is None:
        return
    queue.mark_brief_read(seat.id, now=now)
    for quarter in range(41):
        queue.beat(seat.id, Beat(visible=True), now=now + 15 * quarter, lease_s=3600)
    expert = live.site.store.get(Comparison, seat.slot.comparison).submissions[0]
    ranks = (1, 2) if (seat.slot.order[0] == expert) is prefer_first else (2, 1)
    verdict = Verdict(ranks=ranks, strength=2, confidence=70, reason=said)
    submit(queue, queue.seat(seat.id), member, verdict, design=design, submit_key=seat.id, now=now + 620)


def _settle_the_first(live: Live, page: Page, settling: Member) -> None:
    """One grader more is asked for on the most disputed set, and heard."""
    design = live.site.design(STUDY)
    page.get_by_role("button", name="Ask for one grader more").first.click()
    [[asked]] = adjudications(live.site.queue, STUDY).values()
    _judge(live, settling, design, prefer_first=True, said=REASONS[2], slot=asked.slot)
    page.goto(f"{live.address}/manage/studies/{STUDY}/items")
    settled = page.locator("article", has=page.get_by_role("heading", name="Adjudication"))
    settled.locator("summary").last.click()
    settled.evaluate("one => one.scrollIntoView({block: 'center'})")


def show_the_managers_pages(live: Live, browser: Browser, manager: Member, settling: Member) -> None:
    home, door = f"/manage/studies/{STUDY}", live.site.door
    door.new_api_token(manager.id, name="nightly dashboard", scopes=("results:read",), now=live.site.clock())
    with inside(live, browser, manager) as page:
        for name, path in (
            ("studies", "/manage"),
            ("board", home),
            ("graders", f"{home}/judges"),
            ("disputes", f"{home}/items"),
            ("people", "/manage/people"),
            ("gradings", "/manage/gradings"),
            ("tokens", "/manage/tokens"),
            ("webhooks", "/manage/webhooks"),
            ("audit", "/manage/audit"),
        ):
            page.goto(f"{live.address}{path}")
            if name == "disputes" and page.get_by_role("button", name="Ask for one grader more").count():
                _settle_the_first(live, page, settling)
            keep(page, f"manage-{name}")


def walk_as_a_grader(live: Live, browser: Browser, member: Member) -> None:
    """From the invitation to the receipt, then a deliverable to rate."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(live.link(member))
    keep(page, "hall-invitation")
    page.get_by_role("button", name="Come in").click()
    keep(page, "hall-work-empty")
    page.get_by_role("button", name="Take the next set").click()
    keep(page, "hall-brief")
    page.get_by_role("button", name="I have read this").click()
    page.get_by_label("A is better").check()
    page.get_by_label("clearly").check()
    page.get_by_label("Your reasons").fill(REASONS[0])
    page.locator("#saved", has_text="saved").wait_for()
    page.wait_for_load_state("networkidle")
    keep(page, "hall-compare")
    page.emulate_media(color_scheme="dark")
    keep(page, "hall-compare-dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 412, "height": 915})
    keep(page, "hall-compare-phone")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.get_by_role("button", name="Review and submit").click()
    page.get_by_label("cannot tell").check()
    keep(page, "hall-review")
    page.get_by_role("button", name="Submit", exact=True).click()
    keep(page, "hall-receipt")
    page.goto(f"{live.address}/sets")
    page.get_by_role("button", name="Take the next set").click()
    page.goto(f"{live.address}/sets")
    keep(page, "hall-work")
    if page.get_by_role("button", name="Rate").count():
        for seat in live.site.queue.seats_of(member.id):  # one set at a time: the one that was begun is given back
            if seat.judgment is None:
                live.site.queue.decline(seat.id, "It is not my field.", now=live.site.clock())
        page.get_by_role("button", name="Rate").first.click()
        page.get_by_role("button", name="I have read this").click()
        page.wait_for_load_state("networkidle")
        keep(page, "hall-severity")
    context.close()


def show_the_doors(live: Live, browser: Browser, member: Member) -> None:
    with inside(live, browser, member) as page:
        page.goto(f"{live.address}/account")
        keep(page, "hall-account")
        page.goto(f"{live.address}/nowhere")
        keep(page, "hall-problem")
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    page.goto(f"{live.address}/enter")
    keep(page, "hall-door")
    context.close()


if __name__ == "__main__":
    main()
