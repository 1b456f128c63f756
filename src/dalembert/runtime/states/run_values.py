"""What a run is made with: numbers for the constants, expressions for prescribed motions and
inputs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.errors import BadDescription, BadExpression, NotApplicable
from dalembert.foundation.array_types import FloatArray
from dalembert.foundation.caching import PerOwnerCache, lazy_property, shared_property
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.equations.equations_of_motion import derivative_bindings
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from dalembert.mechanics.model.bodies import inertia_fault
from dalembert.mechanics.model.elements import DeclaredSymbol
from dalembert.mechanics.model.registry import symbols_by_name
from dalembert.mechanics.model.system import System
from dalembert.runtime.numerics.symbol_values import (
    BadValue,
    constant_values,
    finite_number,
    require_mapping,
    require_values,
    strip_unit,
    symbol_name,
)
from dalembert.runtime.states.evaluator import Evaluator, label
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    copy_expressions,
    dependencies,
    evaluate,
    symbols_of,
)
from dalembert.symbolic.algebra.scalar import Scalar, as_node, is_python_function, is_sympy
from dalembert.symbolic.algebra.tape import Node, Tape
from dalembert.symbolic.units.quantities import dimension_text, parse_unit

if TYPE_CHECKING:
    from dalembert.runtime.states.inputs import CallbackInput
    from dalembert.runtime.states.tables import Table, TableInput

_MASS_SYMBOLS: Final = PerOwnerCache[tuple[int, ...]]()
_CHECKED_MASSES: Final = PerOwnerCache[None]()
_DECLARED: Final = PerOwnerCache[dict[int, float]]()
_WITH_HANDLES: Final = PerOwnerCache[Kinematics]()
_WITH_SAMPLED_INPUTS: Final = PerOwnerCache[dict[Any, dict[Hashable, Any]]]()
_TEXTS: Final = PerOwnerCache[tuple[tuple[Node, ...], int]]()


@dataclass(frozen=True)
class RunValues:
    """Numbers by symbol node, and expressions in t (and the state) by symbol node, both on the
    tape of `kin`.
    """

    kin: Kinematics = field(repr=False)
    numbers: dict[int, float]
    bindings: dict[int, int]
    # inputs that programs give, and tables whose values are varied
    callback_inputs: tuple[CallbackInput, ...] = ()
    # inputs that tables give
    table_inputs: tuple[TableInput, ...] = ()
    # bound symbols whose expressions contain the state: forces of contacts
    state_dependent: frozenset[int] = frozenset()

    def on(self, kin: Kinematics) -> RunValues:
        """The same values on another tape, which has all that they consist of."""
        return RunValues(
            kin,
            self.numbers,
            self.bindings,
            self.callback_inputs,
            self.table_inputs,
            self.state_dependent,
        )

    @shared_property
    def evaluator(self) -> Evaluator:
        """What reads expressions with these values, on a tape of its own."""
        return Evaluator(self.kin, self.numbers, self.bindings)

    @lazy_property
    def binding_key(self) -> tuple[object, ...]:
        """What determines code compiled with these bindings."""
        if not self.bindings:
            return (), ()
        # beyond the mark an index means something else on every fork, so the nodes themselves
        # belong to it
        tape, mark = self.kin.tape, self.kin.base_tape_length
        own = tuple(
            (i, tape.nodes[i]) for i in dependencies(tape, self.bindings.values()) if i >= mark
        )
        return tuple(self.bindings.items()), own

    @property
    def zero_symbols(self) -> list[int]:
        """The symbols that are zero all the time."""
        bound = [i for i, e in self.bindings.items() if self.kin.tape.value(e) == 0]
        return [*(i for i, x in self.numbers.items() if x == 0.0), *bound]

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def symbol_values_at(self, t: float) -> dict[int, float]:
        """Every symbol that is not part of the state, as a number at time t (inputs that depend
        on the state left out). Times that a table does not cover are refused.
        """
        if self.table_inputs:
            from dalembert.runtime.states.tables import check_spans

            check_spans(self.table_inputs, t, t)
        table_values = {
            i: x for each in self.callback_inputs for i, x in each.table_values(t).items()
        }
        values = self.numbers | table_values
        if not self.bindings:
            return values
        tape, known = self.kin.tape, {**values, self.kin.system.t.i: t}
        for x, e in self.bindings.items():
            if x in self.state_dependent:
                continue
            try:
                values[x] = evaluate(tape, [e], known.__getitem__, FloatArithmetic())[0]
            except KeyError:
                continue
            except (ArithmeticError, ValueError) as problem:
                raise self._not_finite_error(x, t) from problem
            if not math.isfinite(values[x]):
                raise self._not_finite_error(x, t)
        return values

    def _not_finite_error(self, x: int, t: float) -> BadValue:
        name = label(str(self.kin.tape.nodes[x][1]))
        return BadValue(
            f"{name} = {Scalar(self.kin.tape, self.bindings[x])} has no finite value at the start, "
            f"t = {t:g}"
        )


def run_values(
    kin: Kinematics,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    *,
    live: bool = False,
    table_states: bool = False,
) -> RunValues:
    """Defaults of the description, then `values` for constants and `inputs` for inputs and
    prescribed motions.

    Python functions only where they are `live`. With `table_states` the coefficients of tables
    are components of the state.
    """
    system = kin.system
    given_inputs, joint_inputs = _input_values(system, values, inputs)
    kin = (kin if table_states else _with_handles(kin, given_inputs)).fork()
    numbers = (
        _DECLARED(kin, None, lambda: _numbers(system, {}))
        if not require_mapping("values", values)
        else _numbers(system, values)
    )
    bound = _InputBinding(kin, numbers.copy(), live=live, table_states=table_states)
    for name, value in given_inputs.items():
        bound.bind(name, value)
    for names, value in joint_inputs.items():
        bound.bind_together(names, value)
    # those of the description were judged when it was made
    if values:
        check_masses(kin, bound.numbers)
    if bound.callback_inputs:
        _add_sampled_inputs(kin, bound.callback_inputs)
    return RunValues(
        kin,
        bound.numbers,
        _bindings(kin, bound.motions) if bound.motions else {},
        tuple(bound.callback_inputs),
        tuple(bound.table_inputs),
    )


def _bindings(kin: Kinematics, motions: dict[int, Scalar]) -> dict[int, int]:
    """{x: x(t), x': dx/dt, …}; of an input that is the rate of a motion, and depends on
    coordinates, dw/dt in the speeds.
    """
    bindings = derivative_bindings(kin.tape, motions)
    driving = [i for i in motions if i in kin.tape.inputs and i in kin.tape.rates]
    if driving:
        insert = Substitution(kin.tape, {i: bindings[i] for i in driving})
        rates = (kin.tape.rates[i] for i in driving)
        bindings |= {rate: insert(kin.in_speeds(bindings[rate])) for rate in rates}
    return bindings


def _add_sampled_inputs(kin: Kinematics, inputs: Iterable[CallbackInput]) -> None:
    """Make the symbols of these inputs components of the state, on this fork and its forks.

    What is compiled with them belongs to all runs with the same ones, or only to this run where
    expressions were added.
    """
    nodes = tuple(i for each in inputs for i in each.nodes)
    added = len(kin.tape) > kin.base_tape_length
    results = {} if added else _WITH_SAMPLED_INPUTS(kin, nodes, dict)
    kin.sampled_inputs, kin.base_tape_length, kin.cached_results = nodes, len(kin.tape), results


def _input_values(
    system: System, values: Mapping[Any, Any], inputs: Mapping[Any, Any]
) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
    """What each input is, by its name: tables read, units taken off; and what gives several
    inputs together, by their names.
    """
    known = {str(getattr(each, "name", None) or each) for each in require_mapping("values", values)}
    given: dict[str, Any] = {}
    joint: dict[tuple[str, ...], Any] = {}
    for key, value in require_mapping("inputs", inputs).items():
        keys = key if isinstance(key, tuple) else (key,)
        names = tuple(symbol_name(system, each, ("input", "specified")) for each in keys)
        for name in names:
            _refuse_driven(system.symbols[name])
            if name in known:
                msg = f"{name} is given twice; give it once in values or inputs"
                raise BadValue(msg)
            known.add(name)
        if isinstance(key, tuple):
            joint[names] = value
        else:
            given[names[0]] = strip_unit(system, names[0], _as_table(value))
    return given, joint


def _refuse_driven(symbol: DeclaredSymbol) -> None:
    """Refuse values of a prescribed motion that follows from an input."""
    if symbol.driver is not None:
        name, driver = symbol.name, symbol.driver.name
        msg = (
            f"{name}: its {symbol.driven_rate} is the input {driver}; give "
            f"inputs={{{driver!r}: …}}, and the value at the start with start={{{name!r}: …}}"
        )
        raise BadValue(msg)


def _with_handles(kin: Kinematics, inputs: Mapping[str, Any]) -> Kinematics:
    """The kinematics with the symbols of tables on its tape, once for all tables of one kind: code
    compiled with them is used again with other data.
    """
    if not inputs:
        return kin
    from dalembert.runtime.states.tables import Table, table_handles

    degrees = tuple((n, x.degree) for n, x in inputs.items() if isinstance(x, Table))

    def declare() -> Kinematics:
        new = kin.fork()
        for name, degree in degrees:
            table_handles(new.tape, name, degree)
        new.base_tape_length, new.cached_results = len(new.tape), {}
        return new

    return _WITH_HANDLES(kin, degrees, declare) if degrees else kin


class _InputBinding:
    """Inputs and prescribed motions: numbers, expressions, tables, programs."""

    def __init__(
        self, kin: Kinematics, numbers: dict[int, float], *, live: bool, table_states: bool
    ) -> None:
        self.kin, self.numbers, self.live, self.table_states = kin, numbers, live, table_states
        self.motions: dict[int, Scalar] = {
            s.scalar.i: s.motion for s in kin.system.symbols.values() if s.motion is not None
        }
        self.callback_inputs: list[CallbackInput] = []
        self.table_inputs: list[TableInput] = []

    def bind(self, name: str, value: Any) -> None:
        """One input; its own value, where it has one, no longer counts."""
        from dalembert.runtime.states.inputs import Sampled
        from dalembert.runtime.states.tables import Table

        x = self.kin.system.symbols[name].scalar.i
        if isinstance(value, str | Scalar) or is_sympy(value):
            self.motions[x] = _bound_expression(self.kin, name, value)
            self.numbers.pop(x, None)
        elif isinstance(value, Table) and not self.table_states:
            self._bind_table(x, name, value)
        elif is_python_function(value) or isinstance(value, Sampled):
            self._bind_callback(x, name, value)
        else:
            self.motions.pop(x, None)
            self.numbers |= _constant_motion(self.kin.tape, x, finite_number(name, value))

    def _bind_table(self, x: int, name: str, value: Table) -> None:
        from dalembert.runtime.states.inputs import check_smooth
        from dalembert.runtime.states.tables import table_expression

        system = self.kin.system
        check_smooth(self.kin, name, value)
        scaled = in_units(system, name, value)
        bound, self.motions[x] = table_expression(self.kin.tape, system.t.i, name, scaled)
        self.table_inputs.append(bound)
        self.numbers.pop(x, None)
        self.numbers |= bound.handles

    def bind_together(self, names: tuple[str, ...], value: Any) -> None:
        """Several inputs that one function gives."""
        from dalembert.runtime.states.inputs import joint_callback

        self._require_live(", ".join(names))
        self.callback_inputs.append(joint_callback(self.kin, names, value))
        for x in self.callback_inputs[-1].nodes:
            self.motions.pop(x, None)
            self.numbers.pop(x, None)

    def _require_live(self, name: str) -> None:
        if not self.live:
            msg = (
                f"{name}: a Python function is possible only in da.simulate; here give a number, "
                "a table "
                f"(da.table), or an expression such as 2*sin(s.t)"
            )
            raise BadValue(msg)

    def _bind_callback(self, x: int, name: str, value: Any) -> None:
        from dalembert.runtime.states.inputs import callback_input

        self._require_live(name)
        callback, polynomial = callback_input(self.kin, name, value)
        self.callback_inputs.append(callback)
        self.motions.pop(x, None)
        self.numbers.pop(x, None)
        if polynomial is not None:
            self.motions[x] = polynomial


def with_table_states(chosen: RunValues) -> RunValues:
    """The same values with the coefficients of tables in the state, where they can be varied."""
    from dalembert.runtime.states.inputs import callback_input

    kin = chosen.kin.fork()
    bindings = copy_expressions(chosen.kin.tape, kin.tape, list(chosen.bindings.values()))
    bound = dict(zip(chosen.bindings, bindings, strict=True))
    added: list[CallbackInput] = []
    for each in chosen.table_inputs:
        callback, polynomial = callback_input(kin, each.name, each.table)
        assert polynomial is not None
        added.append(callback)
        x = kin.system.symbols[each.name].scalar.i
        bound |= derivative_bindings(kin.tape, {x: polynomial})
    kin.sampled_inputs, kin.base_tape_length, kin.cached_results = (
        (*kin.sampled_inputs, *(i for each in added for i in each.nodes)),
        len(kin.tape),
        {},
    )
    return RunValues(kin, chosen.numbers, bound, (*chosen.callback_inputs, *added))


def in_units(system: System, name: str, given: Table) -> Table:
    """The table in kg, m and s, where its head has a unit and the system knows the dimension."""
    wanted = system.dimension(name) if given.unit else None
    if wanted is None:
        return given
    try:
        factor, actual = parse_unit(given.unit)
    except BadDescription as problem:
        msg = f"{given.source}: {problem}"
        raise BadValue(msg) from problem
    if actual != wanted:
        msg = (
            f"{given.source}: {name} is in {given.unit!r} ({dimension_text(actual)}), but "
            f"{dimension_text(wanted)} is needed"
        )
        raise BadValue(msg)
    if factor == 1:
        return given
    k = float(factor)
    return replace(given, values=k * given.values, segments=k * given.segments)


def _numbers(system: System, values: Mapping[Any, Any]) -> dict[int, float]:
    """The constants by symbol node."""
    tape = system.space.tape
    numbers: dict[int, float] = {}
    for name, x in constant_values(system, values).items():
        symbol = system.symbols[name]
        # of an input that is the rate of a motion, its own rate is needed
        driving = symbol.kind == "input" and symbol.scalar.i in tape.rates
        numbers |= _constant_motion(tape, symbol.scalar.i, x) if driving else {symbol.scalar.i: x}
    return numbers


def _as_table(value: Any) -> Any:
    """A table where a file of one is named, or times and values are given as a pair."""
    from dalembert.runtime.states.tables import table

    pair = (isinstance(value, tuple) and len(value) == 2) or (
        hasattr(value, "index") and hasattr(value, "to_numpy")
    )
    return (
        table(value)
        if pair or (isinstance(value, str) and value.lower().endswith(".csv"))
        else value
    )


def operating_values(
    system: System,
    values: Mapping[Any, Any],
    inputs: Mapping[Any, Any],
    kin: Kinematics | None = None,
) -> RunValues:
    """w = w₀: what a system is balanced or linearized with; inputs and prescribed motions are by
    default zero.
    """
    kin = kinematics(system) if kin is None else kin
    given = {
        symbol_name(system, each, ("input", "specified"))
        for key in inputs
        for each in (key if isinstance(key, tuple) else (key,))
    }
    refuse_contacts(system, given)
    rest = {s.name: 0.0 for s in system.symbols.values() if s.is_open and s.name not in given}
    return run_values(kin, values, {**rest, **inputs})


def refuse_contacts(system: System, given: Iterable[str]) -> None:
    """Refuse contacts whose forces are not given: they depend on modes, which only a run
    changes.
    """
    known = set(given)
    for c in system.contacts:
        forces = [str(x.name) for x in c.forces]
        if not known.issuperset(forces):
            ways = (
                f"simulate it, use da.rests for static equilibrium, or give "
                f"{' and '.join(forces)} "
                f"as inputs"
            )
            msg = (
                f"the contact {c.name!r} has modes (open, sticking, slipping), and no mode is "
                f"chosen here; {ways}"
            )
            raise NotApplicable(msg)


def _bound_expression(kin: Kinematics, name: str, motion: Any) -> Scalar:
    """What an input is bound to, in the speeds; a text that was read before is copied, where
    nothing else is on the tape yet.
    """
    if not isinstance(motion, str) or len(kin.tape) != kin.base_tape_length:
        return _expression_in_speeds(kin, name, motion)
    added, node = _TEXTS(kin, (name, motion), lambda: _added_nodes(kin.fork(), name, motion))
    if any(op == "symbol" for op, _, _ in added):
        # with all that a tape knows about symbols
        return _expression_in_speeds(kin, name, motion)
    kin.tape.extend(added)
    return Scalar(kin.tape, node)


def _added_nodes(kin: Kinematics, name: str, text: str) -> tuple[tuple[Node, ...], int]:
    """The nodes that a text adds to a fork, and the one that it stands for."""
    node = _expression_in_speeds(kin, name, text).i
    return tuple(kin.tape.nodes[kin.base_tape_length :]), node


def _expression_in_speeds(kin: Kinematics, name: str, motion: Any) -> Scalar:
    value = _parse_input(kin, name, motion) if isinstance(motion, str) else motion
    expression = Scalar(kin.tape, kin.in_speeds(as_node(kin.tape, value)))
    _check_motion(kin, name, expression)
    return expression


def _parse_input(kin: Kinematics, name: str, text: str) -> Scalar:
    """On the run's own tape: the options of a run do not change the system."""
    from dalembert.symbolic.algebra.parser import parse

    speeds = {kin.name(u): Scalar(kin.tape, u) for u in kin.u if not kin.name(u).endswith("'")}
    symbols = speeds | symbols_by_name(kin.system)
    try:
        return parse(
            text,
            {each: Scalar(kin.tape, as_node(kin.tape, x)) for each, x in symbols.items()},
            kin.tape,
        )
    except BadExpression as problem:
        msg = f"{name} = {text!r} cannot be read: {problem}"
        raise BadValue(msg) from problem


def _check_motion(kin: Kinematics, name: str, motion: Scalar) -> None:
    """An input may depend on t, q and u; what follows from the equations of motion cannot enter
    them.
    """
    from dalembert.runtime.states.inputs import require_known_rate

    inside = symbols_of(kin.tape, (motion.i,))
    moving = [label(str(kin.tape.nodes[i][1])) for i in inside if i in {*kin.q, *kin.x, *kin.u}]
    if moving and kin.system.symbols[name].kind == "specified":
        msg = (
            f"{name}: a prescribed motion is a function of time alone, and {moving[0]} is not. For "
            f"feedback declare s.specified({name!r}, acceleration=s.input(…)), and give the input"
        )
        raise BadValue(msg)
    if any(i in (*kin.u, *kin.tape.states) for i in inside):
        require_known_rate(kin, name, f"that of {motion} contains accelerations or is unknown")
    w = kin.system.symbols[name].scalar.i
    if moving and w in symbols_of(kin.tape, (*kin.qdot_of_u, *(r.e for r in kin.velocity_rows))):
        require_known_rate(kin, name, f"constraints contain it, and {moving[0]} in its place")
    accelerations = {*kin.qddot, *kin.udot}
    accelerations_used = [label(str(kin.tape.nodes[i][1])) for i in inside if i in accelerations]
    if accelerations_used:
        msg = (
            f"{name}: it contains the acceleration {accelerations_used[0]}; give it in time, "
            f"positions and velocities"
        )
        raise BadValue(msg)


def check_masses(kin: Kinematics, numbers: Mapping[int, float]) -> None:
    """What the description demands of its masses and inertias holds for the values of a run too;
    asked once for the same numbers.
    """
    inside = _MASS_SYMBOLS(kin, None, lambda: _mass_symbols(kin))
    _CHECKED_MASSES(kin, tuple(map(numbers.get, inside)), lambda: _check_bodies(kin, numbers))


def _mass_symbols(kin: Kinematics) -> tuple[int, ...]:
    """The symbols in masses and moments of inertia."""
    bodies = kin.system.bodies
    return tuple(
        symbols_of(
            kin.tape,
            [
                i
                for b in bodies
                for i in (b.mass.i, *(() if b.inertia is None else b.inertia.entries()))
            ],
        )
    )


def _check_bodies(kin: Kinematics, numbers: Mapping[int, float]) -> None:
    tape = kin.tape

    def value(i: int) -> float | None:
        inside = symbols_of(tape, (i,))
        try:
            return (
                evaluate(tape, [i], numbers.__getitem__, FloatArithmetic())[0]
                if all(x in numbers for x in inside)
                else None
            )
        except (ArithmeticError, ValueError) as problem:
            msg = (
                f"{_values_text(kin, numbers, inside)}: {Scalar(tape, i)}, in a mass or a "
                f"moment "
                f"of inertia, has no value: {problem}"
            )
            raise BadValue(msg) from problem

    for body in kin.system.bodies:
        # what has no symbols was judged when it was declared
        inside = symbols_of(tape, (body.mass.i,))
        if inside and (m := value(body.mass.i)) is not None and m <= 0:
            msg = (
                f"{_values_text(kin, numbers, inside)}: the mass of {body.name!r} is {m:g}; a "
                f"mass must be positive"
            )
            raise BadValue(msg)
        if (
            body.frame is None
            or body.inertia is None
            or not (inside := symbols_of(tape, body.inertia.entries()))
        ):
            continue
        fault = inertia_fault(body.inertia.on(tape), body.frame, value)
        if fault is not None and fault.impossible:
            msg = (
                f"{_values_text(kin, numbers, [i for i in inside if i in numbers])}: body "
                f"{body.name!r}: {fault.text}"
            )
            raise BadValue(msg)


def _values_text(kin: Kinematics, numbers: Mapping[int, float], inside: Iterable[int]) -> str:
    return ", ".join(f"{kin.tape.nodes[i][1]} = {numbers[i]:g}" for i in inside)


def _constant_motion(tape: Tape, x: int, value: float) -> dict[int, float]:
    """A quantity held at a number: its rates are zero."""
    values = {x: value}
    symbol = tape.rates.get(x)
    while symbol is not None:
        values[symbol] = 0.0
        symbol = tape.rates.get(symbol)
    return values


def parameter_vector(values: RunValues, symbols: tuple[int, ...]) -> FloatArray:
    """The numbers of these parameter symbols, or an error that names what is missing."""
    numbers = values.numbers
    try:
        parameters = [numbers[i] for i in symbols]
    except KeyError:
        parameters = _parameters_by_name(values, symbols)
    return np.array(parameters, dtype=np.float64)


def _parameters_by_name(setting_: RunValues, symbols: tuple[int, ...]) -> list[float]:
    """The same, where a symbol stands for another of its name, or has no number."""
    tape = setting_.kin.tape
    have = {str(tape.nodes[i][1]): x for i, x in setting_.numbers.items()}
    names = [str(tape.nodes[i][1]) for i in symbols]
    require_values(setting_.kin.system, names, have)
    return [have[n] for n in names]
