"""What a run is made with: numbers for the constants, expressions for specified motions and inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final

import numpy as np

from dalembert.errors import BadExpression, NotApplicable
from dalembert.foundation.array_types import Numbers
from dalembert.foundation.caching import MadeOnce, on_demand
from dalembert.mechanics.equations.equations_of_motion import jets
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.bodies import inertia_fault
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import BadValue, check_complete, constant_values, mapping, number, symbol_name, without_unit
from dalembert.runtime.states.evaluator import Evaluator, label
from dalembert.runtime.states.inputs import LiveInput, Sampled, live_input, table
from dalembert.symbolic.algebra.arithmetic import Floats
from dalembert.symbolic.algebra.expression_graph import evaluate, needed, symbols_of
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import Scalar, is_program, is_sympy, on
from dalembert.symbolic.algebra.tape import Node

_MASS_SYMBOLS: Final = MadeOnce[tuple[int, ...]]()
_MASSES: Final = MadeOnce[None]()
_DECLARED: Final = MadeOnce[dict[int, float]]()
_TEXTS: Final = MadeOnce[tuple[tuple[Node, ...], int]]()


@dataclass(frozen=True)
class Values:
    """Numbers by symbol node, and expressions in t (and the state) by symbol node, both on the tape of `kin`."""

    kin: Kinematics = field(repr=False)
    numbers: dict[int, float]
    bindings: dict[int, int]
    # inputs that programs and tables give
    live: tuple[LiveInput, ...] = ()

    @cached_property
    def evaluator(self) -> Evaluator:
        """What reads expressions with these values, on a tape of its own."""
        return Evaluator(self.kin, self.numbers, self.bindings)

    @on_demand
    def bound(self) -> tuple[object, ...]:
        """What determines code compiled with these bindings."""
        if not self.bindings:
            return (), ()
        # beyond the mark an index means something else on every fork, so the nodes themselves belong to it
        tape, mark = self.kin.tape, self.kin.mark
        own = tuple((i, tape.nodes[i]) for i in needed(tape, self.bindings.values()) if i >= mark)
        return tuple(self.bindings.items()), own

    @property
    def zeros(self) -> list[int]:
        """The symbols that are zero all the time."""
        bound = [i for i, e in self.bindings.items() if self.kin.tape.value(e) == 0]
        return [*(i for i, x in self.numbers.items() if x == 0.0), *bound]

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def value_at(self, t: float) -> dict[int, float]:
        """Every symbol that is not part of the state, as a number at time t (inputs that depend on the state left out)."""
        held = {i: x for each in self.live for i, x in each.known(t).items()}
        found = self.numbers | held
        if not self.bindings:
            return found
        tape, known = self.kin.tape, {**found, self.kin.system.t.i: t}
        for x, e in self.bindings.items():
            try:
                found[x] = evaluate(tape, [e], known.__getitem__, Floats())[0]
            except KeyError:
                continue
            except (ArithmeticError, ValueError) as problem:
                raise self._not_finite(x, t) from problem
            if not math.isfinite(found[x]):
                raise self._not_finite(x, t)
        return found

    def _not_finite(self, x: int, t: float) -> BadValue:
        name = label(str(self.kin.tape.nodes[x][1]))
        return BadValue(f"{name} = {Scalar(self.kin.tape, self.bindings[x])} has no finite value at the start, t = {t:g}")


def values_of_run(kin: Kinematics, values: Mapping[Any, Any], inputs: Mapping[Any, Any], *, live: bool = False) -> Values:
    """Defaults of the description, then `values` for constants and `inputs` for inputs and specified motions.

    Functions and tables only where they are `live`.
    """
    kin = kin.fork()
    system = kin.system
    numbers = _DECLARED(kin, None, lambda: _numbers(system, {})) if not mapping("values", values) else _numbers(system, values)
    numbers = numbers.copy()
    motions: dict[int, Scalar] = {s.scalar.i: s.motion for s in system.symbols.values() if s.motion is not None}
    by_hand: list[LiveInput] = []
    for key, given in mapping("inputs", inputs).items():
        name = symbol_name(system, key, ("input", "specified"))
        if name in {str(getattr(each, "name", None) or each) for each in values}:
            msg = f"{name} is given twice, in values and in inputs; give it once"
            raise BadValue(msg)
        x = system.symbols[name].scalar.i
        value = without_unit(system, name, _of_file(given))
        if isinstance(value, str | Scalar) or is_sympy(value):
            motions[x] = _expression(kin, name, value)
            # its own value, where it has one, no longer counts
            numbers.pop(x, None)
        elif is_program(value) or isinstance(value, Sampled):
            if not live:
                msg = f"{name}: a function or a table is for a run; here give a number, or an expression such as 2*sin(s.t)"
                raise BadValue(msg)
            found, polynomial = live_input(kin, name, value)
            by_hand.append(found)
            motions.pop(x, None)
            numbers.pop(x, None)
            if polynomial is not None:
                motions[x] = polynomial
        else:
            motions.pop(x, None)
            numbers |= _held(kin, x, number(name, value))
    # those of the description were judged when it was made
    if values:
        check_masses(kin, numbers)
    if by_hand:
        # their symbols belong to every fork from here on, and what is compiled with them to this run alone
        kin.held, kin.mark, kin.made = tuple(i for each in by_hand for i in each.nodes), len(kin.tape), {}
    return Values(kin, numbers, jets(kin.tape, motions) if motions else {}, tuple(by_hand))


def _numbers(system: System, values: Mapping[Any, Any]) -> dict[int, float]:
    """The constants by symbol node."""
    return {system.symbols[name].scalar.i: x for name, x in constant_values(system, values).items()}


def _of_file(value: Any) -> Any:
    """A table where a file of one is named, or times and values are given as a pair."""
    pair = (isinstance(value, tuple) and len(value) == 2) or (hasattr(value, "index") and hasattr(value, "to_numpy"))
    return table(value) if pair or (isinstance(value, str) and value.lower().endswith(".csv")) else value


def operating(system: System, values: Mapping[Any, Any], inputs: Mapping[Any, Any], kin: Kinematics | None = None) -> Values:
    """w = w₀: what a system is balanced or linearized with; inputs and specified motions about which nothing is said are zero."""
    kin = kinematics(system) if kin is None else kin
    given = {symbol_name(system, key, ("input", "specified")) for key in inputs}
    refuse_contacts(system, given)
    rest = {s.name: 0.0 for s in system.symbols.values() if s.kind in ("input", "specified") and s.motion is None and s.name not in given}
    return values_of_run(kin, values, {**rest, **inputs})


def refuse_contacts(system: System, given: Iterable[str]) -> None:
    """Refuse contacts whose forces are not given: they depend on modes, which only a run changes."""
    known = set(given)
    for c in system.contacts:
        forces = [str(x.name) for x in (c.N, c.T) if x is not None]
        if not known.issuperset(forces):
            ways = f"simulate it, ask da.rests whether it can rest, or give {' and '.join(forces)} as inputs"
            msg = f"the contact {c.name!r} has modes (it is open, sticks or slips), and none of them is chosen here; {ways}"
            raise NotApplicable(msg)


def _expression(kin: Kinematics, name: str, motion: Any) -> Scalar:
    """What an input is bound to, in the speeds; a text that was read before is copied, where nothing else is on the tape yet."""
    if not isinstance(motion, str) or len(kin.tape) != kin.mark:
        return _in_speeds(kin, name, motion)
    added, node = _TEXTS(kin, (name, motion), lambda: _added(kin.fork(), name, motion))
    if any(op == "symbol" for op, _, _ in added):
        # with all that a tape knows about symbols
        return _in_speeds(kin, name, motion)
    kin.tape.extend(added)
    return Scalar(kin.tape, node)


def _added(kin: Kinematics, name: str, text: str) -> tuple[tuple[Node, ...], int]:
    """The nodes that a text adds to a fork, and the one that it stands for."""
    node = _in_speeds(kin, name, text).i
    return tuple(kin.tape.nodes[kin.mark :]), node


def _in_speeds(kin: Kinematics, name: str, motion: Any) -> Scalar:
    value = _read(kin, name, motion) if isinstance(motion, str) else motion
    found = Scalar(kin.tape, kin.in_speeds(on(kin.tape, value)))
    _check_motion(kin, name, found)
    return found


def _read(kin: Kinematics, name: str, text: str) -> Scalar:
    """On the run's own tape: what a run is told leaves nothing behind in the system."""
    symbols = {each: s.scalar for each, s in kin.system.symbols.items()} | {"t": kin.system.t}
    try:
        return parse(text, {each: Scalar(kin.tape, on(kin.tape, x)) for each, x in symbols.items()}, kin.tape)
    except BadExpression as problem:
        msg = f"{name} = {text!r} cannot be read: {problem}"
        raise BadValue(msg) from problem


