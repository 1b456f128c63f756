"""What the studio leaves to the dalembert command, in a process of its own: programs of the
user, pages, exports.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dalembert.errors import Unknown
from dalembert.foundation.atomic_write import write_text

LIMIT: Final = 120.0


def run_command(
    arguments: Sequence[str], *, limit: float = LIMIT, folder: Path | None = None
) -> str:
    """What `dalembert ARGUMENTS` prints; its own sentence as an error if it fails or takes too
    long.
    """
    command = [sys.executable, "-m", "dalembert", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - the command of this package
            command,
            capture_output=True,
            timeout=limit,
            cwd=folder,
            check=False,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        msg = f"stopped after {limit:g} s: dalembert {' '.join(arguments)[:80]} takes longer"
        raise Unknown(msg) from None
    # 1 and 3: principles disagree, or a proof stays undecided; the result is there all the same
    if done.returncode not in (0, 3) and not (done.returncode == 1 and done.stdout):
        raise Unknown(done.stderr.strip()[-2000:] or f"dalembert ended with code {done.returncode}")
    return done.stdout


def model_text(system: str, *, limit: float = LIMIT, folder: Path | None = None) -> str:
    """A system of the gallery, or of a program of the user, as the text of a model file."""
    return run_command(["convert", system, "toml"], limit=limit, folder=folder)


def write_page(text: str, file: str, target: Path, *, limit: float = LIMIT) -> None:
    """The page of a model text as the file `target`."""
    with tempfile.TemporaryDirectory() as folder:
        model = _model_file(Path(folder), text, file)
        run_command(["report", model.name, "-o", str(target)], limit=limit, folder=Path(folder))


def write_export(text: str, file: str, style: str, target: Path, *, limit: float = LIMIT) -> None:
    """The equations of a model text for another tool, in the folder `target`."""
    with tempfile.TemporaryDirectory() as folder:
        model = _model_file(Path(folder), text, file)
        arguments = ["export", model.name, "--to", style, "-o", str(target)]
        run_command(arguments, limit=limit, folder=Path(folder))


def _model_file(folder: Path, text: str, file: str) -> Path:
    """A text as a file whose name cannot be taken for an option."""
    path = folder / (Path(file).name.lstrip("-") or "model.toml")
    write_text(path, text)
    return path
