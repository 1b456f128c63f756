"""The command in this process and in one of its own."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from dalembert.cli.command_line import app

SOURCES = str(Path(__file__).resolve().parents[2] / "src")


def run(*arguments: str, columns: int | None = None):
    """The command in this process: exit code, stdout and stderr; by default where there is no
    window.
    """
    width = None if columns is None else str(columns)
    return CliRunner(env={"COLUMNS": width, "NO_COLOR": None, "FORCE_COLOR": None}).invoke(
        app, list(arguments), prog_name="dalembert"
    )


def environment(**more: str) -> dict[str, str]:
    kept = {
        k: v
        for k, v in os.environ.items()
        if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "PYTHONIOENCODING")
    }
    return {**kept, "PYTHONPATH": SOURCES, **more}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "dalembert", *arguments]


def start(*arguments: str, cwd: Path | None = None, text: bool = True, **more: str):
    """The command in a process of its own."""
    encoding = {"encoding": "utf-8"} if text else {}
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(**more),
        timeout=120,
        **encoding,
    )
