"""Arguments and options as the commands declare them; typer is opened only by those who need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Argument:
    """What stands at its place in the line."""

    metavar: str
    help: str
    autocompletion: Callable[[str], list[str]] | None = None


@dataclass(frozen=True, init=False)
class Option:
    """What is named: by the names given, or by that of the parameter."""

    names: tuple[str, ...]
    metavar: str | None
    help: str
    show_default: bool | str

    def __init__(self, *names: str, help: str, metavar: str | None = None, show_default: bool | str = True) -> None:  # noqa: A002 - as in typer
        for name, value in (("names", names), ("metavar", metavar), ("help", help), ("show_default", show_default)):
            object.__setattr__(self, name, value)


# {what is typed: the module of `cli` that holds the function, and its name there}
COMMANDS = {
    "gallery": ("gallery", "gallery"),
    "derive": ("derive", "derive"),
    "agree": ("agree", "agree"),
    "report": ("report", "report"),
    "hybrid": ("hybrid", "hybrid"),
    "equilibrium": ("equilibrium", "equilibrium"),
    "member": ("member", "member"),
    "modes": ("equilibrium", "modes"),
    "compare": ("compare", "compare"),
    "constraints": ("constraints", "constraints"),
    "export": ("export", "export"),
    "integrals": ("integrals", "integrals"),
    "view": ("view", "view"),
    "simulate": ("simulate", "simulate"),
    "study": ("study", "study"),
    "fit": ("fit", "fit"),
    "check": ("model_files", "check"),
    "new": ("model_files", "new"),
    "convert": ("model_files", "convert"),
    "schema": ("model_files", "schema"),
}


def function_of(command: str) -> Callable[..., None]:
    """The function of a command; only its module is opened."""
    from importlib import import_module

    module, name = COMMANDS[command]
    function: Callable[..., None] = getattr(import_module(f"dalembert.cli.{module}"), name)
    return function
