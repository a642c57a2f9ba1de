"""The files for production: well-formed, true to our command line, safe with secrets."""

from __future__ import annotations

import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import typer
import yaml
from pydantic import ValidationError

from guildhall.cli.main import COMMANDS, app
from guildhall.deploy.plan import GRACE_S, RAY_VERSION, STOP_WITHIN_S, Deployment, write_files
from guildhall.errors import InputError
from guildhall.observe.metrics import Metrics
from guildhall.store.workspace import Workspace
from guildhall.web.metrics import WorkspaceFigures
from tests.conftest import ROOT
from tests.deploy.compose_model import Compose, without_extensions

SECRETS = ["database-password-1", "metrics-token-2"]
PROGRAM = PurePosixPath(sys.executable).parent / "guildhall"


def plan(**more: Any) -> Deployment:
    facts = {"address": "https://hall.example.org", "files_address": "https://files.example.net", "version": "1.2.3"}
    return Deployment.model_validate(facts | {"processes": 3, "program": PROGRAM} | more)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("deploy") / "out"
    secrets = iter(SECRETS)
    write_files(plan(), out, secret=lambda: next(secrets))
    return out


@pytest.fixture(scope="module")
def compose(made: Path) -> Compose:
    return Compose.model_validate(without_extensions(yaml.safe_load((made / "compose/compose.yaml").read_text())))


def units(made: Path) -> Iterator[tuple[str, dict[str, dict[str, list[str]]]]]:
    """Each unit's sections; a setting may be given several times."""
    for file in sorted((made / "systemd").glob("guildhall*[.@]*")):
        if file.suffix == ".env":
            continue
        sections: dict[str, dict[str, list[str]]] = {}
        for line in file.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                current = sections.setdefault(line.strip("[]"), {})
            else:
                name, equals, value = line.partition("=")
                assert equals and re.fullmatch(r"[A-Z][A-Za-z]+", name), f"{file.name}: {line}"
                current.setdefault(name, []).append(value)
        yield file.name, sections


def invocations(made: Path, compose: Compose) -> Iterator[tuple[str, list[str]]]:
    """Every call of our command line in every file."""
    for name, service in compose.services.items():
        if service.image.startswith("guildhall:") and not service.entrypoint:
            assert service.command is not None
            yield name, service.command
    for name, sections in units(made):
        for command in sections.get("Service", {}).get("ExecStart", []):
            program, *words = shlex.split(command)
            assert program == str(PROGRAM)
            yield name, [word.replace("%i", "0") for word in words]
    texts = [made / "README.md", made / "compose/compose.yaml", made / "compose/Dockerfile"]
    for file in texts:
        for found in re.findall(r"(?:^|[`\s])guildhall ((?:[a-z-]+ )+[^`;\n]*)", file.read_text()):
            if found.split()[0] in COMMANDS:
                yield file.name, shlex.split(found.replace("...", ""))


def test_every_command_and_option_in_the_files_is_one_of_ours(made: Path, compose: Compose) -> None:
    root: Any = typer.main.get_command(app)
    seen = set()
    for place, words in invocations(made, compose):
        command: Any = root
        while hasattr(command, "list_commands"):
            context = command.context_class(command, info_name="guildhall")
            command, words = command.get_command(context, words[0]), words[1:]
            assert command is not None, place
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        for word in words:
            assert not word.startswith("-") or word.partition("=")[0] in known, f"{place}: {word}"
        seen.add(command.name)
    assert seen >= {"serve", "worker", "init", "make", "invite"}


def test_every_variable_of_ours_in_the_files_is_one_the_code_reads(made: Path) -> None:
    code = "\n".join(file.read_text() for file in (ROOT / "src/guildhall").rglob("*.py"))
    named = {
        name for file in made.rglob("*") if file.is_file() for name in re.findall(r"GUILDHALL_\w+", file.read_text())
    }
    assert {"GUILDHALL_WORKSPACE", "GUILDHALL_LOG_FORMAT", "GUILDHALL_METRICS_TOKEN"} <= named
    for name in named:
        assert f'"{name}"' in code, name


def test_the_compose_file_has_every_part_and_shuts_ours_in(compose: Compose) -> None:
    ours = {name: one for name, one in compose.services.items() if one.image == "guildhall:1.2.3"}
    assert set(ours) == {"setup", "web-0", "web-1", "web-2", "worker", "backup"}
    assert set(compose.services) - set(ours) == {"postgres", "proxy", "prometheus"}
    for service in ours.values():
        assert service.read_only and service.cap_drop == ["ALL"] and service.env_file == ["guildhall.env"]
        assert service.ports == [] and service.stop_grace_period == f"{GRACE_S}s"
    published = {port for service in compose.services.values() for port in service.ports}
    assert published == {"80:80", "443:443", "443:443/udp", "127.0.0.1:9090:9090"}
    assert "back" not in compose.services["proxy"].networks, "the proxy cannot reach the database"
    assert GRACE_S > STOP_WITHIN_S + 10


