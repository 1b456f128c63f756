"""The commands with their help, completion and complaints, by typer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperGroup

from dalembert.cli import manual
from dalembert.cli.declared import COMMANDS, Argument, Option, function_of
from dalembert.cli.errors import at_the_edge, flushed


class Edge(TyperGroup):
    """All commands; what goes wrong in them is said at the edge."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        at_the_edge(partial(super().main, *args, **{**kwargs, "standalone_mode": False}))

    def invoke(self, ctx: Any) -> Any:
        # before typer sees it: a closed pipe is no error
        return flushed(partial(super().invoke, ctx))


app = typer.Typer(cls=Edge, pretty_exceptions_enable=False, rich_markup_mode=None)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"dalembert {version('dalembert')}")
        except PackageNotFoundError:
            typer.echo("dalembert, not installed")
        raise typer.Exit


@app.callback(invoke_without_command=True, help=manual.DALEMBERT)
def dalembert(
    ctx: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")] = False,  # noqa: ARG001
) -> None:
    """Without a subcommand it shows its help."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def _typed(function: Callable[..., None]) -> Callable[..., None]:
    """The same function, its declarations in typer's words."""

    def command(**given: Any) -> None:
        function(**given)

    signature, hints = inspect.signature(function), get_type_hints(function, include_extras=True)
    parameters = [
        p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_translated(hints[p.name])) for p in signature.parameters.values()
    ]
    command.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _translated(hint: Any) -> Any:
    wanted, declared = get_args(hint)
    if isinstance(declared, Argument):
        said: Any = typer.Argument(metavar=declared.metavar, autocompletion=declared.autocompletion, help=declared.help)
    else:
        assert isinstance(declared, Option)
        said = typer.Option(*declared.names, metavar=declared.metavar, help=declared.help, show_default=declared.show_default)
    return Annotated[wanted, said]


for _name in COMMANDS:
    app.command(_name, help=getattr(manual, _name.upper()))(_typed(function_of(_name)))
