"""rolling-disk, path/to/file.py:function, or panda.urdf: the system a user means."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from dalembert import gallery
from dalembert.cli.exit_handling import (
    PROGRAM_FAILED,
    UserProgramError,
    description_error,
    program_error,
)
from dalembert.cli.shared_options import (
    RunFlags,
    parse_assignments,
    parse_number,
    parse_numbers,
)
from dalembert.errors import DalembertError, Unknown
from dalembert.exchange.modelfile import ENDINGS as MODELS
from dalembert.foundation.suggestions import suggest_name
from dalembert.interface.report.result_blocks import PublishedResult
from dalembert.interface.report.system_report import ReportSubject
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.scalar import exact, is_python_function
from dalembert.symbolic.algebra.tokenizer import PRIMES

if TYPE_CHECKING:
    from dalembert.exchange.modelfile.run_settings import Settings

# what describes a system without being a program
ROBOTS: Final = (".urdf", ".xml", ".mjcf")
FILES: Final = (*ROBOTS, *MODELS)
# under this name the program is known while it runs
MODULE: Final = "dalembert_program"
# default duration of a run
DURATION: Final = 10.0


def find_system(
    text: str,
    given: Iterable[str] | None = None,
    *,
    complete: bool = True,
    mesh_options: Mapping[str, Any] | None = None,
) -> ReportSubject:
    """The gallery's system of that name, what a file describes, or what the user's own function
    returns.

    `given` are name=value of --set. Unless it need not be `complete`, its elements must fit
    together. `drawn` says how the links of a robot are drawn: meshes, and the root that holds them.
    """
    if not text.strip():
        msg = (
            "no system is named; give a name that `dalembert gallery` lists, or "
            "path/to/file.py:function"
        )
        raise Unknown(msg)
    path, colon, function = text.rpartition(":")
    if mesh_options and not (path if colon else text).lower().endswith(ROBOTS):
        msg = f"--meshes and --root go with a robot's file ({', '.join(ROBOTS)}), not with {text!r}"
        raise Unknown(msg)
    if text.lower().endswith(MODELS):
        return _from_model(text, dict(parse_assignments("--set", given)), complete=complete)
    if (path if colon else text).lower().endswith(FILES):
        return _from_robot_file(
            path if colon else text, function if colon else "", given, mesh_options or {}
        )
    if colon and path and not any(sign in function for sign in (os.sep, ".py", "/")):
        return _from_program(Path(path), function, given, complete=complete)
    named = text in gallery.names()
    if not named and (text.endswith(".py") or os.sep in text or "/" in text or _exists(text)):
        return _from_program(Path(text), "", given, complete=complete)
    return _from_gallery(text, given, complete=complete)


def _from_robot_file(
    path: str, base: str, given: Iterable[str] | None, drawn: Mapping[str, Any]
) -> ReportSubject:
    """A robot, its root as the file has it, or :free, or :fixed."""
    if base not in ("", "free", "fixed"):
        msg = f"{path}:{base}: say :free or :fixed for the root, or nothing"
        raise Unknown(msg)
    from dalembert.interface.api.load import load

    system = load(path, base=base or None, **drawn)
    _set_values(system, dict(parse_assignments("--set", given)))
    kinematics(system)
    return ReportSubject(system, system.name, str(path), "")


def _from_model(path: str, given: dict[str, str], *, complete: bool) -> ReportSubject:
    """A file of TOML or JSON, with the values of --set."""
    from dalembert.interface.api.load import load

    system = load(path, set=given)
    settings: Settings = system.settings
    if complete:
        try:
            kinematics(system)
        except DalembertError as problem:
            msg = f"{path}: {problem}"
            raise Unknown(msg) from problem
    results = tuple(_published_result(system, p, by_hand=p.by_hand) for p in settings.printed)
    return ReportSubject(
        system, settings.title or system.name, system.source, settings.description, results
    )


def _published_result(system: System, p: Any, *, by_hand: bool) -> PublishedResult:
    """A result of a book as the gallery or a file has it, with texts read."""
    return PublishedResult(
        p.label,
        system.expression(p.residual),
        tuple((n, system.expression(k)) for n, k in p.combination),
        by_hand,
    )


def default_run(name: str, system: System) -> gallery.Entry | None:
    """The run that the gallery, or the file, proposes for a system."""
    if name in gallery.names():
        entry = gallery.entry(name)
        # a shorter member of a family has fewer coordinates to start
        start = {
            key: x
            for key, x in entry.start.items()
            if key.partition(".")[0].rstrip(PRIMES) in system.symbols
        }
        return replace(entry, start=start)
    from dalembert.exchange.modelfile.run_settings import Settings

    if not isinstance(system.settings, Settings):
        return None
    run = system.settings.run
    wish = {key: run[key] for key in ("start", "inputs", "duration") if key in run}
    return gallery.Entry(
        name,
        system.name,
        system.source,
        "",
        lambda: system,
        events=tuple(run.get("events", ())),
        **wish,
    )


def default_coordinates(name: str, system: System) -> dict[str, float]:
    """The coordinates with which the run begins that is proposed for a system."""
    shown, coordinates = default_run(name, system), {q.name for q in system.q}
    return {q: x for q, x in shown.start.items() if q in coordinates} if shown else {}


def initial_keyframe(system: System) -> dict[str, float]:
    """The keyframe "home" of a robot's file, or else the position that the file is written in;
    nothing for other systems.
    """
    from dalembert.exchange.robots.robot_record import RobotSource

    if not isinstance(system.origin, RobotSource):
        return {}
    frames = system.origin.keyframes
    return dict(frames.get("home") or frames.get("initial", {}))


def run_options(
    name: str,
    system: System,
    duration: float | None = None,
    values: Iterable[str] | None = None,
    start: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    guess: Iterable[str] | None = None,
) -> tuple[float, dict[str, Any]]:
    """How long, and {start, guess, values, inputs, events}: as the line says, otherwise as the
    gallery or the file proposes.
    """
    shown = default_run(name, system)
    length = duration if duration is not None else shown.duration if shown else DURATION
    return length, {
        "start": parse_numbers(system, "--start", start)
        or dict(shown.start if shown and not guess else initial_keyframe(system)),
        "guess": parse_numbers(system, "--guess", guess),
        "values": parse_numbers(system, "--set", values),
        "inputs": {**(shown.inputs if shown else {}), **dict(parse_assignments("--input", inputs))},
        "events": shown.events if shown else (),
    }


def run_request(
    name: str, system: System, duration: float | None, flags: RunFlags
) -> tuple[float, dict[str, Any]]:
    """How long, and all options of a run that the line, the file or the gallery gives."""
    length, wish = run_options(
        name,
        system,
        duration,
        flags.get("values"),
        flags.get("start"),
        flags.get("inputs"),
        flags.get("guess"),
    )
    given = {key: x for key, x in flags.items() if key not in wish and x is not None}
    return length, {**wish, **given}


def _check_values(kin: Kinematics) -> None:
    """Masses and moments of inertia of the values of --set."""
    from dalembert.runtime.states.run_values import check_masses, run_values

    check_masses(kin, run_values(kin, {}, {}).numbers)


def _exists(text: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return Path(text).exists()
    return False


def _from_gallery(name: str, given: Iterable[str] | None, *, complete: bool) -> ReportSubject:
    entry = gallery.entry(name)
    system, other = _build_with_values(entry.build, given)
    if given and complete:
        _check_values(kinematics(system))
    # what is printed is about the usual member of a family
    results = tuple(
        _published_result(system, p, by_hand=isinstance(p, gallery.DerivedByHand))
        for p in (() if other else entry.printed)
    )
    return ReportSubject(
        system, entry.title, entry.source, entry.description, results, entry.mode_names
    )


# ---- a program of the user -------------------------------------------------------------------


def _from_program(
    path: Path, function: str, given: Iterable[str] | None, *, complete: bool
) -> ReportSubject:
    _check_file(path)
    if not function:
        msg = (
            f"{path}: say which function builds the system, "
            f"{path}:{next(iter(_callable_names(path)), 'function')}"
        )
        raise Unknown(msg)
    with _user_program(path, function):
        module = _import_file(path)
        target = _attribute(module, path, function)
        system = _call_builder(target, path, function, given)
        if complete:
            # what does not fit together is found when the system is first used
            kin = kinematics(system)
            if given:
                _check_values(kin)
    description = (inspect.getdoc(target) or "") if not isinstance(target, System) else ""
    return ReportSubject(system, system.name, system.source, description.partition("\n\n")[0])


def _check_file(path: Path) -> None:
    try:
        if path.is_file():
            if path.suffix == ".py":
                return
            msg = f"{path} is not a Python file: give path/to/file.py:function"
        elif path.is_dir():
            msg = f"{path} is a folder: give path/to/file.py:function"
        else:
            known = sorted(p.name for p in path.parent.glob("*.py")) if path.parent.is_dir() else []
            msg = f"there is no file {path}" + (
                f"; {hint}" if (hint := suggest_name(path.name, known)) else ""
            )
    except (OSError, ValueError) as problem:
        msg = f"{str(path)!r} cannot be read: {problem}"
    raise Unknown(msg)


def _callable_names(path: Path) -> list[str]:
    """The functions of a file that can be called without arguments, found without running it."""
    import ast

    with contextlib.suppress(SyntaxError, ValueError, OSError):
        tree = ast.parse(path.read_bytes())
        return [
            n.name
            for n in tree.body
            if isinstance(n, ast.FunctionDef) and not n.args.args and not n.name.startswith("_")
        ]
    return []


@contextlib.contextmanager
def _user_program(path: Path, function: str) -> Iterator[None]:
    """The program runs as `python file.py` would run it: its folder comes first, and its errors
    are its own.
    """
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    except Unknown:
        raise
    except DalembertError as problem:
        raise description_error(problem, f"{path}:{function}") from None
    except SystemExit as problem:
        msg = (
            f"{path}:{function} ended itself with sys.exit({problem.code!r:.60}); let it return "
            f"a System instead"
        )
        raise UserProgramError(
            msg, problem.code if isinstance(problem.code, int) and problem.code else PROGRAM_FAILED
        ) from None
    except Exception as problem:  # noqa: BLE001 - whatever a program raises is shown as its own
        raise program_error(problem, f"{path}:{function}") from None
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MODULE, path.resolve())
    if spec is None or spec.loader is None:
        msg = f"{path} cannot be imported"
        raise Unknown(msg)
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    return module


def _attribute(module: ModuleType, path: Path, function: str) -> object:
    if hasattr(module, function):
        return getattr(module, function)
    own = [
        name
        for name, x in vars(module).items()
        if getattr(x, "__module__", None) == MODULE and not name.startswith("_")
    ]
    hint = suggest_name(function, own) or (
        f"it has {', '.join(own)}" if own else "it has no functions"
    )
    msg = f"{path} has no function {function!r}; {hint}"
    raise Unknown(msg)


def _call_builder(function: object, path: Path, name: str, given: Iterable[str] | None) -> System:
    if isinstance(function, System):
        _set_values(function, dict(parse_assignments("--set", given)))
        return function
    if not is_python_function(function):
        msg = f"{path}:{name} is {type(function).__name__}, neither a function nor a System"
        raise Unknown(msg)
    parameters = inspect.signature(function).parameters.values()
    needed = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if needed:
        msg = (
            f"{path}:{name} needs {', '.join(needed)}; give a function that can be called "
            f"without arguments"
        )
        raise Unknown(msg)
    system, _ = _build_with_values(function, given)
    if not isinstance(system, System):
        msg = (
            f"{path}:{name}() returned {type(system).__name__}, not a System; let it end with "
            f"`return s`"
        )
        raise Unknown(msg)
    return system


# ---- --set m=2, --set n=20: values of constants, parameters of what builds a system
# ---------------


def _build_with_values(
    build: Callable[..., System], given: Iterable[str] | None
) -> tuple[System, bool]:
    """What `build` gives with the values of --set, and whether it is another member of the
    family than the usual one.
    """
    asked = dict(parse_assignments("--set", given))
    system = build()
    if not isinstance(system, System):
        return system, False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    own = {name: p for name, p in inspect.signature(build).parameters.items() if p.kind in named}
    # a parameter that is no symbol decides what there is: the number of links
    family = {
        name: _parse_parameter(name, text, own[name].default)
        for name, text in asked.items()
        if name in own and name not in system.symbols
    }
    if family:
        system = build(**family)
    _set_values(
        system,
        {name: text for name, text in asked.items() if name not in family},
        [n for n in own if n not in system.symbols],
    )
    return system, bool(family)


def _set_values(system: System, values: dict[str, str], parameters: Iterable[str] = ()) -> None:
    """The constants of a system with other values than it was declared with; a name that it does
    not have is refused.
    """
    for name, text in values.items():
        if name not in system.symbols and (hint := suggest_name(name.lower(), parameters)):
            msg = f"--set {name}: {hint}"
            raise Unknown(msg)
        from dalembert.runtime.numerics.symbol_values import finite_number, symbol_name

        symbol = system.symbols[symbol_name(system, name, ("constant", "input"))]
        system.symbols[name] = replace(
            symbol, value=exact(finite_number(name, parse_number(system, "--set", name, text)))
        )


def _parse_parameter(name: str, text: str, default: Any) -> Any:
    """A text as what the parameter usually is: a whole number, true or false, a number, a word."""
    if isinstance(default, bool):
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        msg = f"--set {name}={text}: give true or false"
        raise Unknown(msg)
    if isinstance(default, int):
        if text.isdecimal() and int(text) > 0:
            return int(text)
        msg = f"--set {name}={text}: it is a whole number, such as {default}"
        raise Unknown(msg)
    if isinstance(default, str):
        return text
    try:
        return float(text)
    except ValueError:
        msg = f"--set {name}={text}: {text!r:.40} is not a number"
        raise Unknown(msg) from None
