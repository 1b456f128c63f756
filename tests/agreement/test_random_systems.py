"""All applicable principles agree on random systems: two hundred of them always, as many as asked
for with `-m slow`.

`RANDOM_SYSTEMS=5000 pytest -m slow tests/agreement/test_random_systems.py` draws 5000 new ones of
each kind. A failure is printed as the program that describes the system.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

import dalembert as da
from agreement.floats import compiled_route_agrees
from agreement.planted import components_only, only, with_wrong_sign
from agreement.random_systems import Description, Shape, descriptions
from dalembert.errors import BadDescription, IllPosed
from dalembert.mechanics.agreement.agreement_table import AgreementRow
from dalembert.mechanics.equations.equations_of_motion import check_regular
from dalembert.mechanics.kinematics.system_kinematics import Kinematics
from dalembert.mechanics.kinetics.quasi_velocities import QuasiVelocities
from dalembert.symbolic.algebra.exact.zero_test import StructurallySingular

KINDS = {
    "trees": Shape(bodies=5, coordinates=7, speeds=False),
    "quasi-velocities": Shape(bodies=4, coordinates=6),
    "nonholonomic": Shape(bodies=3, coordinates=6, nonholonomic=2),
    "holonomic": Shape(bodies=3, coordinates=6, nonholonomic=1, holonomic=1),
}
FAST = 50
SLOW = int(os.environ.get("RANDOM_SYSTEMS", "2000"))
# what chance may put together and the description rightly refuses
REFUSALS = (
    "declared but used nowhere",
    "holds identically",
    "does not depend on the motion",
    "already imposes",
    "undetermined",
    "contains no rate, so it dissipates nothing",
)
# a failure is printed as it was drawn: to shrink it would take minutes
common = settings(
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@contextmanager
def refusals_assumed_away() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # a force at a point that moves on its body is what is meant here
            warnings.filterwarnings("ignore", "force .* moves relative to", da.DalembertWarning)
            yield
    except (BadDescription, IllPosed) as refusal:
        if not any(reason in str(refusal) for reason in REFUSALS):
            raise
        assume(False)


def check(description: Description) -> None:
    with refusals_assumed_away():
        result = da.agreement(description.system(), compiled=False)
    assert result.agree, str(result)
    # every principle treats everything the strategy can draw; free bodies need to be told where a
    # load acts
    assert [] == [row.why_not for row in result.rows if not row.applicable and not placeless(row)]


def placeless(row: AgreementRow) -> bool:
    return row.principle.name == "newton-euler" and any(
        reason in str(row.why_not)
        for reason in ("say which with on=", "has no point of application")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_principle_agrees_on_fifty_of_each_kind(kind):
    @settings(common, max_examples=FAST, derandomize=True)
    @given(descriptions(KINDS[kind]))
    def run(description):
        check(description)

    run()


PLANTED = {
    "a without ω × v": ("trees", Kinematics, "a", components_only),
    "−ω × Iω": (
        "trees",
        import_module("dalembert.mechanics.kinetics.system_quantities"),
        "gibbs_function",
        with_wrong_sign,
    ),
    "γ dropped": ("nonholonomic", QuasiVelocities, "transposition", only("time")),
    "γ_t dropped": ("quasi-velocities", QuasiVelocities, "transposition", only("speeds")),
}


@pytest.mark.parametrize("error", PLANTED)
def test_a_planted_error_is_found_among_the_fifty(error, monkeypatch):
    kind, owner, name, wrong = PLANTED[error]
    monkeypatch.setattr(owner, name, wrong)

    @settings(common, max_examples=FAST, derandomize=True)
    @given(descriptions(KINDS[kind]))
    def run(description):
        check(description)

    # where some speed moves no mass, u̇ cannot be taken from one principle to be tried in another
    with pytest.raises(
        (AssertionError, StructurallySingular), match=r"DISAGREEMENT|structurally singular"
    ):
        run()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_principle_agrees_on_thousands(kind):
    @settings(common, max_examples=SLOW, derandomize=False)
    @given(descriptions(KINDS[kind]))
    def run(description):
        check(description)

    run()


@pytest.mark.parametrize("kind", ["quasi-velocities", "holonomic"])
def test_the_compiled_route_agrees(kind):
    @settings(common, max_examples=25, derandomize=True)
    @given(descriptions(KINDS[kind]))
    def run(description):
        with refusals_assumed_away():
            system = description.system()
            da.kinematics(system)
        assume(not structurally_singular(system))
        assert compiled_route_agrees(system)

    run()


def structurally_singular(system: da.System) -> bool:
    """Whether nothing moves freely, or some speed moves no mass at all."""
    equations = da.kane(system).equations
    try:
        check_regular(equations)
    except IllPosed:
        return True
    return not equations.u


@pytest.mark.slow
def test_the_strategy_reaches_everything():
    words = [
        ".pin(",
        ".rotated(",
        ".oriented(",
        ".slide(",
        "**2/2*",
        ".universal(",
        ".ball(",
        "e1 e2 e3 e4",
        ".coordinates(",
    ]
    words += [
        ".specified(",
        "s.particle(",
        "s.body(",
        "s.gravity(",
        "s.force(",
        "reaction=",
        "s.torque(",
        "s.spring(",
        "rest=",
    ]
    words += [
        "s.damper(",
        "s.potential(",
        "s.dissipation(",
        ".input(",
        "s.speed(",
        ".w, ",
        ".v, ",
        "s.constrain(",
        ".v @",
        ".w @",
        "exp(",
    ]
    missing = {word.strip("(") for word in words}

    def look(kind):
        @settings(common, max_examples=150, derandomize=True)
        @given(descriptions(KINDS[kind]))
        def run(description):
            body = description.split("\n\n", 1)[1]
            missing.difference_update([word for word in missing if word in body])

        run()

    for kind in KINDS:
        look(kind)
    assert set() == missing


@pytest.mark.slow
def test_a_failure_is_printed_as_a_program():
    @settings(common, phases=tuple(Phase), max_examples=100, derandomize=True, print_blob=False)
    @given(descriptions(KINDS["trees"]))
    def run(description):
        assert "torque" not in description

    with pytest.raises(AssertionError) as failure:
        run()
    lines = [line.strip() for note in failure.value.__notes__ for line in note.splitlines()]
    assert any(line.startswith('s = da.System("random")') for line in lines)
    # shrunk to what can be read
    assert len({line for line in lines if line.startswith("s.")}) <= 4
