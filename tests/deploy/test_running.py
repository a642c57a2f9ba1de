"""The services' own command lines, run as systemd would: on PostgreSQL, several web processes, a worker, a backup."""

from __future__ import annotations

import os
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path

import httpx

from guildhall.deploy.plan import write_files
from guildhall.store.backup import check_backup
from guildhall.store.database import HEAD
from tests.deploy.test_files import plan, units
from tests.postgres import Server
from tests.waiting import fetch
from tests.web.live import free_port
from tests.web.processes import Process, guildhall, wait_until, wait_until_ready

URL = "postgresql://guildhall@localhost/guildhall"


def test_the_services_come_up_answer_and_stop(postgres: Server, tmp_path: Path) -> None:
    for name in ("workspace", "backups"):
        (tmp_path / name).mkdir()
    write_files(plan(workspace=tmp_path / "workspace", backups=tmp_path / "backups"), tmp_path / "out", secret=str)
    command = {name: sections["Service"] for name, sections in units(tmp_path / "out") if "Service" in sections}
    environment = {"GUILDHALL_WORKSPACE": str(tmp_path / "workspace"), "GUILDHALL_LOG_FORMAT": "json"}
    assert {f"{name}={value}" for name, value in environment.items()} == set(
        command["guildhall-worker.service"]["Environment"]
    )

    def once(unit: str) -> str:
        [line] = command[unit]["ExecStart"]
        words = line.replace(URL, postgres_url).split()
        ran = subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    postgres_url = postgres.new_database()
    for _ in range(2):  # at every start, whether there is a workspace or not
        assert f"schema {HEAD}" in once("guildhall-setup.service")
    with ExitStack() as running:

        def start(unit: str, number: int = 0) -> Process:
            [line] = command[unit]["ExecStart"]
            words = [re.sub(r"=8\d+(%i)?$", f"={free_port()}", word) for word in line.split()[1:]]
            made = running.enter_context(guildhall(*words, folder=tmp_path, environment=environment))
            ports = [int(word.partition("=")[2]) for word in words if re.match("--(port|metrics)=", word)]
            made.port = ports[0]
            return made

        web = [start("guildhall-web@.service", number) for number in range(2)]
        worker = start("guildhall-worker.service")
        for process in web:
            wait_until_ready(process)
            shown = fetch(f"http://127.0.0.1:{process.port}/enter")
            assert shown.headers["strict-transport-security"] and "hall.example.org" not in shown.text
        wait_until(lambda: _metrics(worker.port), worker)
        once("guildhall-backup.service")
        for process in (*web, worker):
            assert process.stop() == 0, process.words()
    [backup] = (tmp_path / "backups").iterdir()
    assert check_backup(backup).database == "postgresql"


def _metrics(port: int) -> bool:
    try:
        return "guildhall_database_up 1.0" in fetch(f"http://127.0.0.1:{port}/metrics").text
    except httpx.HTTPError:
        return False
