"""A cluster that loses a node half-way does the same work, once; and what else may go wrong on one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from proofs import ROOT, Figures, NotRun, proof


@proof(
    "scale-ray",
    "Two Ray nodes, PostgreSQL and an S3 store: 2,000 judgments and 200 renders spread over both nodes, one node "
    "killed with SIGKILL half-way through each: all done, none twice, results identical to a local run.",
    budget_s=3600,
)
def a_node_is_killed_half_way() -> Figures:
    return _in_namespaces("proofs._cluster")


@proof(
    "scale-ray-faults",
    "Two Ray nodes, PostgreSQL and S3, started from a relative path: credentials missing on one node, a node killed, "
    "the database restarted, the head killed: every verdict once and equal to a local run, no call paid twice, no "
    "traceback; what the user was told is kept.",
    budget_s=1800,
)
def faults_on_a_cluster() -> Figures:
    return _in_namespaces("proofs._cluster_faults")


def _in_namespaces(module: str) -> Figures:
    apart = ["unshare", "-n", "-p", "--fork", "--kill-child", "--mount-proc", "--"]
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], check=False, capture_output=True).returncode:
        raise NotRun("needs a network and a process namespace of its own, which this machine does not give")
    with tempfile.TemporaryDirectory(prefix="gh-ray-") as folder:
        Path(folder).chmod(0o755)
        command = [*apart, sys.executable, "-m", module, folder]
        run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr[-4000:]
        figures: Figures = json.loads((Path(folder) / "figures.json").read_text())
    return figures