def test_the_proxy_whose_word_is_taken_is_the_one_that_stands_there(compose: Compose) -> None:
    networks = compose.services["proxy"].networks
    assert isinstance(networks, dict)
    named = networks["front"].ipv4_address
    for number in range(3):
        assert f"--trusted-proxy={named}" in (compose.services[f"web-{number}"].command or [])
    ipam = compose.networks["front"].ipam
    assert ipam and ip_address(named) in ip_network(ipam.config[0].subnet)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"imgae": "x:1"},
        {"networks": ["nowhere"]},
        {"depends_on": {"postgres": {"condition": "healthy"}}},
        {"ports": [80]},
    ],
)
def test_the_model_of_compose_files_refuses_what_is_wrong(compose: Compose, spoilt: dict[str, Any]) -> None:
    document = compose.model_dump(exclude_unset=True)
    document["services"]["worker"] |= spoilt
    with pytest.raises(ValidationError):
        Compose.model_validate(document)


def test_units_are_accepted_by_systemd(made: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    names = [name.replace("@.", "@0.") for name, _ in units(made)]
    ran = _systemd(made, "verify", "--man=no", *names)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr


def test_a_misspelt_setting_is_not_accepted_by_systemd(made: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    shutil.copytree(made / "systemd", tmp_path / "systemd")
    unit = tmp_path / "systemd/guildhall-worker.service"
    unit.write_text(unit.read_text().replace("KillMode=", "KilMode="))
    assert "KilMode" in _systemd(tmp_path, "verify", "--man=no", unit.name).stderr


@pytest.mark.parametrize(
    ("unit", "most"), [("guildhall-web@0", 20), ("guildhall-backup", 20), ("guildhall-worker", 50)]
)
def test_services_are_shut_in(made: Path, unit: str, most: int) -> None:
    """systemd's own measure of exposure, from 0 to 100; the worker must keep namespaces for the rooms around files."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    ran = _systemd(made, "security", "--offline=yes", "--no-pager", f"--threshold={most}", f"{unit}.service")
    assert ran.returncode == 0, ran.stdout[-300:] + ran.stderr


def _systemd(made: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], cwd=made / "systemd", capture_output=True, text=True, check=False
    )


def test_the_proxy_reaches_every_web_process_at_both_its_ports(made: Path, compose: Compose) -> None:
    ports = {"compose": ("web-{}:8460", "web-{}:8461"), "systemd": ("127.0.0.1:846{}", "127.0.0.1:847{}")}
    for folder, (pages, deliverables) in ports.items():
        text = (made / folder / "Caddyfile").read_text()
        assert text.count("{") == text.count("}") == 4
        sites = dict(re.findall(r"^(\S+) \{\n\treverse_proxy ([^{]+) \{", text, re.MULTILINE))
        assert sites == {
            "hall.example.org": " ".join(pages.format(number) for number in range(3)),
            "files.example.net": " ".join(deliverables.format(number) for number in range(3)),
        }
    for name, words in invocations(made, compose):
        if words[0] == "serve":
            assert {"--port=8460", "--address=https://hall.example.org"} <= set(words), name


def test_prometheus_asks_every_process_and_shows_the_token_where_one_is_needed(made: Path, compose: Compose) -> None:
    expected = {
        "compose": ["web-0:8462", "web-1:8462", "web-2:8462", "worker:8462"],
        "systemd": ["127.0.0.1:8480", "127.0.0.1:8481", "127.0.0.1:8482", "127.0.0.1:8490"],
    }
    for folder, targets in expected.items():
        document = yaml.safe_load((made / folder / "prometheus.yml").read_text())
        assert set(document) == {"global", "rule_files", "scrape_configs"} and document["rule_files"] == ["alerts.yml"]
        [job] = document["scrape_configs"]
        assert job["static_configs"] == [{"targets": targets}]
        assert ("authorization" in job) == (folder == "compose")
        assert set(job) <= {"job_name", "authorization", "static_configs"}
    mounted = compose.services["prometheus"].volumes
    assert "./metrics.token:/etc/prometheus/metrics.token:ro" in mounted


def test_alerts_speak_only_of_metrics_that_are_told(made: Path, tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        metrics = Metrics()
        metrics.registry.register(WorkspaceFigures(workspace.store, folder=workspace.path))
        told = {sample for family in metrics.registry.collect() for sample in _samples(family)}
    told |= {"guildhall_workspace_outbox", "guildhall_workspace_model_dollars_total", "up"}
    told |= {"guildhall_workspace_backup_age_seconds"}  # told once there are any
    [group] = yaml.safe_load((made / "alerts.yml").read_text())["groups"]
    assert len(group["rules"]) >= 7
    for rule in group["rules"]:
        assert set(rule) <= {"alert", "expr", "for", "annotations"}
        for name in re.findall(r"\bguildhall_\w+", rule["expr"]):
            assert name in told, name
        page = (ROOT / "docs/how-to/when-an-alarm-rings.md").read_text()
        assert f"`{rule['alert']}`" in page, "every alarm says what to do"


def _samples(family: Any) -> Iterator[str]:
    endings = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}.get(family.type, [""])
    return (f"{family.name}{ending}" for ending in endings)


def test_the_image_installs_what_the_machine_setup_installs(made: Path) -> None:
    setup = re.search(r"PACKAGES=\((.*?)\)", (ROOT / "scripts/setup").read_text(), re.DOTALL)
    assert setup
    wanted = {name for entry in re.findall(r'"[^"]+:([^":]+)"', setup[1]) for name in entry.split()}
    image = (made / "compose/Dockerfile").read_text()
    assert wanted - {"postgresql", "iproute2"} <= set(image.split())
    for file in re.findall(r"/source/(requirements/\S+)", image):
        assert "--hash=sha256:" in (ROOT / file).read_text()


def test_secrets_are_new_and_only_where_they_belong(made: Path) -> None:
    holders = {file.name for file in made.rglob("*") if file.is_file() and SECRETS[0] in file.read_text()}
    assert holders == {"guildhall.env", "database.env", "secrets.env"}
    holders = {file.name for file in made.rglob("*") if file.is_file() and SECRETS[1] in file.read_text()}
    assert holders == {"guildhall.env", "secrets.env", "metrics.token"}
    for folder, file in (("compose", "guildhall.env"), ("compose", "database.env"), ("kubernetes", "secrets.env")):
        assert stat.S_IMODE((made / folder / file).stat().st_mode) == 0o600
    for folder in ("compose", "systemd", "kubernetes"):
        assert stat.S_IMODE((made / folder).stat().st_mode) == 0o700


def test_nothing_is_overwritten_and_one_host_name_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="already"):
        write_files(plan(), made, secret=lambda: "x")
    for wrong in (
        {"files_address": "https://hall.example.org"},
        {"address": "http://hall.example.org"},
        {"processes": 0},
    ):
        with pytest.raises(ValidationError):
            plan(**wrong)
    command = [sys.executable, "-m", "guildhall", "deploy", "files", str(tmp_path / "o")]
    same = ["--address", "https://a.example.org", "--files-address", "https://a.example.org"]
    ran = subprocess.run([*command, *same], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "different host names" in ran.stderr and not (tmp_path / "o").exists()


def test_every_service_that_holds_work_says_where_it_was_not_run(made: Path) -> None:
    for name in ("compose/compose.yaml", "compose/Dockerfile", "README.md"):
        assert re.search("not (run|built)", (made / name).read_text(), re.IGNORECASE)


def test_the_kubernetes_files_name_only_what_is_there_and_use_our_own_commands(made: Path) -> None:
    """Shapes are held against the published schemas by hand when they change; not run here."""
    folder = made / "kubernetes"
    base = yaml.safe_load((folder / "kustomization.yaml").read_text())
    assert all((folder / name).exists() for name in [*base["resources"], base["secretGenerator"][0]["envs"][0]])
    found = [one for name in base["resources"] for one in yaml.safe_load_all((folder / name).read_text())]
    kinds = [one["kind"] for one in found]
    assert {"Job", "Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy", "Ingress"} <= set(kinds)
    for one in (one for one in found if one["kind"] in {"Job", "Deployment"}):
        pod = one["spec"]["template"]["spec"]
        [container] = pod["containers"]
        assert container["args"][0] in COMMANDS and container["resources"]["limits"]["memory"]
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        assert pod["terminationGracePeriodSeconds"] == GRACE_S and not pod["automountServiceAccountToken"]
        assert one["kind"] == "Job" or "livenessProbe" in container
        ports = {port["name"] for port in container.get("ports", ())}
        assert {
            probe[name]["port"]
            for probe in container.values()
            if isinstance(probe, dict)
            for name in probe
            if name in {"httpGet", "tcpSocket"}
        } <= ports
    ray = yaml.safe_load((folder / "ray-cluster.yaml").read_text())
    assert (
        ray["spec"]["rayVersion"] == RAY_VERSION
        and f"ray=={RAY_VERSION}" in (ROOT / "requirements/all.txt").read_text()
    )
