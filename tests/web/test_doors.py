"""The page that `guildhall demo --serve` opens: a door for each role, for the eyes of whoever owns the workspace."""

from __future__ import annotations

import re

from guildhall.cli.demo import DOORS, write_doors
from tests.web.live import Live


def test_each_door_lets_its_role_in_once_and_the_page_says_what_is_simulated(live: Live) -> None:
    first = write_doors(live.site, live.path).read_text()
    page = write_doors(live.site, live.path)
    words = page.read_text()
    assert page.stat().st_mode & 0o077 == 0, "its links let in whoever holds them"
    assert "<b>Simulated here:</b>" in words and "report.html" not in words, "no report is there to read"
    (live.path / "report").mkdir()
    (live.path / "report" / "report.html").write_text("a report")
    assert 'href="report/report.html"' in write_doors(live.site, live.path).read_text()
    links = re.findall(r'href="(http[^"]+)"', words)
    homes = []
    for link in links:
        visitor = live.client()
        entered = visitor.http.post(link.removeprefix(live.address), follow_redirects=True)
        assert entered.status_code == 200
        homes.append(entered.url.path)
        assert "used up" in live.client().get(link.removeprefix(live.address)).text, "a door opens once"
    assert homes == ["/sets", "/manage", "/tasks"] and len(DOORS) == 3
    assert set(links).isdisjoint(re.findall(r'href="(http[^"]+)"', first)), "each time new ones"
