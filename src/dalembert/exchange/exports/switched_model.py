"""Modes, guards and events of an exported model: what its C code needs to change modes by itself.
Keywords: hybrid automaton, event indicator.

The modes are parameters of the exported functions, as in a run. A guard stays positive while a mode
lasts: gaps and forces of contacts, slip velocities and friction cones, the active side of a
branch. Events of a user follow, with the sign that they have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from dalembert.errors import NotApplicable
from dalembert.exchange.exports.exported_model import (
    GUARDS,
    HELD,
    QUANTITIES,
    RESETS,
    ExportedEvent,
    ExportedFunction,
    Result,
    SwitchedPart,
    Variable,
)
from dalembert.mechanics.equations.equations_of_motion import ExplicitEquations
from dalembert.mechanics.model.system import System
from dalembert.runtime.contact.contact_equations import ContactEquations, projection_step
from dalembert.runtime.contact.contact_model import ContactModel, contact_model
from dalembert.runtime.contact.native_transition import (
    array_sizes,
    has_native_transition,
    structure_of_contacts,
)
from dalembert.runtime.dynamics.compile import select_equations
from dalembert.runtime.simulation.events.event import SIGNS, Event, EventAction
from dalembert.runtime.simulation.events.event_actions import reset_values
from dalembert.runtime.simulation.events.event_functions import event_node
from dalembert.runtime.simulation.piecewise import SwitchedTerm, replace_branches
from dalembert.runtime.simulation.run_options import NATIVE
from dalembert.runtime.states.evaluator import Evaluator
from dalembert.runtime.states.run_values import RunValues, refuse_contacts
from dalembert.symbolic.algebra.expression_graph import (
    Substitution,
    copy_expressions,
    dependencies,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import Tape

# nodes of another tape on that of the model
Transplant = Callable[[Tape, Sequence[int]], tuple[int, ...]]
# the symbols of a mode that change in an export: closed, sticks, direction of slip
_FLAGS: Final = 3
_ACTIONS: Final = {EventAction.RECORD: 0, EventAction.STOP: 1, EventAction.RESET: 2}


def has_modes(system: System, given: Sequence[str]) -> bool:
    """Whether contacts have modes here; their forces may be given as inputs instead, all of
    them.
    """
    forces = {str(x.name) for c in system.contacts for x in c.forces}
    if forces and not forces.isdisjoint(given):
        refuse_contacts(system, given)
        return False
    return bool(forces)


def exported_contacts(system: System, chosen: RunValues) -> ContactModel:
    """The contacts with their equations, or a refusal that names what cannot be exported."""
    _, equations = select_equations(system, NATIVE)
    assert isinstance(equations, ExplicitEquations)
    contacts = system.contacts
    if not has_native_transition(contacts):
        kinds = {
            "friction in a plane": [c.name for c in contacts if c.T_across is not None],
            "a guide with two sides": [c.name for c in contacts if c.two_sided],
            "friction pressed by a constraint force": [
                c.name for c in contacts if c.row is not None
            ],
            "active=": [c.name for c in contacts if c.active is not None],
        }
        found = [f"{kind} ({', '.join(of)})" for kind, of in kinds.items() if of]
        msg = f"export: it has {' and '.join(found)}, whose changes of mode need da.simulate"
        raise NotApplicable(msg)
    model = contact_model(chosen, equations, as_expressions=True)
    if model.equations.loops is not None:
        msg = (
            f"export: its contacts have {len(model.equations.rows)} rows that interact, too many "
            f"for an export; simulate it"
        )
        raise NotApplicable(msg)
    return model


def bound_forces(model: ContactModel, chosen: RunValues) -> RunValues:
    """The values with contact forces bound to what the modes make of them."""
    e, tape = model.equations, chosen.kin.tape
    # contacts with one side, without the slack that only a run gives
    fixed = {
        i: x
        for c in e.contacts
        for i, x in ((c.mode_symbols[3].i, tape.one), (c.mode_symbols[4].i, tape.zero))
    }
    insert = Substitution(tape, {**chosen.bindings, **fixed})
    forces = (insert(i) for i in copy_expressions(e.tape, tape, e.lam))
    lam = dict(zip((row.lam for row in e.rows), forces, strict=True))
    return replace(
        chosen,
        numbers=chosen.numbers | dict.fromkeys(_flags(e), 0.0),
        bindings=chosen.bindings | lam | fixed,
        state_dependent=frozenset(lam),
    )


def _flags(e: ContactEquations) -> list[int]:
    return [x.i for c in e.contacts for x in c.mode_symbols[:_FLAGS]]


def contact_steps(e: ContactEquations) -> tuple[list[int], int, list[int]]:
    """q and u moved onto closed gaps and rows that hold, and Σ |g| of closed gaps."""
    t, kin, back = e.tape, e.kin, projection_step(e)
    closed = [
        t.mul(row.active, t.call("abs", gap.i))
        for row in e.rows
        if row.normal and (gap := e.contacts[row.contact].gap) is not None
    ]
    residual = t.zero
    for x in closed:
        residual = t.add(residual, x)
    moved = [t.add(q, d) for q, d in zip(kin.q, back.dq, strict=True)]
    return moved, residual, [t.add(u, d) for u, d in zip(kin.u, back.du, strict=True)]


def held_rows(e: ContactEquations) -> tuple[list[int], list[int]]:
    """g of closed contacts, and the velocities of rows that hold."""
    t = e.tape
    gaps = [
        t.mul(row.active, gap.i)
        for row in e.rows
        if row.normal and (gap := e.contacts[row.contact].gap) is not None
    ]
    return gaps, [t.mul(row.active, row.v) for row in e.rows]


class SwitchedCollector:
    """Guards, quantities, resets and flags on the tape of an exported model."""

    def __init__(
        self, model: ContactModel | None, evaluator: Evaluator, events: Sequence[Event]
    ) -> None:
        self._contacts, self._evaluator, self._events = model, evaluator, events
        for e in events:
            if e.action not in _ACTIONS:
                remedy = (
                    "describe the obstacle by s.contact(…, restitution=…)"
                    if e.action is EventAction.IMPACT
                    else "simulate it"
                )
                msg = f"export: event {e.title!r} ({e.action.value}) is not exported; {remedy}"
                raise NotApplicable(msg)
            if e.action is EventAction.RESET and evaluator.kin.rows:
                msg = (
                    f"export: event {e.title!r} resets the state of a system with constraints, "
                    f"which an export cannot check; simulate it"
                )
                raise NotApplicable(msg)

    def functions(self, here: Transplant) -> list[ExportedFunction]:
        """Guards of contacts and events, and what a change of mode is decided by."""
        guards: list[int] = []
        functions = []
        if self._contacts is not None:
            e = self._contacts.equations
            guards += here(e.tape, [g.node for g in self._contacts.guards])
            quantities = here(self._evaluator.tape, self._contacts.quantity_nodes(self._evaluator))
            restitution = here(e.kin.tape, [e.kin.in_speeds(c.restitution.i) for c in e.contacts])
            gaps, speeds = (here(e.tape, nodes) for nodes in held_rows(e))
            functions += [
                _function(QUANTITIES, "A, b, H, v of contacts", q=quantities, e=restitution),
                _function(
                    HELD, "gaps of closed contacts, velocities of active rows", g=gaps, v=speeds
                ),
            ]
        nodes = [event_node(self._evaluator, e) for e in self._events]
        guards += here(self._evaluator.tape, nodes)
        resets = [i for e in self._events for i in self._reset(e)[1]]
        if resets:
            values = here(self._evaluator.tape, resets)
            functions.append(_function(RESETS, "new values at events", r=values))
        return [
            _function(GUARDS, "guards: positive while a mode lasts; then events", z=guards),
            *functions,
        ]

    def _reset(self, e: Event) -> tuple[list[int], list[int]]:
        return reset_values(self._evaluator, e) if e.action is EventAction.RESET else ([], [])

    def part(self, branches: Sequence[SwitchedTerm]) -> SwitchedPart:
        """Everything but the functions."""
        flags: list[Variable] = []
        numbers: Mapping[str, int] = {}
        arrays: Mapping[str, list[int]] = {}
        sizes: dict[str, tuple[str, int]] = {}
        names: tuple[str, ...] = ()
        if self._contacts is not None:
            flags = [Variable(i, "") for i in _flags(self._contacts.equations)]
            numbers, arrays = structure_of_contacts(self._contacts)
            for kind, made in zip(("int64_t", "double"), array_sizes(self._contacts), strict=True):
                for key, size in made.items():
                    sizes |= dict.fromkeys(key.split(), (kind, size))
            names = tuple(c.name for c in self._contacts.contacts)
            # one record at a time
            records = numbers["capacity"]
            sizes = {
                name: (kind, size // records if name.startswith("log_") else size)
                for name, (kind, size) in sizes.items()
            }
            numbers = {**numbers, "capacity": 1}
        flags += [Variable(b.side, "") for b in branches]
        flags += [Variable(b.free, "") for b in branches]
        events = tuple(
            ExportedEvent(e.title, int(SIGNS[e.direction]), _ACTIONS[e.action], self._reset(e)[0])
            for e in self._events
        )
        return SwitchedPart(tuple(flags), names, len(branches), events, numbers, arrays, sizes)


def with_branches(
    tape: Tape,
    functions: Sequence[ExportedFunction],
    varying: Sequence[int],
    coefficients: Sequence[int],
) -> tuple[list[ExportedFunction], tuple[SwitchedTerm, ...]]:
    """The functions with a symbol for the side of every branch of the rates, and σ g + φ as further
    guards. Branches of coefficients of friction stay as they are: these switch with their contact.
    """
    rates = next(f for f in functions if f.name == "rates")

    def arguments(nodes: Sequence[int]) -> dict[int, None]:
        inside = (tape.nodes[i] for i in dependencies(tape, nodes))
        return dict.fromkeys(a for op, a, _ in inside if op in ("sign", "abs"))

    moving, kept = set(varying), arguments(coefficients)
    chosen = [
        a
        for a in arguments(rates.nodes)
        if a not in kept and not moving.isdisjoint(symbols_of(tape, (a,)))
    ]
    branches, insert = replace_branches(tape, chosen)
    guards = tuple(tape.add(tape.mul(b.side, b.argument), b.free) for b in branches)

    def replaced(f: ExportedFunction) -> ExportedFunction:
        more = guards if f.name == GUARDS else ()
        nodes = [(r, (*map(insert, r.nodes), *more)) for r in f.results]
        shaped = (Result(r.name, n, (len(n),) if more else r.shape) for r, n in nodes)
        return replace(f, results=tuple(shaped))

    return [replaced(f) for f in functions] if branches else list(functions), branches


def _function(name: str, says: str, **results: Sequence[int]) -> ExportedFunction:
    made = (Result(r, tuple(nodes), (len(nodes),)) for r, nodes in results.items())
    return ExportedFunction(name, says, tuple(r for r in made if r.nodes or name == GUARDS))
