"""Shell completion: the script that a shell reads, and where bash, zsh and fish look for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click
from click.shell_completion import get_completion_class

from dalembert.errors import DalembertError
from dalembert.foundation.atomic_write import write_text

COMPLETION_VARIABLE: Final = "_DALEMBERT_COMPLETE"
# {shell: (file of the script, file that the shell reads at its start, lines to add to that)}
_PLACES: Final = {
    "bash": (
        ".bash_completions/dalembert.sh",
        ".bashrc",
        "source '{script}'",
    ),
    "zsh": (
        ".zfunc/_dalembert",
        ".zshrc",
        "fpath+=~/.zfunc; autoload -Uz compinit; compinit",
    ),
    "fish": (".config/fish/completions/dalembert.fish", None, ""),
}


def show_completion(group: click.Command) -> str:
    """The script for the shell that the variable SHELL names."""
    completion = get_completion_class(_shell())
    assert completion is not None
    return completion(group, {}, "dalembert", COMPLETION_VARIABLE).source()


def install_completion(group: click.Command) -> str:
    """Write the script into the home directory and let the shell read it; says where."""
    shell, home = _shell(), Path.home()
    place, start, line = _PLACES[shell]
    script = home / place
    script.parent.mkdir(parents=True, exist_ok=True)
    write_text(script, show_completion(group))
    if start is not None:
        line, settings = line.format(script=script), home / start
        text = settings.read_text(encoding="utf-8") if settings.exists() else ""
        if line not in text.splitlines():
            separator = "" if not text or text.endswith("\n") else "\n"
            write_text(settings, f"{text}{separator}{line}\n")
    return (
        f"{shell} completion installed in {script}\n"
        "Completion will take effect once you restart the terminal"
    )


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in _PLACES:
        message = (
            f"completion is available for {', '.join(_PLACES)}; the variable SHELL names "
            f"{name or 'no shell'}. Set it, such as SHELL=bash dalembert --show-completion"
        )
        raise DalembertError(message)
    return name
