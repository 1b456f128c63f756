"""Arguments and options as the commands declare them, and the module of each command."""

from __future__ import annotations

from collections.abc import Callable

from dalembert.foundation.deferred_dataclass import dataclass


@dataclass(frozen=True)
class Argument:
    """What stands at its place in the line."""

    metavar: str
    help: str
    autocompletion: Callable[[str], list[str]] | None = None


class Option:
    """What is named: by the names given, or by that of the parameter."""

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002
        metavar: str | None = None,
        show_default: bool | str = True,
    ) -> None:
        self.names, self.help, self.metavar, self.show_default = names, help, metavar, show_default


# {what is typed, and the name of its function: the module of `cli` that holds it}, or
# module:function where the function has another name
COMMANDS = {
    "gallery": "gallery",
    "derive": "derive",
    "agree": "agreement",
    "report": "report",
    "hybrid": "flexible_members",
    "equilibrium": "equilibrium",
    "member": "flexible_members",
    "modes": "equilibrium",
    "compare": "agreement",
    "constraints": "constraints",
    "export": "export",
    "integrals": "integrals",
    "view": "report",
    "simulate": "simulate",
    "study": "study",
    "periodic": "periodic",
    "continue": "periodic:continuation",
    "fit": "fit",
    "optimize": "optimize",
    "check": "model_files",
    "new": "model_files",
    "convert": "model_files",
    "schema": "model_files",
    "verify": "verify",
    "exercise": "exercise",
    "serve": "serve",
    "studio": "studio",
}


def load_command(command: str) -> Callable[..., None]:
    """The function of a command; only its module is opened."""
    from importlib import import_module

    module, _, name = COMMANDS[command].partition(":")
    function: Callable[..., None] = getattr(
        import_module(f"dalembert.cli.{module}"), name or command
    )
    return function
