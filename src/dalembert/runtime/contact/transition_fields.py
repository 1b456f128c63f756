"""The memory of a native change of mode: one structure that Python fills and native code reads.
Keywords: hybrid automaton.

Modes are whole numbers here: open, closed, sticks, slips to one side or to the other, and is held
to one side or to the other. Where forces are undetermined, contacts that others hold stick with
T = ∓μ_s N, as if they were about to slip; the forces of the others are then determined.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from dalembert.runtime.numerics.ir_builder import (
    FunctionBuilder,
    ScalarArray,
    StructView,
    Value,
    VectorArray,
)
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER
from dalembert.runtime.ode.integrator_state import STATE_FIELDS

OPEN, CLOSED, STICKS, SLIPS_UP, SLIPS_DOWN, HELD_UP, HELD_DOWN = range(7)
# what a contact does no longer
NOT_CLOSED, NOT_STICKING = 1, 2
# what may end a mode
GUARD_KINDS: Final = {"gap": 0, "slip": 1, "cone": 2, "jam": 3}
# what a parameter of the compiled functions is set to
FLAGS: Final = 5
# what forces are solved for: impulses, the mode that follows, the expansion of Poisson's law
IMPACT, MODE, EXPANSION = range(3)
# solutions of one group that are compared, and modes of one contact
MOST_FEASIBLE: Final = 8
MOST_OPTIONS: Final = 6
# inequalities hold but for this part of the largest force or acceleration
SMALL: Final = 1e-9


class Exit(IntEnum):
    """What the loop returns besides the reasons of the integrator."""

    # the step needs a closer search than the native one
    SEARCH = 4
    # the state is at the guards; what follows needs the general laws
    DECIDE = 5
    LOG_FULL = 6


_POINTERS: Final = (
    # the integrator, its functions, and the search for guards in its steps
    "run start advance search all cheap watches first_falls sample",
    # of each guard its kind and its contact
    "guard_kind guard_contact",
    # A, b, H, v and the data of contacts: the compiled function, and where its results are
    "quantities quantities_p quantities_work x q",
    # the projection onto the constraints; K₂ and 𝒰; the level of E_Z
    "context project energy energy_p energy_work energy_result E_start",
    # of each contact: its rows, below zero for none, whether it has a gap, whether N is solved for,
    # whether its impacts follow Poisson's law, and e
    "n_row t_row has_gap solved poisson restitution",
    # modes now, the next ones, and those before the latest change
    "modes new_modes earlier",
    # parameters to set: address, contact, which flag; and what follows from parameters alone
    "set_at set_contact set_flag prologue prologue_p prologue_work",
    # the step that is searched, its end, and the guards that fell
    "step saved table hit_t hit_guard",
    # of each contact
    "fired_gap fired_slip fired_cone touching active node_n node_t label resting",
    # states and vectors of one change
    "after moved impulse b size",
    # candidates: contact, rows, data, modes that ended, group, and the mode that was chosen
    "c_contact c_n c_t c_mu c_mu_static c_given c_slip c_ended c_label c_mode lam",
    # one group: its candidates and rows, its matrices, the modes of each, another choice of them
    "g_c g_row g_n g_t g_A g_b room g_lam g_w g_first options n_options choice held",
    "f_lam f_w f_choice f_sticks f_free f_closed",
    # the same as a problem of complementarity: its tableau and variables, and of each contact the
    # places of its variables, μ, and μ and given force in the units of the scaled rows
    "tableau basis nonbasic z l_n l_t l_mu l_pull l_given l_size l_b",
    # a record of each change
    "log_t log_hit log_energy log_before log_after log_mode log_impulse log_speed log_label",
    "log_rest",
)
# `always_projects`: whether ends of steps are projected in modes without closed contacts too
_WHOLE: Final = (
    "guards n_state n_q speed_offset n_u width contacts m taken dependent normals",
    "settings prologues hits n_c n_g r feasible logged capacity slack n_z n_tangent",
    "always_projects",
)
# a bounce that is not higher than `least_height` ends at once; a run has the rounding of positions
_NUMBERS: Final = (
    "t1",
    "max_step",
    "duration",
    "tolerance",
    "latest",
    "last_impact",
    "saved_t",
    "scale",
    "least_height",
)
FIELDS: Final[tuple[tuple[str, str], ...]] = (
    *((name, POINTER) for line in _POINTERS for name in line.split()),
    *((name, INT64) for line in _WHOLE for name in line.split()),
    *((name, DOUBLE) for name in _NUMBERS),
)


class TransitionFunction(FunctionBuilder):
    """A native function of a change of mode, whose first argument is the structure."""

    def __init__(self, name: str, *parameters: str, exported: bool = False) -> None:
        super().__init__(name, INT64, POINTER, *parameters, exported=exported)
        self.memory, *self.arguments = self.parameters
        self.s = StructView(self.memory, FIELDS)

    def numbers(self, *names: str) -> list[ScalarArray]:
        """Arrays of numbers."""
        return [ScalarArray(getattr(self.s, name)) for name in names]

    def whole(self, *names: str) -> list[VectorArray]:
        """Arrays of whole numbers."""
        return [VectorArray(getattr(self.s, name), INT64) for name in names]

    def own(self, name: str, *arguments: Value) -> Value:
        """What another function of the module returns."""
        return self.call(name, INT64, self.memory, *arguments)

    def own_time(self) -> Value:
        """The time that the integrator has reached."""
        return self.run.t

    @property
    def run(self) -> StructView:
        """The integrator."""
        return StructView(self.s.run, STATE_FIELDS)

    def integer(self, x: int) -> Value:
        return self.value(x, INT64)

    def number(self, x: float) -> Value:
        return self.value(x, DOUBLE)

    def absolute(self, x: Value) -> Value:
        return self.intrinsic("fabs", x)

    def offset(self, base: Value, n: Value) -> Value:
        """The address of the n-th number."""
        return self.emit(POINTER, f"getelementptr {DOUBLE}, {base}, {n}")

    def sticks(self, mode: Value) -> Value:
        """Whether a mode sticks, held by its own friction or by other contacts."""
        return ~mode.not_equal(STICKS) | (mode >= HELD_UP)

    def divide(self, a: Value, b: Value) -> tuple[Value, Value]:
        """Quotient and remainder of whole numbers."""
        return (
            self.emit(INT64, f"sdiv {a}, {b.name}"),
            self.emit(INT64, f"srem {a}, {b.name}"),
        )

    def call_void(self, target: Value, *arguments: Value) -> None:
        """Call a compiled function behind an address."""
        self.line(f"call void {target.name}({', '.join(map(str, arguments))})")

    def largest(self, array: ScalarArray, count: Value) -> Value:
        """max |x_i|"""
        size = self.variable(self.number(0.0))
        with self.loop(count) as i:
            size.value = self.intrinsic("maxnum", size.value, self.absolute(array[i]))
        return size.value

    def ulp(self, x: Value) -> Value:
        """The distance from |x| to the next number."""
        size = self.absolute(x)
        bits = self.emit(INT64, f"bitcast {size} to {INT64}")
        return self.emit(DOUBLE, f"bitcast {bits + 1} to {DOUBLE}") - size

    def quantity(self, name: str) -> ScalarArray:
        """A part of the quantities."""
        s = self.s
        m, k = s.m, s.contacts
        v = m * m + m + s.n_u * m
        at = {
            "A": lambda: self.integer(0),
            "b": lambda: m * m,
            "H": lambda: m * m + m,
            "v": lambda: v,
            "gap": lambda: v + m,
            "mu": lambda: v + m + k,
            "mu_static": lambda: v + m + k * 2,
            "normal": lambda: v + m + k * 3,
        }[name]()
        return ScalarArray(self.offset(s.q, at))

    def finish(self, value: Value | int = 0) -> str:
        """Return a value; the text."""
        self.ret(value)
        return self.text()
