"""Which body or load a term comes from, checked by other routes: derivatives of the Gibbs–Appell
equations by each body's own mass and inertia, and the same system without one load.
"""

import re
from dataclasses import replace

import pytest

from dalembert.analysis.verify.attribution import attribution_of
from dalembert.analysis.verify.truth import truth_of
from dalembert.mechanics.agreement.principle_registry import load_principle
from dalembert.mechanics.kinematics.system_kinematics import kinematics
from dalembert.symbolic.algebra.exact.zero_test import decide_zero
from dalembert.symbolic.algebra.expression_graph import copy_expressions, gradient, symbols_of
from dalembert.symbolic.algebra.normal_form.expansion import normal_form
from dalembert.symbolic.algebra.normal_form.rational_form import RationalForm, to_scalar
from independent.bridge import Declared
from independent.generator import drawn
from verify.systems import Named, attempt_of

# trees, rolling bodies and constraint rows with one to six freedoms
SEEDS = (0, 4, 6, 7, 16, 18, 20, 26, 36, 45)


class OwnNames(Named):
    """Every body with a mass and moments of inertia of its own."""

    def _body(self, k):
        self._owner = self.d.masses[k].name
        super()._body(k)

    def _named(self, letter, value):
        if letter not in "mJ" or not value:
            return value
        key = f"{letter}_{self._owner}", abs(value)
        if key not in self._names:
            count = sum(name == key[0] for name, _ in self._names)
            name = f"{letter}_{self._owner}_{count + 1}".replace(" ", "_")
            self._names[key] = self.s.constant(name, abs(value))
        return self._names[key] if value > 0 else -self._names[key]


def own_constants(names, owner):
    """The mass and the moments of inertia of a body."""
    return [x for (letter, _), x in names.items() if letter in (f"m_{owner}", f"J_{owner}")]


def gibbs_appell_rows(truth, system):
    """∂S/∂u̇ − F on the tape of the truth: no contribution of a body is formed on its own."""
    derivation = load_principle("gibbs-appell")[1](kinematics(system))
    return copy_expressions(derivation.tape, truth.tape, derivation.equations.residuals)


def total(t, nodes):
    result = t.zero
    for node in nodes:
        result = t.add(result, node)
    return result


@pytest.mark.parametrize("seed", SEEDS)
def test_bodies_bring_what_depends_on_their_mass_and_inertia(seed):
    """Σ_c c ∂R/∂c over a body's constants c is its inertia force, inertia torque and weight."""
    declared = OwnNames(drawn(seed, attempt_of(seed)[0]))
    truth = truth_of(declared.s)
    t = truth.tape
    rows = gibbs_appell_rows(truth, declared.s)
    parts = attribution_of(truth).contributions
    for body in declared.s.bodies:
        constants = [c.i for c in own_constants(declared._names, body.name)]
        own = [c for c in parts if c.owner == body.name and c.role in ("inertia", "weight")]
        for r, residual in enumerate(rows):
            slopes = gradient(t, {residual: t.one}, constants)
            expected = total(t, map(t.mul, constants, slopes))
            actual = total(t, [c.rows[r] for c in own])
            assert decide_zero(t, [t.sub(actual, expected)]).all_zero, body.name


@pytest.mark.parametrize("seed", [16, 45, 56])
def test_each_term_names_the_bodies_whose_constants_it_contains(seed):
    """A term with the mass of a body comes from that body, whatever else brings the same term."""
    declared = OwnNames(drawn(seed, attempt_of(seed)[0]))
    truth = truth_of(declared.s)
    t, attribution = truth.tape, attribution_of(truth)
    owners = {
        c.i: body.name
        for body in declared.s.bodies
        for c in own_constants(declared._names, body.name)
    }
    checked = 0
    for form in normal_form(t, gibbs_appell_rows(truth, declared.s), limit=3000):
        for x in form.numerator[:40] if form.is_polynomial else ():
            e = to_scalar(RationalForm((x,)), t)
            bodies = {owners[i] for i in symbols_of(t, (e.i,)) if i in owners}
            if bodies:
                origins = attribution.origins(e)
                assert bodies <= {origin.owner for origin in origins}, str(e)
                checked += 1
    assert checked


def without_load(d, k):
    """The description without a load, and without the constants and inputs that it alone uses."""
    loads = (*d.loads[:k], *d.loads[k + 1 :])
    own = {word for text in d.loads[k].texts for word in re.findall(r"[a-z]\w*", text)}
    texts = [*(text for load in loads for text in load.texts), *(row.text for row in d.rows)]
    texts += map(str, (*d.specified.values(), *d.speeds.values()))
    unused = own - {word for text in texts for word in re.findall(r"[a-z]\w*", text)}
    constants = {name: value for name, value in d.constants.items() if name not in unused}
    inputs = {name: value for name, value in d.inputs.items() if name not in unused}
    return replace(d, loads=loads, constants=constants, inputs=inputs)


@pytest.mark.each_time(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_loads_bring_what_is_missing_without_them(seed):
    """R − R without the load, of two systems declared apart, is the load's contribution."""
    d = drawn(seed, attempt_of(seed)[0])
    truth = truth_of(Declared(d).s)
    t = truth.tape
    parts = [c for c in attribution_of(truth).contributions if c.role in ("load", "potential")]
    for k, load in enumerate(d.loads):
        other = truth_of(Declared(without_load(d, k)).s)
        rows = copy_expressions(other.tape, t, other.along_u)
        difference = list(map(t.sub, truth.along_u, rows))
        if decide_zero(t, difference).all_zero:
            continue
        same = [c for c in parts if decide_zero(t, list(map(t.sub, c.rows, difference))).all_zero]
        assert same, load
        conservative = load.kind in ("spring", "potential")
        assert any((c.role == "potential") is conservative for c in same), load
