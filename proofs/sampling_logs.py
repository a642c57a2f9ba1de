"""Sampling: Inspect's own tools read the logs, and collection in the sandbox withstands what other harnesses met."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections import Counter
from pathlib import Path

from tests.sampling.hostile_trees import TREES
from tests.sampling.test_collection import counted_by, lying_in

from guildhall.domain.submissions import StopReason, Submission
from guildhall.domain.tasks import FileRef, Task
from guildhall.engine.sandboxes import Sandbox
from guildhall.engine.scripted import Answer, ToolUse, Turn, scripted
from guildhall.engine.terms import Terms
from guildhall.sampling.authors import AuthorPlan
from guildhall.sampling.elicitation import Condition, Tools
from guildhall.sampling.plan import plan_samples
from guildhall.sampling.running import run_samples
from guildhall.store.workspace import Workspace
from proofs import Figures, proof
from proofs._servers import free_port, running

INSPECT = Path(sys.executable).parent / "inspect"

ABUSE = """
mkdir -p deliverables/deep/er work
echo real > deliverables/report.md
echo real > deliverables/deep/er/appendix.md
cp reference_files/input.txt deliverables/copied.txt
for n in $(seq 1 37); do echo $n > work/draft_$n.txt; done
ln -s /etc/passwd deliverables/passwd.txt
truncate -s 300M deliverables/huge.bin; truncate -s 3G deliverables/huger.bin
printf 'print(1)\\n# CONFIDENCE[92]\\n' > deliverables/run.py
echo one > deliverables/Same.txt; echo two > deliverables/same.txt
mkfifo deliverables/pipe
touch "deliverables/$(printf 'bad\\033name')"
mkdir -p deliverables/__pycache__; echo x > deliverables/__pycache__/run.pyc
ls -la deliverables
"""
HANDED_IN = ["deliverables", "deliverables/never_made.pdf", "../../etc/shadow"]


@scripted("hoarder")
def hoarder(turn: Turn) -> Answer:
    """Does everything collection has rules for, and submits it all."""
    if turn.number == 0:
        return Answer(text="", tools=(ToolUse("bash", {"command": ABUSE}),))
    text = "Everything is in deliverables, see also summary.docx.\n\nCONFIDENCE[64]"
    return Answer(text="", tools=(ToolUse("submit", {"text": text, "files": HANDED_IN}),))


@proof(
    "sampling-collection",
    "in the sandbox, echoed inputs, 37 strays, nested folders, a link to /etc/passwd, a 3 GB sparse file, a confidence "
    "inside a script and name clashes are each handled by rule and recorded",
    budget_s=300,
)
def collection() -> Figures:
    submission = _sampled("scripted/hoarder")
    rules = Counter(problem.rule for problem in submission.problems)
    names = sorted(file.name for file in submission.files)
    assert names == ["Same.txt", "bad%1Bname", "deep/er/appendix.md", "report.md", "run.py", "same (2).txt"], names
    expected = {
        "echoed input": 1,
        "link": 1,
        "too large": 2,
        "special file": 1,
        "name written anew": 1,
        "confidence inside a file": 1,
        "name clash": 1,
        "promised but not delivered": 2,
        "unsafe path": 1,
        "stray files": 1,
    }
    assert rules == expected, rules
    strays = next(problem.words for problem in submission.problems if problem.rule == "stray files")
    assert strays.startswith("37 files")
    assert submission.confidence == 64 and "CONFIDENCE" not in submission.text
    return {"files": names, "rules": dict(rules)}


BEYOND_A_ROOM = "a tree deeper than rooms allow"


@scripted("wrecker")
def wrecker(turn: Turn) -> Answer:
    """Leaves the hostile tree its brief names, and submits the whole folder."""
    if turn.number == 0:
        tree = turn.prompt.partition("TREE: ")[2].splitlines()[0]
        return Answer(text="", tools=(ToolUse("python", {"code": TREES[tree]}),))
    return Answer(text="", tools=(ToolUse("submit", {"text": "Done.", "files": ["deliverables"]}),))


@proof(
    "sampling-hostile-trees",
    "40 hostile work folders (names of every class of bytes, archives of each compression damaged, loops, pipes, shut "
    "and deep folders) from real rooms: every item ends, every readable file is kept, every other is counted; of a "
    "tree deeper than a room allows nothing is kept, and it says so",
    budget_s=600,
)
def hostile_trees() -> Figures:
    with tempfile.TemporaryDirectory() as name, Workspace.create(Path(name) / "ws") as workspace:
        tasks = [
            Task(id=f"tree-{number}", sector="Information", occupation="Editors", brief=f"TREE: {tree}\n")
            for number, tree in enumerate(TREES)
        ]
        author = AuthorPlan(
            name="wrecker", model="scripted/wrecker", condition=Condition.PLAIN, tools=Tools.CODE, samples=1
        )
        run = run_samples(
            plan_samples(tasks, [author]), workspace=workspace, terms=Terms(run="trees"), sandbox=Sandbox()
        )
        made = {submission.task: submission for submission in workspace.store.find(Submission)}
        assert not run.left and len(made) == len(TREES) >= 40, (run, len(made))
        seen: Counter[str] = Counter()
        for number, tree in enumerate(TREES):
            submission = made[f"tree-{number}"]
            built = Path(name) / str(number)
            built.mkdir()
            subprocess.run([sys.executable, "-c", TREES[tree]], cwd=built, check=True)
            lying, closed = lying_in(built / "deliverables")
            kept = Counter(str(file.digest) for file in submission.files)
            left_out = sum(counted_by(problem) for problem in submission.problems)
            if tree == BEYOND_A_ROOM:
                assert submission.stop is StopReason.NOTHING_DELIVERED and left_out == 1, submission
            else:
                assert submission.stop is StopReason.FINISHED and not kept - lying, (tree, submission)
                assert (lying - kept).total() + closed == left_out, (tree, submission.problems)
            seen += Counter(problem.rule for problem in submission.problems) + Counter(kept=sum(kept.values()))
    return {"trees": len(TREES), **seen}


@proof(
    "sampling-logs",
    "`inspect view` lists and opens the logs of a run, and `inspect score` scores them again from the log alone",
    budget_s=300,
)
def logs() -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _sampled("scripted/careless", folder=folder, tools="none")
        (log,) = (folder / "ws" / "logs").glob("*.eval")
        listed, opened = _viewed(log)
        command = [
            str(INSPECT),
            "score",
            str(log),
            "--scorer",
            "guildhall/delivered",
            "--action",
            "append",
            "--overwrite",
        ]
        scored = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert scored.returncode == 0, scored.stderr[-1500:]
        from inspect_ai.log import read_eval_log

        again = read_eval_log(str(log))
        scores = [score.value for sample in again.samples or [] for score in (sample.scores or {}).values()]
    assert listed and opened and scores == [1, 1], (listed, opened, scores)
    return {"listed": listed, "opened": opened, "scores": scores}


def _viewed(log: Path) -> tuple[bool, bool]:
    """Whether Inspect's viewer lists the log and serves its contents."""
    port = free_port()
    command = [str(INSPECT), "view", "start", "--log-dir", str(log.parent), "--host", "127.0.0.1", "--port", str(port)]
    with running(command, f"http://127.0.0.1:{port}/"):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/logs", timeout=30) as answer:
            listing = json.load(answer)
        names = [entry["name"] for entry in listing["files"]]
        found = next((name for name in names if name.endswith(log.name)), None)
        if found is None:
            return False, False
        address = f"http://127.0.0.1:{port}/api/logs/{urllib.parse.quote(found, safe='')}"
        with urllib.request.urlopen(address, timeout=30) as answer:
            return True, "eval" in json.load(answer)


def _sampled(model: str, *, folder: Path | None = None, tools: str = "code") -> Submission:
    """One submission of one author to one task, made for true."""
    with tempfile.TemporaryDirectory() as name, Workspace.create((folder or Path(name)) / "ws") as workspace:
        given = FileRef(name="input.txt", digest=workspace.blobs.put(b"the input\n"), size=10)
        task = Task(id="t", sector="Information", occupation="Editors", brief="Do it.", reference_files=(given,))
        author = AuthorPlan(name="one", model=model, condition=Condition.PLAIN, tools=Tools(tools), samples=1)
        # As the sandbox comes, it would stop a file of 3 GB itself; here it is let through to collection.
        roomy = Path(name) / "roomy.toml"
        roomy.write_text("file_mb = 4096\nwork_mb = 8192\n")
        items = plan_samples([task], [author])
        run_samples(items, workspace=workspace, terms=Terms(run="one"), sandbox=Sandbox(config=roomy))
        (made,) = workspace.store.find(Submission)
        return made