def _check_motion(kin: Kinematics, name: str, motion: Scalar) -> None:
    """An input may depend on t, q and u; what follows from the equations of motion cannot enter them."""
    accelerations = {*kin.qddot, *kin.udot}
    found = [label(str(kin.tape.nodes[i][1])) for i in symbols_of(kin.tape, (motion.i,)) if i in accelerations]
    if found:
        msg = f"{name}: it contains the acceleration {found[0]}; give it in time, positions and velocities"
        raise BadValue(msg)


def check_masses(kin: Kinematics, numbers: Mapping[int, float]) -> None:
    """What the description demands of its masses and inertias holds for the values of a run too; asked once for the same numbers."""
    inside = _MASS_SYMBOLS(kin, None, lambda: _mass_symbols(kin))
    _MASSES(kin, tuple(map(numbers.get, inside)), lambda: _judged(kin, numbers))


def _mass_symbols(kin: Kinematics) -> tuple[int, ...]:
    """The symbols in masses and moments of inertia."""
    bodies = kin.system.bodies
    return tuple(symbols_of(kin.tape, [i for b in bodies for i in (b.mass.i, *(() if b.inertia is None else b.inertia.entries()))]))


def _judged(kin: Kinematics, numbers: Mapping[int, float]) -> None:
    tape = kin.tape

    def value(i: int) -> float | None:
        inside = symbols_of(tape, (i,))
        try:
            return evaluate(tape, [i], numbers.__getitem__, Floats())[0] if all(x in numbers for x in inside) else None
        except (ArithmeticError, ValueError) as problem:
            msg = f"{_given(kin, numbers, inside)}: {Scalar(tape, i)}, in a mass or a moment of inertia, has no value: {problem}"
            raise BadValue(msg) from problem

    for body in kin.system.bodies:
        # what has no symbols was judged when it was declared
        inside = symbols_of(tape, (body.mass.i,))
        if inside and (m := value(body.mass.i)) is not None and m <= 0:
            msg = f"{_given(kin, numbers, inside)}: the mass of {body.name!r} is {m:g}; a mass must be positive"
            raise BadValue(msg)
        if body.frame is None or body.inertia is None or not (inside := symbols_of(tape, body.inertia.entries())):
            continue
        fault = inertia_fault(body.inertia.on(tape), body.frame, value)
        if fault is not None and fault.impossible:
            msg = f"{_given(kin, numbers, [i for i in inside if i in numbers])}: body {body.name!r}: {fault.text}"
            raise BadValue(msg)


