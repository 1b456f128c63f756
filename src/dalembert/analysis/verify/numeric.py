"""u̇ = f(q, u, p) as numbers: a function or a table, compared at random states.

A function cannot be proved equal at finitely many states. The verdict says how many were compared
and
how well they agree.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dalembert.analysis.verify.result import RowReport, Verification
from dalembert.analysis.verify.tokens import CannotRead
from dalembert.analysis.verify.truth import Truth, truth_of
from dalembert.analysis.verify.verdict import Kind
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import LinearCoefficients, evaluate
from dalembert.symbolic.algebra.scalar import is_python_function, is_sympy

STATES: Final = 24
CLOSE: Final = 1e-9
LINEAR: Final = ("A", "B")


def is_numeric(answer: Any, of: str | None) -> bool:
    """Whether an answer is a function of numbers, a table, or a matrix of a linear model."""
    if of in LINEAR and not isinstance(answer, str):
        return True
    if isinstance(answer, Mapping):
        return any(not isinstance(v, str) and hasattr(v, "__len__") for v in answer.values())
    return is_python_function(answer) and not is_sympy(answer) and not isinstance(answer, type)


def verify_numbers(
    system: System, answer: Any, of: str | None, about: Mapping[Any, Any] | None
) -> Verification:
    """The verdict on numbers."""
    if of in LINEAR:
        return _linear_matrix(system, answer, of, about)
    truth = truth_of(system)
    return _function(truth, answer) if callable(answer) else _table(truth, answer)


# ---- true accelerations as numbers -------------------------------------------------------------


class _Accelerations:
    """u̇ of the true equations as numbers."""

    def __init__(self, truth: Truth) -> None:
        self.truth, self.tape = truth, truth.tape
        t = self.tape
        linear = LinearCoefficients(t, truth.udot)
        forms = [linear(r) for r in truth.along_u]
        p = len(truth.udot)
        self.outs = [e for c, M in forms for e in (c, *(M.get(j, t.zero) for j in range(p)))]

    def __call__(self, state: Mapping[int, float]) -> np.ndarray[Any, Any]:
        p = len(self.truth.udot)
        numbers = np.array(
            evaluate(self.tape, self.outs, lambda i: float(state.get(i, 0.0)), FloatArithmetic()),
            dtype=float,
        ).reshape(p, p + 1)
        return np.linalg.solve(numbers[:, 1:], -numbers[:, 0])


def _values(truth: Truth, rng: random.Random, *, declared: bool) -> dict[int, float]:
    """Constants as declared where that is wanted, otherwise random; inputs and rates random."""
    numbers: dict[int, float] = {}
    for symbol in truth.kin.system.symbols.values():
        if symbol.kind in ("constant", "input", "specified"):
            value = symbol.value if declared else None
            numbers[symbol.scalar.i] = rng.uniform(0.5, 2.0) if value is None else float(value)
    return numbers


# ---- functions ---------------------------------------------------------------------------------


def _function(truth: Truth, f: Callable[..., Any]) -> Verification:
    rng, kin = random.Random(20), truth.kin  # noqa: S311 - nothing is to be kept secret
    count = _arguments(f)
    declared = count == 2
    true = _Accelerations(truth)
    given, wanted = [], []
    for _ in range(STATES):
        constants = _values(truth, rng, declared=declared)
        q = np.array([rng.uniform(-1.2, 1.2) for _ in kin.q])
        u = np.array([rng.uniform(-1.5, 1.5) for _ in kin.u])
        state = constants | dict(zip((*kin.q, *kin.u), (*q, *u), strict=True))
        p = {str(truth.tape.nodes[i][1]): x for i, x in constants.items()}
        given.append(_call(f, (q, u) if declared else (q, u, p), kin.n_u))
        wanted.append(true(state))
    return _compare(truth, np.array(given), np.array(wanted), CLOSE, f"{STATES} random states")


def _arguments(f: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return 3
    needed = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(needed) not in (2, 3):
        msg = (
            "a function of numbers takes (q, u) or (q, u, p), p being a dict of constants and "
            f"inputs; this one takes {len(needed)}"
        )
        raise CannotRead(msg)
    return len(needed)


def _call(f: Callable[..., Any], arguments: tuple[Any, ...], wanted: int) -> np.ndarray[Any, Any]:
    try:
        result = np.asarray(f(*arguments), dtype=float).reshape(-1)
    except Exception as problem:
        msg = f"the function failed with {type(problem).__name__}: {problem}"
        raise CannotRead(msg) from problem
    if result.shape != (wanted,):
        msg = f"the function returned {result.size} numbers; there are {wanted} accelerations"
        raise CannotRead(msg)
    return result


# ---- tables ------------------------------------------------------------------------------------


def _table(truth: Truth, table: Mapping[str, Any]) -> Verification:
    """Columns named by coordinates, speeds and constants, and by accelerations."""
    kin, t = truth.kin, truth.tape
    names = truth.names()
    columns: dict[int, np.ndarray[Any, Any]] = {}
    for heading, values in table.items():
        single = names.single(str(heading).rstrip("'"))
        if single is None:
            msg = f"the table has a column '{heading}': {names.unknown(str(heading))}"
            raise CannotRead(msg)
        name, dots = single[0], single[1] + len(str(heading)) - len(str(heading).rstrip("'"))
        node = t.names.get(name + "'" * dots)
        if node is None:
            msg = f"the table has a column '{heading}', which the equations do not contain"
            raise CannotRead(msg)
        columns[node] = _numbers(heading, values)
    lengths = {len(c) for c in columns.values()}
    if len(lengths) != 1:
        msg = (
            "the columns of the table have different lengths: "
            f"{', '.join(map(str, sorted(lengths)))}"
        )
        raise CannotRead(msg)
    missing = [kin.name(x) for x in (*kin.q, *kin.u, *truth.udot) if x not in columns]
    if missing:
        msg = (
            f"the table has no column {missing[0]}; it needs "
            f"{', '.join(kin.name(x) for x in (*kin.q, *kin.u, *truth.udot))}"
        )
        raise CannotRead(msg)
    return _compare_table(truth, columns)


def _numbers(heading: object, values: Any) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(values, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        msg = f"the column '{heading}' of the table has entries that are no numbers"
        raise CannotRead(msg) from None


def _compare_table(truth: Truth, columns: Mapping[int, np.ndarray[Any, Any]]) -> Verification:
    true = _Accelerations(truth)
    rng = random.Random(0)  # noqa: S311 - only for what has no value
    constants = _values(truth, rng, declared=True)
    unset = [
        s.name
        for s in truth.kin.system.symbols.values()
        if s.kind == "constant" and s.value is None and s.scalar.i not in columns
    ]
    if unset:
        msg = f"the constant {unset[0]} has no value: declare one, or give it a column"
        raise CannotRead(msg)
    count = len(next(iter(columns.values())))
    given = np.array([[columns[a][k] for a in truth.udot] for k in range(count)])
    wanted = np.array(
        [true(constants | {i: float(c[k]) for i, c in columns.items()}) for k in range(count)]
    )
    return _compare(truth, given, wanted, 1e-6, f"{count} rows of the table")


def _compare(
    truth: Truth,
    given: np.ndarray[Any, Any],
    wanted: np.ndarray[Any, Any],
    close: float,
    where: str,
) -> Verification:
    names = [str(truth.kin.scalar(a)) for a in truth.udot]
    scale = np.maximum(np.abs(wanted).max(axis=0), 1e-300)
    errors = np.abs(given - wanted).max(axis=0) / scale
    reports = []
    for k, name in enumerate(names):
        holds = bool(errors[k] <= close)
        note = f"largest relative difference {errors[k]:.1e}"
        note += "" if holds else _pattern(given[:, k], wanted[:, k])
        reports.append(RowReport(name, holds, "motion", note=note))
    wrong = [row.text for row in reports if not row.holds]
    holds = not wrong
    kind = Kind.AGREES if holds else Kind.DIFFERS
    sentence = (
        f"The numbers agree with the equations of motion at {where}, relative error below "
        f"{close:g}; that is evidence, not a proof."
        if holds
        else f"The numbers differ from the equations of motion in {', '.join(wrong)}, at {where}."
    )
    return Verification(
        truth.system.name,
        kind.value,
        holds,
        sentence,
        0.0,
        tuple(reports),
        kind=kind,
        wanted=len(names),
    )


def _pattern(given: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> str:
    """A constant factor, where the numbers show one."""
    ratio = given / np.where(np.abs(wanted) > 1e-300, wanted, np.nan)
    if np.all(np.isfinite(ratio)) and np.ptp(ratio) <= 1e-6 * abs(ratio[0]):
        return f"; the values are {ratio[0]:g} times the right ones"
    difference = given - wanted
    if np.ptp(difference) <= 1e-6 * np.abs(difference).max():
        return f"; they differ by the constant {difference[0]:g}"
    return ""


# ---- linear models -----------------------------------------------------------------------------


def _linear_matrix(
    system: System, answer: Any, of: str, about: Mapping[Any, Any] | None
) -> Verification:
    """A or B of δẋ = A δx + B δw at the declared values of the constants."""
    from dalembert.analysis.linear.linearize import linearize

    model = linearize(system, about or {})
    wanted = np.asarray(getattr(model, of), dtype=float)
    try:
        given = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        msg = f"of={of!r}: give a matrix of numbers"
        raise CannotRead(msg) from None
    if given.shape != wanted.shape:
        states = ", ".join(model.states)
        msg = (
            f"of={of!r}: the matrix has the shape {given.shape}, but the states are {states}: "
            f"{wanted.shape} is needed"
        )
        raise CannotRead(msg)
    scale = max(float(np.abs(wanted).max(initial=0.0)), 1e-300)
    off = np.abs(given - wanted) > 1e-6 * np.maximum(np.abs(wanted), 1e-3 * scale)
    places = [(int(i), int(j)) for i, j in np.argwhere(off)]
    rows = tuple(
        RowReport(
            f"{of}_{i + 1}_{j + 1} = {given[i, j]:g}",
            False,
            "identity",
            note=f"should be {wanted[i, j]:.9g}",
        )
        for i, j in places[:20]
    )
    holds = not places
    sentence = (
        f"The matrix {of} agrees to six digits."
        if holds
        else f"{len(places)} of {wanted.size} entries of {of} are wrong."
    )
    kind = Kind.AGREES if holds else Kind.DIFFERS
    return Verification(system.name, kind.value, holds, sentence, 0.0, rows, kind=kind)
