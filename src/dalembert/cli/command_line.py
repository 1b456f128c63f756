"""The one parser of command lines: each command is a function whose declarations click reads.

Its docstring is the help. Only the module of the given command is opened; click takes a fiftieth of
a second.
"""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

import click

from dalembert.cli.command_registry import COMMANDS, Argument, Option, load_command
from dalembert.cli.exit_handling import CommandExit, run_and_flush, run_command
from dalembert.errors import Unknown

FIRST_STEPS = """\
dalembert: equations of motion, proofs that they agree, simulations.

  dalembert gallery                   list solved systems to try
  dalembert derive rolling-disk       derive equations of motion
  dalembert agree rolling-disk        prove that eleven principles agree
  dalembert simulate rolling-disk     simulate
  dalembert view rolling-disk         open the interactive page
  dalembert new pendulum -o my.toml   start a model of your own

dalembert --help lists all commands, dalembert COMMAND --help explains one."""


class CommandGroup(click.Group):
    """All commands, each opened when it is needed; errors are reported at one place."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        run_command(partial(super().main, *args, **{**kwargs, "standalone_mode": False}))

    def invoke(self, ctx: click.Context) -> Any:
        # before click sees it: a closed pipe is no error
        return run_and_flush(partial(super().invoke, ctx))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        similar = get_close_matches(name, COMMANDS)
        meant = f" Did you mean {', '.join(map(repr, similar))}?" if similar else ""
        message = f"No such command {name!r}.{meant}"
        raise click.UsageError(message, ctx)


class _Command(click.Command):
    """A command whose help describes arguments as well as options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [p.description(ctx) for p in self.get_params(ctx) if isinstance(p, _Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        super().format_options(ctx, formatter)


class _Argument(click.Argument):
    """An argument with a text for the help."""

    def __init__(self, name: str, text: str, **settings: Any) -> None:
        super().__init__([name], **settings)
        self.text = text

    def description(self, ctx: click.Context) -> tuple[str, str]:
        """Its place in the line, and what it is."""
        return self.make_metavar(ctx), self.text + ("  [required]" if self.required else "")

    def get_help_record(self, ctx: click.Context) -> None:  # type: ignore[override]
        """Nothing among the options."""


def _command(name: str) -> click.Command:
    """The command of a function: its parameters in click's words."""
    function = load_command(name)
    hints = get_type_hints(function, include_extras=True)
    parameters = [
        _parameter(p, *get_args(hints[p.name])[:2])
        for p in inspect.signature(function).parameters.values()
    ]
    if name in WITHOUT_OUTPUT or any("-o" in p.opts for p in parameters):
        return _Command(name, callback=function, params=parameters, help=_help(function))
    return _Command(
        name,
        callback=partial(_write_printed, function),
        params=[*parameters, click.Option(["output", "-o", "--output"], **_OUTPUT)],
        help=_help(function),
    )


# they open a browser, serve, or take the file as an argument
WITHOUT_OUTPUT: Final = frozenset({"view", "serve", "studio", "convert"})
_OUTPUT: Final[dict[str, Any]] = {
    "metavar": "FILE",
    "type": Path,
    "help": "Write the printed text to a file (JSON for .json).",
}
_PAGES: Final = {".html", ".htm", ".tex", ".md", ".pdf"}


def _write_printed(function: Callable[..., None], *, output: Path | None, **given: Any) -> None:
    """Run a command; `output` is the file of what it prints."""
    if output is None:
        function(**given)
        return
    if output.suffix.lower() in _PAGES:
        msg = (
            f"-o {output}: this command writes text or JSON; give FILE.txt or FILE.json, or use "
            f"dalembert report for a page"
        )
        raise Unknown(msg)
    if output.suffix.lower() == ".json" and "as_json" in given:
        given["as_json"] = True
    end: CommandExit | None = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            function(**given)
        except CommandExit as ending:
            end = ending
    from dalembert.cli.output import report_written
    from dalembert.foundation.atomic_write import write_text

    write_text(output, printed.getvalue())
    report_written(output, as_json=False)
    if end is not None:
        raise end


def _parameter(place: inspect.Parameter, kind: Any, declared: Argument | Option) -> click.Parameter:
    kinds = [k for k in get_args(kind) or (kind,) if k is not type(None)]
    repeatable = list in (get_origin(kind), get_origin(kinds[0]))
    if isinstance(declared, Argument):
        # click takes any default, None too, for a value that was given
        default = {} if place.default is place.empty else {"default": place.default}
        return _Argument(
            place.name,
            declared.help,
            metavar=declared.metavar,
            required=not default,
            **default,
            type=kinds[0],
            shell_complete=_completion(declared.autocompletion),
        )
    names = declared.names or ("--" + place.name.replace("_", "-"),)
    return click.Option(
        [place.name, *names],
        metavar=declared.metavar,
        help=declared.help,
        show_default=_show_default(place.default, declared.show_default),
        default=None if repeatable else place.default,
        type=None if kind is bool else str if repeatable else kinds[0],
        is_flag=kind is bool,
        multiple=repeatable,
        callback=_none_if_empty if repeatable else None,
    )


def _show_default(default: Any, wanted: bool | str) -> bool | str:
    """A default that is empty or off is not worth a word."""
    empty = default is None or default is False or default == ""
    return wanted if isinstance(wanted, str) or not empty else False


def _none_if_empty(
    ctx: click.Context,  # noqa: ARG001 - click passes it
    param: click.Parameter,  # noqa: ARG001
    texts: tuple[str, ...],
) -> list[str] | None:
    return list(texts) or None


def _completion(suggestions: Callable[[str], list[str]] | None) -> Any:
    if suggestions is None:
        return None
    return lambda _ctx, _param, incomplete: suggestions(incomplete)


def _help(function: Callable[..., None]) -> str:
    r"""The docstring of a command; a line with \b alone keeps the lines below it as they are."""
    return (inspect.getdoc(function) or "").replace(r"\b", "\b")


def dalembert(ctx: click.Context) -> None:
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
    dalembert new pendulum -o model.toml   start a model file
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
        click.echo(FIRST_STEPS)


def _print_version(
    ctx: click.Context,
    param: click.Parameter,  # noqa: ARG001
    wanted: bool,
) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"dalembert {version('dalembert')}")
        except PackageNotFoundError:
            click.echo("dalembert, not installed")
        ctx.exit()


def _completion_action(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from dalembert.cli import shell_completion

        act = getattr(shell_completion, str(param.name))
        click.echo(act(ctx.command))
        ctx.exit()


def _group_option(name: str, text: str, action: Callable[..., None]) -> click.Option:
    return click.Option(
        [name], is_flag=True, is_eager=True, expose_value=False, callback=action, help=text
    )


app = CommandGroup(
    "dalembert",
    callback=click.pass_context(dalembert),
    help=_help(dalembert),
    invoke_without_command=True,
    params=[
        _group_option("--version", "Show the version and exit.", _print_version),
        _group_option(
            "--install-completion",
            "Install completion for the current shell.",
            _completion_action,
        ),
        _group_option(
            "--show-completion",
            "Show completion for the current shell, to copy it or customize the installation.",
            _completion_action,
        ),
    ],
)
