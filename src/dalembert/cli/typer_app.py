"""The commands with their help, which is their docstring, completion and complaints, by typer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from dalembert.cli.command_registry import COMMANDS, Argument, Option, load_command
from dalembert.cli.exit_handling import run_and_flush, run_command

FIRST_STEPS = """\
dalembert: equations of motion, proofs that they agree, simulations.

  dalembert gallery                   list solved systems to try
  dalembert derive rolling-disk       derive equations of motion
  dalembert agree rolling-disk        prove that eleven principles agree
  dalembert simulate rolling-disk     simulate
  dalembert view rolling-disk         open the interactive page
  dalembert new pendulum > my.toml    start a model of your own

dalembert --help lists all commands, dalembert COMMAND --help explains one."""


class CommandGroup(TyperGroup):
    """All commands; errors are reported at one place."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        run_command(partial(super().main, *args, **{**kwargs, "standalone_mode": False}))

    def invoke(self, ctx: Any) -> Any:
        # before typer sees it: a closed pipe is no error
        return run_and_flush(partial(super().invoke, ctx))


app = typer.Typer(cls=CommandGroup, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"dalembert {version('dalembert')}")
        except PackageNotFoundError:
            typer.echo("dalembert, not installed")
        raise typer.Exit


def dalembert(
    ctx: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    r"""Equations of motion by eleven principles, proof that they agree, simulation.

    \b
    dalembert gallery                      list solved systems
    dalembert derive rolling-disk          derive the equations of motion
    dalembert derive rolling-disk --steps teach   explain the derivation
    dalembert agree rolling-disk           compare all principles exactly
    dalembert compare rolling-disk         measure the effort of each principle
    dalembert report rolling-disk          write one interactive page
    dalembert view rolling-disk            open that page in the browser
    dalembert constraints rolling-disk     count degrees of freedom
    dalembert hybrid beam-on-ball-joint    derive equations of flexible members
    dalembert member cantilever            modes, deflection, buckling of a member
    dalembert simulate rolling-disk        simulate
    dalembert export rolling-disk --to c -o disk   write equations for other tools
    dalembert equilibrium bead-on-hoop     find equilibria and their stability
    dalembert modes whipple-bicycle        linearize: eigenvalues and mode shapes
    dalembert new pendulum > model.toml    start a model file
    dalembert check model.toml             check a model file

    For a system of your own write a function that returns it, for example in file.py:

    \b
        import dalembert as da

    \b
        def pendulum():
            s = da.System("Pendulum", gravity=9.81)
            s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
            return s

    and give file and function:

    \b
    dalembert derive file.py:pendulum

    Exit codes: 0 success; 1 principles disagree or your program failed; 2 invalid request or
    refused description; 3 undecided, with the reason.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(FIRST_STEPS)


def _typer_command(function: Callable[..., None]) -> Callable[..., None]:
    """The same function, its declarations in typer's words."""

    def command(**given: Any) -> None:
        function(**given)

    signature, hints = inspect.signature(function), get_type_hints(function, include_extras=True)
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_typer_annotation(hints[p.name]))
        for p in signature.parameters.values()
    ]
    command.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _typer_annotation(hint: Any) -> Any:
    wanted, declared = get_args(hint)
    if isinstance(declared, Argument):
        parameter: Any = typer.Argument(
            metavar=declared.metavar, autocompletion=declared.autocompletion, help=declared.help
        )
    else:
        assert isinstance(declared, Option)
        parameter = typer.Option(
            *declared.names,
            metavar=declared.metavar,
            help=declared.help,
            show_default=declared.show_default,
        )
    return Annotated[wanted, parameter]


def _help(function: Callable[..., None]) -> str:
    r"""The docstring of a command; a line with \b alone keeps the lines below it as they are."""
    return (inspect.getdoc(function) or "").replace(r"\b", "\b")


app.callback(invoke_without_command=True, help=_help(dalembert))(dalembert)
for _name in COMMANDS:
    _function = load_command(_name)
    app.command(_name, help=_help(_function))(_typer_command(_function))
