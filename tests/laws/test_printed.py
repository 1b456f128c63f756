"""What is printed is what was computed: every formula gives its value from the printed
quantities, the statement the equations.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import dalembert as da
from agreement.random_systems import Shape, descriptions
from agreement.test_random_systems import refusals_assumed_away
from dalembert import gallery
from dalembert.errors import NotApplicable
from dalembert.mechanics.agreement.principle_registry import PRINCIPLES
from dalembert.mechanics.kinetics.quantity import Quantity
from dalembert.symbolic.algebra import formula as f
from laws.printed import Reader, parts

# a system for every kind of row, load, speed and joint
FAST = (
    "appell-hamel",
    "ball-on-turntable",
    "bead-on-hoop",
    "cart-and-bar",
    "flyball-governor",
    "four-bar",
    "free-body-quaternion",
    "hoist",
    "moving-knife-edge",
    "positioning-device",
    "rolling-disk",
    "spatial-chain",
    "vehicle",
)
WRITTEN_IN_QUANTITIES = [(p, derive) for p, derive in PRINCIPLES if p.name != "newton-euler"]
SYSTEMS = [
    pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in gallery.names()
]
KINDS = (
    Shape(bodies=3, coordinates=5),
    Shape(bodies=2, coordinates=4, nonholonomic=1),
    Shape(bodies=3, coordinates=5, holonomic=1),
    Shape(bodies=2, coordinates=4, specified=False),
)


def derivations(system):
    """Every principle that is written in quantities and applies."""
    kin = da.kinematics(system)
    for _, derive in WRITTEN_IN_QUANTITIES:
        try:
            yield derive(kin)
        except NotApplicable:
            continue


def check(system):
    for d in derivations(system):
        reader = Reader(d)
        assert [] == reader.broken(), d.principle.name
        if not d.kinematics.nonlinear:
            # F_r + F_r* = 0 has the sign of loads, M u̇ − f that of inertia
            t, value = d.tape, d.statement.value.nodes
            pairs = list(zip(d.native.residuals, value, strict=True))
            assert reader.vanish([t.sub(a, b) for a, b in pairs]) or reader.vanish(
                [t.add(a, b) for a, b in pairs]
            )


@pytest.mark.each_time(6)
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_printed_formula_gives_what_is_printed(name):
    check(gallery.build(name))


def on_random_systems(count):
    for shape in KINDS:

        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(descriptions(shape))
        def run(description):
            with refusals_assumed_away():
                check(description.system())

        run()


def test_on_random_systems():
    on_random_systems(2)


@pytest.mark.slow
def test_on_two_hundred_random_systems():
    on_random_systems(50)


# what the books show on the way and no equation needs; checked against the rest by `Reader`
SHOWN_FOR_READING = {
    "Conditions of the constraints on the displacements",
    "Displacements that satisfy them",
    "Virtual displacements",
    "Virtual rotations",
    "Resultant forces",
    "Resultant moments",
    "Collected on the virtual displacements",
    "Kinetic energy of translation",
    "Kinetic energy of rotation",
    "Lagrangian",
    "Virtual work",
    "Time-partial velocities",
    "Time-partial angular velocities",
    "Second half of the canonical equations",
}


@pytest.mark.parametrize("name", ["vehicle", "hoist", "rolling-disk"])
def test_nothing_is_shown_that_was_not_used(name):
    for d in derivations(gallery.build(name)):
        used = {id(a) for a in d.statement.dependencies}
        beside = {"Constraint rows", *SHOWN_FOR_READING}
        assert [] == [
            a.title for a in d.quantities if id(a) not in used and a.title not in beside
        ], d.principle.name
        shown = {id(a) for a in d.quantities}
        assert [] == [
            a.title for a in d.statement.dependencies if a.title and id(a) not in shown
        ], d.principle.name


@pytest.mark.parametrize("name", ["vehicle", "positioning-device"])
def test_no_two_quantities_share_a_symbol(name):
    for d in derivations(gallery.build(name)):
        quantities = [a for a in d.quantities if isinstance(a, Quantity)]
        symbols = [a.symbol for a in quantities if a.symbol is not None]
        assert len(set(symbols)) == len(symbols), d.principle.name


# ---- routes stay apart
# ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hoist", "flyball-governor", "positioning-device"])
def test_routes_by_forces_read_no_energy_and_routes_by_energy_no_force_of_a_potential(name):
    system = gallery.build(name)
    weights = {b.G for b in system.bodies}
    for d in derivations(system):
        made = d.statement.dependencies
        letters = {a.symbol for a in made}
        if d.principle.family != "kinetic energy":
            assert f.Symbol("T") not in letters
            # V of potentials that act at no place at most, never that of the weights
            assert all(f.Symbol("g") not in parts(a.formula) for a in made)
        else:
            forces = next(a.value for a in made if a.symbol == f.Symbol("F"))
            declared = {P for load in d.kinematics.system.loads for _, P in load.forces}
            assert set(forces.support) <= declared, weights
