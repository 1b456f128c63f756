"""A problem file: a model file with a table [exercise] with the question, and how it is marked."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from random import Random
from typing import Any, Final

from dalembert.analysis.verify.marks import MarkScheme
from dalembert.errors import BadDescription, DalembertError
from dalembert.exchange.modelfile.reader import read_model
from dalembert.exchange.modelfile.save import toml_text
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name
from dalembert.mechanics.model.system import System

LARGEST: Final = 2**20
EQUATIONS: Final = "equations"
_KEYS: Final = ("task", "asks", "hints", "allowed", "seed", "numbers", "marks", "let")
_HEADER: Final = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+\s*(#.*)?$")


@dataclass(frozen=True)
class ExerciseProblem:
    """A system and the question about it."""

    file: str
    text: str = field(repr=False)
    task: str = ""
    # "equations", or a quantity such as T, L, p_theta, dof
    asks: str = EQUATIONS
    hints: tuple[str, ...] = ()
    allowed: str = ""
    seed: int = 0
    # {constant: (lowest, highest)}, from which each student gets numbers
    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    scheme: MarkScheme = field(default_factory=MarkScheme)
    let: Mapping[str, str] = field(default_factory=dict)

    def system(self, student: str = "") -> System:
        """The system, with the numbers of one student."""
        return read_model(self.text, self.file, set=self.numbers_for(student) if student else None)

    def numbers_for(self, student: str) -> dict[str, float]:
        """The numbers of a student, the same in every call: drawn from the seed and the name."""
        digest = hashlib.sha256(f"{self.seed} {student}".encode()).digest()
        # no secret depends on these numbers
        draw = Random(int.from_bytes(digest[:8], "big"))  # noqa: S311
        return {
            name: round(draw.uniform(low, high), 2) for name, (low, high) in self.numbers.items()
        }


def read_problem(path: Path) -> ExerciseProblem:
    """The problem in a file; what is wrong with it is refused with its key."""
    text = _text(path)
    try:
        table = tomllib.loads(text).get("exercise")
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        msg = f"{path}: this is not TOML: {problem}"
        raise BadDescription(msg) from None
    if not isinstance(table, dict):
        msg = (
            f"{path}: it has no table [exercise]; `dalembert exercise new SYSTEM` writes a "
            "problem file"
        )
        raise BadDescription(msg)
    try:
        return _problem(str(path), _without_exercise(text), table)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, DalembertError):
            raise
        msg = f"{path}: [exercise] cannot be read: {problem}"
        raise BadDescription(msg) from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            msg = (
                f"{path} has {path.stat().st_size / 2**20:.1f} MB; a problem file has at most "
                f"{LARGEST // 2**20}"
            )
            raise BadDescription(msg)
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        msg = f"{path}: it is not UTF-8 text (byte {problem.start + 1}); save it in that encoding"
        raise BadDescription(msg) from None
    except OSError as problem:
        msg = f"{path} cannot be read: {problem.strerror or problem}"
        raise BadDescription(msg) from None


def _without_exercise(text: str) -> str:
    """The model alone; the lines of [exercise] stay empty, so that line numbers stay."""
    lines, inside = [], False
    for line in text.split("\n"):
        header = _HEADER.match(line)
        if header is not None:
            inside = header[1] == "exercise" or header[1].startswith("exercise.")
        lines.append("" if inside else line)
    return "\n".join(lines)


def _problem(file: str, text: str, table: Mapping[str, Any]) -> ExerciseProblem:
    for key in table:
        if key not in _KEYS:
            msg = (
                f"{file}: unknown key '{key}' of [exercise]; "
                f"{suggest_name(key, _KEYS) or 'it takes ' + ', '.join(_KEYS)}"
            )
            raise BadDescription(msg)
    numbers = {name: _range(file, name, value) for name, value in table.get("numbers", {}).items()}
    problem = ExerciseProblem(
        file,
        text,
        str(table.get("task", "")),
        str(table.get("asks", EQUATIONS)),
        tuple(map(str, table.get("hints", ()))),
        str(table.get("allowed", "")),
        int(table.get("seed", 0)),
        numbers,
        MarkScheme.from_mapping(table.get("marks", {})),
        {str(k): str(v) for k, v in table.get("let", {}).items()},
    )
    system = problem.system()
    unknown = next((name for name in numbers if name not in system.symbols), None)
    if unknown is not None:
        hint = suggest_name(unknown, system.symbols)
        msg = f"{file}: numbers: no constant '{unknown}'; {hint}"
        raise BadDescription(msg)
    return problem


def _range(file: str, name: str, value: Any) -> tuple[float, float]:
    numbers = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    if (
        len(numbers) != 2
        or not all(isinstance(x, int | float) for x in numbers)
        or numbers[0] > numbers[1]
    ):
        msg = f"{file}: numbers: {name} = {value!r:.40}; give a range, {name} = [1.0, 2.0]"
        raise BadDescription(msg)
    return float(numbers[0]), float(numbers[1])


def new_problem(system: System, *, asks: str = EQUATIONS, points: float = 10.0) -> str:
    """The text of a problem file to begin with."""
    constants = {
        s.name: float(s.value)
        for s in system.symbols.values()
        if s.kind == "constant" and s.value is not None
    }
    coordinates = " and ".join(str(q.name) for q in system.q)
    task = (
        f"Derive the equations of motion in {coordinates}."
        if asks == EQUATIONS
        else f"Give {asks} of the system."
    )
    lines = [
        toml_text(system).rstrip(),
        "",
        "[exercise]",
        f'task = "{task}"',
        "# equations, or a quantity: T, V, L, H, p_theta, Q_theta, W, dof",
        f'asks = "{asks}"',
        'hints = ["Draw every body with the forces that act on it."]',
        'allowed = "Notes of one page."',
        "# another seed gives every student other numbers",
        "seed = 1",
        "",
        "[exercise.numbers]",
        "# each student gets numbers from these ranges",
        *(
            f"{name} = [{0.5 * value:g}, {1.5 * value:g}]"
            for name, value in constants.items()
            if value > 0 and name != "g"
        ),
        "",
        "[exercise.marks]",
        f"most = {points:g}",
        "# which part of a row's points an error costs",
        "costs = { sign = 0.25, factor = 0.25, missing = 0.35 }",
        "",
    ]
    return "\n".join(lines)
