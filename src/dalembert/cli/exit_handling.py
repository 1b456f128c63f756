"""Errors, in one sentence on stderr: no traceback of ours reaches a user.

Exit codes: 0 all well, 1 a disagreement or an error in the user's own program, 2 bad usage or a
description that is refused, 3 undecided, 70 a mistake of ours, 130 interrupted, 141 the output pipe
is closed.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO

from dalembert.cli.line_wrapping import wrap_lines
from dalembert.errors import DalembertError
from dalembert.interface.report.ascii_fallback import replace_unencodable

LIBRARY_PATH: Final = str(Path(__file__).resolve().parents[1]) + os.sep
DISAGREEMENT: Final = 1
PROGRAM_FAILED: Final = 1
BAD_USAGE: Final = 2
UNDECIDED: Final = 3
INTERNAL_ERROR: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
# what the library calls otherwise than the command line
_OTHER_NAMES: Final = {
    "--duration": "--for",
    "--values": "--set",
    "--inputs": "--input",
    "--t0": "--from",
}


def exit_by_verdict(verdicts: Iterable[bool | None]) -> None:
    """1 if anything was shown to be wrong, 3 if something is undecided; on with it if all of it
    holds.
    """
    answers = tuple(verdicts)
    if False in answers:
        raise CommandExit(DISAGREEMENT)
    if None in answers:
        raise CommandExit(UNDECIDED)


class UserProgramError(Exception):
    """The user's own program raised something; its message, and the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.message, self.code = message, code


class CommandExit(Exception):
    """Everything is printed; how the command ends."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def run_command(command: Callable[[], Any]) -> NoReturn:
    """Every way to fail turned into a sentence and an exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        _prepare_streams()
        try:
            code = run_and_flush(command)
            code = _closed_output_code() or code
        except Exception as problem:  # noqa: BLE001 - this is where they all end
            code = _report_exception(problem)
    sys.exit(code if isinstance(code, int) else 0)


def run_and_flush(command: Callable[[], Any]) -> Any:
    """What a command returns, once all that it wrote is out; a closed pipe is no error."""
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        raise CommandExit(INTERRUPTED) from None
    except OSError as problem:
        raise CommandExit(_report_exception(problem)) from None


def print_error(sentence: str) -> None:
    """One sentence on stderr; what a terminal would obey is spelled out."""
    safe = "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode()
        for c in sentence
    )
    with contextlib.suppress(OSError):
        # the command speaks here
        text = wrap_lines(f"dalembert: {safe}", sys.stderr)
        print(text, file=sys.stderr, flush=True)  # noqa: T201


def _report_exception(problem: BaseException) -> int:
    """Say what is wrong, and how the command ends."""
    usage = getattr(problem, "format_message", None)
    if usage is not None:
        ctx = getattr(problem, "ctx", None)
        command = ctx.command_path if ctx else "dalembert"
        print_error(f"{_usage_sentence(usage(), _option_names(ctx))} ({command} --help shows how)")
        return BAD_USAGE
    if isinstance(problem, BrokenPipeError):
        _discard_output()
        return BROKEN_PIPE
    if isinstance(problem, CommandExit):
        return problem.code
    if isinstance(problem, UserProgramError):
        print_error(problem.message)
        return problem.code
    if isinstance(problem, DalembertError):
        print_error(str(problem))
        return BAD_USAGE
    if isinstance(problem, OSError):
        _discard_output()
        print_error(f"cannot write the output: {problem.strerror or problem}")
        return PROGRAM_FAILED
    return _report_internal_error(problem)


def _report_internal_error(problem: BaseException) -> int:
    if os.environ.get("DALEMBERT_TRACEBACK"):
        traceback.print_exception(problem)
    what = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    print_error(f"internal error, please report it: {what} (DALEMBERT_TRACEBACK=1 shows where)")
    return INTERNAL_ERROR


def _option_names(ctx: Any) -> set[str]:
    """The options of the command that was typed."""
    return {name for parameter in ctx.command.params for name in parameter.opts} if ctx else set()


def _usage_sentence(usage: str, known: set[str]) -> str:
    first = " ".join(usage.split()).rstrip(".")
    for option, instead in _OTHER_NAMES.items():
        if f"option '{option}'" in first and instead in known:
            return f"no option {option}: it is called {instead}"
    return first[:1].lower() + first[1:]


# ---- the user's own program ------------------------------------------------------------------


def is_library_frame(filename: str) -> bool:
    """Whether a frame belongs to the machinery and not to the user's program."""
    # the parser of the command line calls the commands
    parser = sys.modules.get("click")
    parsing = () if parser is None else (str(Path(str(parser.__file__)).parent) + os.sep,)
    return filename.startswith((LIBRARY_PATH, "<frozen importlib", *parsing))


def description_error(problem: DalembertError, where: str) -> UserProgramError:
    """A description we refuse: the sentence, and the line of the user's program that it is
    about.
    """
    frames = [
        f for f in traceback.extract_tb(problem.__traceback__) if not is_library_frame(f.filename)
    ]
    if not frames:
        return UserProgramError(f"{where}: {problem}", BAD_USAGE)
    last = frames[-1]
    return UserProgramError(
        f"{problem}\n  {relative_path(last.filename)}, line {last.lineno}: {last.line}", BAD_USAGE
    )


def program_error(problem: Exception, where: str) -> UserProgramError:
    """An error of the user's program: its traceback, without our frames."""
    shown = traceback.TracebackException.from_exception(problem)
    _strip_library_frames([shown])
    lines = shown.format() if shown.stack else shown.format_exception_only()
    return UserProgramError(
        f"{where} failed with its own error\n" + "".join(lines).rstrip(), PROGRAM_FAILED
    )


def _strip_library_frames(shown: Iterable[traceback.TracebackException | None]) -> None:
    for one in shown:
        if one is not None:
            one.stack = traceback.StackSummary.from_list(
                [f for f in one.stack if not is_library_frame(f.filename)]
            )
            _strip_library_frames((one.__cause__, one.__context__))


def relative_path(filename: str) -> str:
    """A path from here, where that is shorter."""
    with contextlib.suppress(ValueError):
        return min(os.path.relpath(filename), filename, key=len)
    return filename


# ---- streams ---------------------------------------------------------------------------------


class _ClosedStream(io.StringIO):
    """In place of a stream that was closed before we began."""


def _closed_output_code() -> int:
    """An error, where something was printed to an output that is closed."""
    if not isinstance(sys.stdout, _ClosedStream) or not sys.stdout.getvalue():
        return 0
    print_error(
        "the standard output is closed, so nothing could be printed; -o FILE writes to a file "
        "where a command has it"
    )
    return PROGRAM_FAILED


def _prepare_streams() -> None:
    """Streams that exist and that replace what they cannot encode."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _ClosedStream())
        replace_unencodable(getattr(sys, name))


def _discard_output() -> None:
    """What is still buffered goes nowhere, so that Python does not try again at exit."""
    with (
        contextlib.suppress(OSError, ValueError),
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
    ):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _show_warning(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001 - the standard library passes it
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    place = "" if is_library_frame(filename) else f" ({relative_path(filename)}, line {lineno})"
    print_error(f"warning: {message}{place}")
