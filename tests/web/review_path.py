"""A task's whole way in a real browser: draft, screening, reviews with a change request, a revision, accepted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from guildhall.domain.halls import Member, Role
from guildhall.web.worker import screen_next_draft
from tests.axe import faults
from tests.browser import PATIENCE_MS
from tests.taskbank.reviewing import BRIEF, VETTED
from tests.web.live import Live

OCCUPATION = "Accountants and Auditors"
TITLE = "A memo on the spring ledger"


def make_memo(path: Path, *, total: str) -> Path:
    """A memo of two pages whose second page states a total."""
    from docx import Document

    document = Document()
    document.core_properties.author = "Canary Author"
    document.add_heading("Sales by month", 1)
    document.add_paragraph("April brought 41 orders, May 37, and June 52. The largest change is that from May to June.")
    document.add_page_break()  # type: ignore[no-untyped-call]
    document.add_heading("Recommendation", 1)
    document.add_paragraph(f"The quarter's total is {total} orders. Order more stock before July.")
    document.save(str(path))
    return path


@dataclass
class People:
    author: Member
    generalist: Member
    specialist: Member
    third: Member
    fourth: Member
    colleague: Member
    manager: Member

    @classmethod
    def invited(cls, live: Live) -> People:
        def expert(role: Role, **more: object) -> Member:
            fields = {"years": 9.0, "vetting": VETTED} | more
            return live.invite(role, occupations=(OCCUPATION,), **fields)

        return cls(
            author=expert(Role.AUTHOR, employer_mark="1" * 64),
            generalist=expert(Role.REVIEWER),
            specialist=expert(Role.REVIEWER),
            third=expert(Role.REVIEWER),
            fourth=expert(Role.REVIEWER),
            colleague=expert(Role.REVIEWER, employer_mark="1" * 64),
            manager=live.invite(Role.MANAGER),
        )


@dataclass
class Walk:
    """One walk through the pages, with pictures when a folder for them is given."""

    live: Live
    chrome: Browser
    people: People
    folder: Path
    pictures: Path | None = None
    javascript: bool = True
    task: str = ""
    checked: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    pages: dict[str, Page] = field(default_factory=dict)

    @contextmanager
    def as_(self, member: Member) -> Iterator[Page]:
        """One person's own browser profile, inside already and at the first page; it stays open for the next time."""
        if member.id in self.pages:
            page = self.pages[member.id]
            page.goto(self.live.address)
        else:
            context = self.chrome.new_context(
                viewport={"width": 1366, "height": 900}, java_script_enabled=self.javascript, reduced_motion="reduce"
            )
            page = self.pages[member.id] = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(self.live.link(member))
            page.get_by_role("button").first.click()
        yield page

    def look(self, page: Page, name: str) -> None:
        """Check a page for accessibility and keep its picture."""
        self.checked.append(name)
        if self.javascript:
            self.violations += [f"{name}: {fault}" for fault in faults(page)]
        if self.pictures:
            page.screenshot(path=self.pictures / f"{name}.png")

    def open(self, page: Page, ending: str = "") -> None:
        page.goto(f"{self.live.address}/tasks/{self.task}{ending}")

    def write(self) -> None:
        """The author writes a draft with its files, saves it, and submits it."""
        with self.as_(self.people.author) as page:
            page.get_by_role("button", name="Write a new task").click()
            self.task = page.url.split("/")[-2]
            page.get_by_label("Title").fill(TITLE)
            page.get_by_label("Sector").fill("Professional, Scientific, and Technical Services")
            page.get_by_label("The brief").fill(BRIEF)
            page.locator("textarea[name=onet_tasks]").fill("Prepare detailed reports on audit findings.")
            ledger = self.folder / "ledger.csv"
            ledger.write_text("month,orders\nApril,41\nMay,37\nJune,52\n")
            page.locator("input[name=add_reference]").set_input_files(ledger)
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_text("Saved at")).to_be_visible()
            expect(page.get_by_text("It needs your own deliverable.")).to_be_visible()
            page.locator("input[name=add_expert]").set_input_files(make_memo(self.folder / "memo.docx", total="120"))
            page.get_by_label("Hours it takes an expert").fill("3")
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_role("heading", name="Screening suggests")).to_be_visible()
            self.look(page, "review-draft")
            page.get_by_role("button", name="Submit for review").click()
            expect(page.get_by_role("heading", level=1)).to_contain_text(TITLE)
            expect(page.get_by_text("Not screened yet")).to_be_visible()

    def screen(self) -> None:
        """The worker makes the newest draft visible and screens it."""
        assert screen_next_draft(self.live.site, lambda: False)
        assert not screen_next_draft(self.live.site, lambda: False)

    def refuse(self) -> None:
        """Neither the author nor a colleague is offered a review."""
        with self.as_(self.people.author) as page:
            self.open(page)
            expect(page.get_by_role("button", name="Take the review")).to_have_count(0)
            expect(page.get_by_role("button", name="Hand in the review")).to_have_count(0)
        with self.as_(self.people.colleague) as page:
            self.open(page)
            expect(page.get_by_text("works where its author works")).to_be_visible()
            expect(page.get_by_role("button", name="Take the review")).to_have_count(0)

    def review(self, reviewer: Member, *, changes: bool = False, look: bool = False) -> None:
        with self.as_(reviewer) as page:
            page.get_by_role("link", name=TITLE).first.click()
            page.get_by_role("button", name="Take the review").click()
            for name, score in (("Difficulty", 3), ("Representativeness", 4), ("Quality", 5), ("Time", 4)):
                page.get_by_role("group", name=name).get_by_label(str(score), exact=True).check()
            for yes in page.locator("#your-review").get_by_label("yes", exact=True).all():
                yes.check()
            page.get_by_label("Your reasons").fill(
                "The total on the second page does not agree." if changes else "Sound work."
            )
            page.get_by_label("changes requested" if changes else "pass", exact=True).check()
            if look:
                self.look(page, "review-task")
            page.get_by_role("button", name="Hand in the review").click()
            expect(page.get_by_role("button", name="Hand in the review")).to_have_count(0)

    def comment(self) -> str:
        """The fourth reviewer pins a comment to page 2 of the docx, by keyboard."""
        with self.as_(self.people.fourth) as page:
            self.open(page)
            memo = page.get_by_role("region", name="expert/memo.docx")
            summary = memo.get_by_text("Comment on page 2", exact=True)
            summary.focus()
            page.keyboard.press("Enter")
            form = memo.locator("form", has=page.locator("input[name=page][value='2']"))
            form.get_by_label("Where").select_option("upper third")
            form.get_by_label("Comment on page 2").fill("41, 37 and 52 make 130, not 120.")
            form.get_by_role("button", name="Keep the comment").focus()
            page.keyboard.press("Enter")
            row = memo.locator(".page-row", has=page.get_by_alt_text("memo.docx, page 2"))
            expect(row.get_by_text("41, 37 and 52 make 130")).to_be_visible()
            expect(row.locator("svg.boxes rect")).to_have_count(1)
            self.look(page, "review-comment")
            return str(row.get_attribute("id"))

    def revise(self) -> None:
        """The author answers the comment and submits a second version."""
        with self.as_(self.people.author) as page:
            self.open(page)
            thread = page.get_by_role("article", name=f"Comment by {self.people.fourth.code_name}")
            thread.get_by_text("Answer", exact=True).first.click()
            thread.get_by_label("Answer to").fill("Mended in the next version.")
            thread.get_by_role("button", name="Answer").click()
            page.get_by_role("button", name="Revise the draft").click()
            page.locator("input[name=add_expert]").set_input_files(make_memo(self.folder / "memo.docx", total="130"))
            page.get_by_label("What is new in this version").fill("The total is right now.")
            page.get_by_role("button", name="Submit for review").click()
            expect(page.get_by_text("New in version 2:")).to_be_visible()

    def compare(self) -> None:
        with self.as_(self.people.fourth) as page:
            self.open(page, "/differences")
            expect(page.locator(".diff del").get_by_text("total is 120").first).to_be_visible()
            expect(page.locator(".diff ins").get_by_text("total is 130").first).to_be_visible()
            expect(page.get_by_alt_text("Page 2 of expert/memo.docx: what differs is dark")).to_be_visible()
            page.wait_for_load_state("networkidle")
            self.look(page, "review-versions")

    def resolve(self) -> None:
        with self.as_(self.people.fourth) as page:
            self.open(page)
            thread = page.get_by_role("article", name=f"Comment by {self.people.fourth.code_name}")
            thread.get_by_text("Answer", exact=True).first.click()
            thread.get_by_role("button", name="Resolve").click()
            expect(page.get_by_text("· resolved")).to_be_visible()

    def accept(self) -> None:
        with self.as_(self.people.manager) as page:
            self.open(page)
            page.get_by_role("button", name="Accept into the bank").click()
            expect(page.locator(".title")).to_contain_text("Accepted")

    def board(self, lane: str, *, holder: str | None = None, look: bool = False) -> None:
        """The board shows the task in a lane, and who holds it."""
        with self.as_(self.people.manager) as page:
            page.goto(f"{self.live.address}/review")
            card = page.get_by_role("region", name=lane).get_by_role("article").filter(has_text=TITLE)
            expect(card).to_have_count(1)
            if holder:
                expect(card).to_contain_text(f"{holder} for")
            if look:
                self.look(page, "review-board")

    def history(self) -> list[str]:
        with self.as_(self.people.manager) as page:
            self.open(page, "/history")
            self.look(page, "review-history")
            told = [str(row.inner_text()) for row in page.locator("tbody tr td:nth-of-type(2)").all()]
            page.goto(f"{self.live.address}/review/people")
            self.look(page, "review-people")
            return told


EXPECTED = [
    "submitted version 1",
    "screened version 1",
    "reviewed version 1 at the stage “generalist”: pass",
    "reviewed version 1 at the stage “occupation expert”: pass",
    "commented on expert/memo.docx, page 2 of version 1",
    "reviewed version 1 at the stage “final loop”: changes requested",
    "answered a comment",
    "submitted version 2",
    "screened version 2",
    "resolved a comment",
    "reviewed version 2 at the stage “final loop”: pass",
    "accepted (version 2)",
]


def walk_to_acceptance(walk: Walk) -> list[str]:
    """The whole way; returns the history as the page tells it."""
    people = walk.people
    walk.write()
    walk.board("Screening")
    walk.screen()
    walk.refuse()
    walk.review(people.generalist, look=True)
    walk.review(people.specialist)
    place = walk.comment()
    assert place.endswith("-p2"), place
    walk.review(people.third, changes=True)
    walk.board("Changes requested", holder=people.author.code_name)
    walk.revise()
    walk.screen()
    walk.compare()
    walk.resolve()
    walk.review(people.third)
    walk.board("Ready to accept", look=True)
    walk.accept()
    walk.board("Accepted")
    told = walk.history()
    for page in walk.pages.values():
        page.context.close()
    return told