def _given(kin: Kinematics, numbers: Mapping[int, float], inside: Iterable[int]) -> str:
    return ", ".join(f"{kin.tape.nodes[i][1]} = {numbers[i]:g}" for i in inside)


def _held(kin: Kinematics, x: int, value: float) -> dict[int, float]:
    """A quantity held at a number: its rates are zero."""
    found = {x: value}
    symbol = kin.tape.rates.get(x)
    while symbol is not None:
        found[symbol] = 0.0
        symbol = kin.tape.rates.get(symbol)
    return found


def parameters_of(setting_: Values, symbols: tuple[int, ...]) -> Numbers:
    """The numbers of these parameter symbols, or an error that names what is missing."""
    numbers = setting_.numbers
    try:
        found = [numbers[i] for i in symbols]
    except KeyError:
        found = _by_name(setting_, symbols)
    return np.array(found, dtype=np.float64)


def _by_name(setting_: Values, symbols: tuple[int, ...]) -> list[float]:
    """The same, where a symbol stands for another of its name, or has no number."""
    tape = setting_.kin.tape
    have = {str(tape.nodes[i][1]): x for i, x in setting_.numbers.items()}
    names = [str(tape.nodes[i][1]) for i in symbols]
    check_complete(setting_.kin.system, names, have)
    return [have[n] for n in names]
