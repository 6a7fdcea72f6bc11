"""A server of the app in its own process, as `make run` starts it, on a free port."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`with Server() as server:` serves the app at server.url until the block ends.

    script, from the repository's root, is what is served instead. The process has no network but
    the loopback: see no_network/sitecustomize.py.
    """

    def __init__(self, *options: str, script: str = "app.py", **environment: str) -> None:
        self._script = script
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._options = options
        self._attempts = Path(tempfile.mkstemp(prefix="attempts-")[1])
        # The app's own defaults, not what the tests set for themselves.
        ours = ("OMP_NUM_THREADS", "HF_HUB_OFFLINE", "TOKENIZERS_PARALLELISM")
        kept = {key: value for key, value in os.environ.items() if key not in ours}
        self._environment = {
            **kept,
            "PYTHONPATH": str(Path(__file__).parent / "no_network"),
            "NO_NETWORK_LOG": str(self._attempts),
            **environment,
        }

    def __enter__(self) -> Server:
        self._log = tempfile.TemporaryFile(mode="w+")
        command = [sys.executable, "-m", "streamlit", "run", self._script]
        address = ["--server.address", "127.0.0.1", "--server.port", str(self.port)]
        self.process = subprocess.Popen(
            [*command, *address, *self._options],
            cwd=ROOT,
            env=self._environment,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        try:
            self._wait_until_healthy()
        except BaseException as problem:
            self.__exit__(type(problem))
            raise
        return self

    def __exit__(self, problem: type[BaseException] | None = None, *_: object) -> None:
        if problem is not None:
            print(f"What the server printed:\n{self.log()[-6000:]}")
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()
        self._attempts.unlink()

    def _wait_until_healthy(self, seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=1):
                    return
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                time.sleep(0.02)
        raise RuntimeError(f"The server did not come up within {seconds:.0f} s.")

    def log(self) -> str:
        """What the server has printed so far."""
        self._log.flush()
        self._log.seek(0)
        return self._log.read()

    def outward_attempts(self) -> list[str]:
        """What the process tried to reach beyond this machine."""
        return self._attempts.read_text().splitlines()

    def mapped_libraries(self) -> set[str]:
        """Names of the shared libraries in the process's memory (Linux)."""
        lines = Path(f"/proc/{self.process.pid}/maps").read_text().splitlines()
        return {Path(line.split(maxsplit=5)[-1]).name for line in lines if ".so" in line}
