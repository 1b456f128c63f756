"""Faults planted in the library or in a description, each noticed by the library itself."""

from __future__ import annotations

import dataclasses
import importlib

import numpy as np
import pytest

import dalembert as da
from dalembert.mechanics.agreement.agreement_table import agreement, audit_kinematics
from dalembert.mechanics.agreement.principle_registry import load_principle
from dalembert.mechanics.kinematics.system_kinematics import Kinematics, kinematics
from faults.test_audit import fast_load, pole, warned
from faults.test_robots import GRIPPERS, written


def cart(mass=1.0):
    """A pendulum on a cart with a spring."""
    s = da.System("Cart", gravity=9.81)
    x, a = s.coordinates("x a")
    B = s.N.rotated(a, s.N.z, "B")
    P = s.O.offset(x * s.N.x, "P")
    Q = P.offset(-0.7 * B.y, "Q", B)
    s.particle("cart", 2, P)
    s.body("bob", mass, Q, B, da.inertia(B, 0.1, 0.1, 0.1))
    s.spring(10, P, s.O)
    s.force(-0.3 * x.dot * s.N.x, at=P, name="drag")
    return s


# ---- one principle derives wrong equations -------------------------------------------------------

RESIDUALS = {
    "an acceleration counted twice": lambda r, q, v, a: [r[0] + a[0], r[1]],
    "a wrong mass matrix entry": lambda r, q, v, a: [r[0], r[1] + a[0] / 10**6],
    "a lost centrifugal term": lambda r, q, v, a: [r[0] + v[1] ** 2 * da.sin(q[1]), r[1]],
    "a load of the wrong sign": lambda r, q, v, a: [r[0] - 2 * v[0], r[1]],
    "a dropped row": lambda r, q, v, a: [0 * r[0], r[1]],
    "two rows exchanged in part": lambda r, q, v, a: [r[0] + r[1], 2 * r[0] + 2 * r[1]],
    "a constant load": lambda r, q, v, a: [r[0], r[1] + da.sqrt(2) / 10**9],
    "sin x taken for x": lambda r, q, v, a: [r[0], r[1] + q[1] - da.sin(q[1])],
    "|x| taken for x": lambda r, q, v, a: [r[0] + abs(q[0]) - q[0], r[1]],
}


@pytest.mark.parametrize("fault", RESIDUALS)
def test_wrong_equations_of_one_principle_are_a_disagreement(fault):
    (kane, derive), (other, derive_other) = load_principle("kane"), load_principle("lagrange")

    def wrong(kin):
        d = derive_other(kin)
        eq = d.equations
        r, q, v, a = (
            [da.Scalar(eq.tape, i) for i in nodes] for nodes in (eq.residuals, eq.q, eq.u, eq.udot)
        )
        rows = RESIDUALS[fault](r, q, v, a)
        changed = dataclasses.replace(eq, residuals=tuple(row.i for row in rows))
        object.__setattr__(d, "equations", changed)
        return d

    assert agreement(cart(), ((kane, derive), (other, wrong))).agree is not True


# ---- the kinematics, which all principles share --------------------------------------------------


@pytest.mark.parametrize("quantity", ["v", "w", "a", "alpha"])
def test_wrong_kinematics_fail_the_audit(monkeypatch, quantity):
    true = getattr(Kinematics, quantity)

    def wrong(self, of):
        return true(self, of) + self.scalar(self.u[0]) * self.system.N.x.on(self.tape) / 1000

    monkeypatch.setattr(Kinematics, quantity, wrong)
    checks, _ = audit_kinematics(kinematics(cart()))
    assert any(check.holds is False for check in checks)


# ---- native code ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["mass matrix", "spring", "not a number"])
def test_wrong_native_code_is_seen_by_the_agreement(monkeypatch, fault):
    api = importlib.import_module("dalembert.interface.api.agreement")
    true, planted = api.compiled_route, cart(1.0 if fault != "mass matrix" else 1.0 + 1e-6)
    if fault == "spring":
        planted.spring(1e-5, planted.O.offset(planted["x"] * planted.N.x, "P2"), planted.O)
    if fault == "not a number":
        monkeypatch.setattr(
            "dalembert.runtime.numerics.forward_dynamics._residuals", lambda *_: [np.nan] * 20
        )
    monkeypatch.setattr(api, "compiled_route", lambda _: true(planted))
    found = da.agreement(cart())
    assert not found.compiled.agrees


def planted_run(monkeypatch, module, name, fault, **options):
    """The warnings of a run in which one function of the run's setup is replaced."""
    where = importlib.import_module(f"dalembert.runtime.simulation.{module}")
    monkeypatch.setattr(where, name, fault(getattr(where, name)))
    return warned(lambda: da.simulate(cart(), 3.0, start={"x": 0.3, "a": 1.0}, **options))


def test_rates_of_other_equations_are_seen_in_a_run(monkeypatch):
    other = da.simulate(cart(1.3), 0.01).values
    api = importlib.import_module("dalembert.runtime.simulation.simulate")
    true = api.native_model
    equations = importlib.import_module("dalembert.runtime.dynamics.compile").select_equations
    wrong = equations(cart(1.3), "native")[1]
    said, run = planted_run(
        monkeypatch, "simulate", "native_model", lambda _: lambda *a: true(other, wrong, a[2])
    )
    assert any("energy error" in text for text in said)
    assert not run.integrals.is_model_consistent or run.integrals.drift > 1e-3


def test_a_lost_quadrature_is_seen_in_a_run(monkeypatch):
    def fault(true):
        def audit(chosen, quadratures, *more):
            zero = quadratures.tape.zero
            return true(
                chosen,
                dataclasses.replace(quadratures, rates=tuple(zero for _ in quadratures.rates)),
                *more,
            )

        return audit

    said, _ = planted_run(monkeypatch, "run_setup", "native_audit", fault)
    assert any("energy error" in text for text in said)


@pytest.mark.parametrize("angle", ["x", "t"])
def test_a_row_that_is_dropped_on_the_way_is_named(angle):
    said, _ = warned(lambda: da.simulate(pole(angle), 3.0, start={"x.dot": 1.0}))
    assert any("'row' is violated" in text for text in said)


def test_an_audit_without_a_value_is_reported(monkeypatch):
    def fault(true):
        def audit(chosen, quadratures, *more):
            t = quadratures.tape
            x = chosen.kin.q[0]
            root = t.call("sqrt", t.neg(t.add(t.one, t.mul(x, x))))
            rates = tuple(root for _ in quadratures.rates)
            return true(chosen, dataclasses.replace(quadratures, rates=rates), *more)

        return audit

    said, _ = planted_run(monkeypatch, "run_setup", "native_audit", fault)
    assert any("has no value from t" in text for text in said)


def one_mass(force):
    s = da.System("Mass")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(force(x) * s.N.x, at=P)
    return s


STOPPED = {
    "growth without bound": (lambda x: 6 * x**2, {"x": 1.0, "x.dot": 2.0}, 3.0),
    "a load that is infinite": (lambda x: 1 / (1 - x), {"x": 0.0, "x.dot": 3.0}, 3.0),
    "a root of a negative number": (lambda x: da.sqrt(1 - x), {"x.dot": 1.0}, 3.0),
}


@pytest.mark.parametrize("fault", STOPPED)
def test_a_run_that_cannot_continue_stops_with_the_reason(fault):
    force, start, duration = STOPPED[fault]
    with pytest.raises(da.DalembertError, match="stopped at t"):
        da.simulate(one_mass(force), duration, start=start)


def test_a_stalled_integrator_of_others_stops(monkeypatch):
    others = importlib.import_module("dalembert.runtime.simulation.external_integrators")
    monkeypatch.setattr(others, "_STALL_STEPS", 500)
    said, run = warned(
        lambda: da.simulate(pole("x"), 3.0, start={"x.dot": 1.0}, integrator="LSODA")
    )
    assert run is None
    assert "no progress" in said[-1]


def test_a_run_of_an_ensemble_that_is_off_is_named():
    said, _ = warned(
        lambda: da.ensemble(
            fast_load(1.0, 0.0, 3e3),
            3.0,
            over={"A": [0.0, 3000.0]},
            start={"y.dot": 1.0},
            rtol=1e-4,
            atol=1e-4,
        )
    )
    assert any("runs 1;" in text for text in said)


@pytest.mark.parametrize("integrator", ["DOP853", "Radau", "BDF", "LSODA", "CVODE", "IDA"])
@pytest.mark.parametrize("fault", ["rates", "powers"])
def test_wrong_rates_or_powers_of_other_integrators_are_seen(monkeypatch, integrator, fault):
    if integrator in ("CVODE", "IDA"):
        pytest.importorskip("sksundae")
    others = importlib.import_module("dalembert.runtime.simulation.external_integrators")
    rates, powers = others._rates_and_multipliers, others._powers

    def wrong_rates(model, states, p):
        found, lam = rates(model, states, p)
        found[:, -1] *= 1 + 1e-4
        return found, lam

    if fault == "rates":
        monkeypatch.setattr(others, "_rates_and_multipliers", wrong_rates)
        # slopes of the true rates would only slow Newton's method down
        monkeypatch.setattr(others, "_jacobian_function", lambda *_: None)
    else:
        monkeypatch.setattr(others, "_powers", lambda *given: (1 + 1e-3) * powers(*given))
    start = {"x": 0.3, "a": 1.0}
    said, _ = warned(lambda: da.simulate(cart(), 1.0, start=start, integrator=integrator))
    assert any("energy error" in text for text in said)


def dropped_ball(law="newton"):
    """A ball that falls onto a floor and rolls against a wall."""
    s = da.System("Ball", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y, "P")
    s.particle("ball", 1, P)
    s.contact(P, s.N.y, restitution=0.8, law=law, name="floor")
    s.contact(P, -s.N.x, through=s.O.offset(s.N.x, "W"), restitution=0.5, law=law, name="wall")
    return s


IMPACTS = {
    "none": lambda e: e,
    "too elastic": lambda e: (1 + 1e-4) * e,
    "another contact's": lambda e: e[::-1].copy(),
    "too weak to turn it": lambda e: -0.5 * e,
}


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("fault", IMPACTS)
def test_a_wrong_impact_is_seen(monkeypatch, fault, law):
    contacts = importlib.import_module("dalembert.runtime.contact.contact_run")
    true = contacts._restitution
    monkeypatch.setattr(contacts, "_restitution", lambda model: IMPACTS[fault](true(model)))
    start = {"y": 0.5, "x.dot": 2.0}
    said, run = warned(lambda: da.simulate(dropped_ball(law), 1.0, start=start))
    assert (fault != "none") == any("the gap opens at" in text for text in said)
    assert fault != "none" or len(run.events) > 2


def test_impacts_that_do_not_turn_a_body_are_seen_in_an_ensemble(monkeypatch):
    contacts = importlib.import_module("dalembert.runtime.contact.contact_run")
    true = contacts._restitution
    options = {"over": {"y": [0.5, 0.6]}, "start": {"x.dot": 2.0}, "progress": False}
    said, _ = warned(lambda: da.ensemble(dropped_ball(), 1.0, **options))
    assert [] == said
    monkeypatch.setattr(contacts, "_restitution", lambda model: -0.5 * true(model))
    said, _ = warned(lambda: da.ensemble(dropped_ball(), 1.0, **options))
    assert said


def test_wrong_code_of_an_ensemble_is_seen_though_single_runs_are_right(monkeypatch):
    lanes = importlib.import_module("dalembert.analysis.studies.vectorized_runs")
    true = lanes.native_model
    other = da.simulate(cart(1.01), 0.01).values
    wrong = importlib.import_module("dalembert.runtime.dynamics.compile").select_equations(
        cart(1.01), "native"
    )[1]
    options = {"over": {"a": [0.5, 1.0]}, "start": {"x": 0.3}, "progress": False}
    said, _ = warned(lambda: da.ensemble(cart(), 1.0, **options))
    assert [] == said
    monkeypatch.setattr(lanes, "native_model", lambda *given: true(other, wrong, given[2]))
    said, _ = warned(lambda: da.ensemble(cart(), 1.0, **options))
    assert any("2 of 2 runs have an energy error" in text for text in said)


def test_an_ensemble_whose_audit_has_no_value_is_reported(monkeypatch):
    lanes = importlib.import_module("dalembert.analysis.studies.vectorized_runs")
    true = lanes.native_audit

    def audit(chosen, quadratures, *more):
        t, x = quadratures.tape, chosen.kin.q[0]
        root = t.call("sqrt", t.neg(t.add(t.one, t.mul(x, x))))
        rates = tuple(root for _ in quadratures.rates)
        return true(chosen, dataclasses.replace(quadratures, rates=rates), *more)

    monkeypatch.setattr(lanes, "native_audit", audit)
    said, _ = warned(lambda: da.ensemble(cart(), 0.1, over={"a": [0.5, 1.0]}, progress=False))
    assert any("2 of 2 runs have an energy audit without a value" in text for text in said)


# ---- robots: a witness reads the file itself -----------------------------------------------------


@pytest.mark.filterwarnings("ignore::dalembert.errors.DalembertWarning")
@pytest.mark.parametrize("fault", ["coupling", "inertia", "gravity", "origin"])
def test_a_robot_that_is_read_wrongly_is_seen_by_the_engines(tmp_path, monkeypatch, fault):
    from dalembert.exchange.robots import urdf

    true = {name: getattr(urdf, name) for name in ("_mimic_equality", "_inertial", "_body")}
    if fault == "coupling":

        def shifted(e, names):
            row = true["_mimic_equality"](e, names)
            return type(row)(row.name, row.kind, row.first, row.second - 1, row.polynomial)

        monkeypatch.setattr(urdf, "_mimic_equality", shifted)
    elif fault == "inertia":

        def heavier(b):
            own = true["_inertial"](b)
            return dataclasses.replace(own, mass=1.001 * own.mass)

        monkeypatch.setattr(urdf, "_inertial", heavier)
    elif fault == "gravity":
        monkeypatch.setattr(urdf, "vector3", lambda x: tuple(1.0001 * float(c) for c in x))
    else:

        def turned(b, parent):
            own = true["_body"](b, parent)
            return dataclasses.replace(own, pos=tuple(1.01 * c for c in own.pos))

        monkeypatch.setattr(urdf, "_body", turned)
    s = da.load(written(tmp_path, GRIPPERS["follower last"]))
    check = da.crosscheck(s, states=3)
    assert not check.agrees


# ---- descriptions and calls ----------------------------------------------------------------------


def contradicting():
    s = da.System("Two")
    x = s.coordinate("x")
    s.particle("P", 1, s.O.offset(x * s.N.x, "P"))
    s.constrain(x - 1, "one")
    s.constrain(x - 2, "two")
    return da.simulate(s, 0.1)


def massless():
    s = da.System("Massless")
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x, "P"))
    s.force(-y * s.N.x, at=s.O.offset(y * s.N.x, "Q"))
    return da.simulate(s, 0.1)


def unused():
    s = da.System("Unused")
    x, _ = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x, "P"))
    return da.simulate(s, 0.1)


def outside_a_table():
    s = da.System("Table")
    x = s.coordinate("x")
    F = s.input("F")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(F * s.N.x, at=P)
    return da.simulate(s, 2.0, inputs={"F": da.table([0.0, 1.0], [0.0, 1.0])})


def no_value():
    s = da.System("Constant")
    x = s.coordinate("x")
    k = s.constant("k")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(-k * x * s.N.x, at=P)
    return da.simulate(s, 0.1)


def off_the_rows():
    s = da.System("Rod")
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y, "P"))
    s.constrain(x**2 + y**2 - 1, "rod")
    return da.simulate(s, 0.1, start={"x": 0.6, "y": 0.9})


def wrong_units():
    s = da.System("Units")
    s.constant("m", "2 s")
    x = s.coordinate("x", "m")
    s.particle("P", s["m"], s.O.offset(x * s.N.x, "P"))
    return da.simulate(s, "0.1 s")


CALLS = (contradicting, massless, unused, outside_a_table, no_value, off_the_rows, wrong_units)


@pytest.mark.parametrize("call", CALLS, ids=lambda f: f.__name__)
def test_a_wrong_description_is_refused(call):
    said, result = warned(call)
    assert result is None
    assert said


def test_wrong_equations_of_a_user_are_refuted():
    s = da.System("Pendulum", gravity=9.81)
    pin = s.pin("theta", s.O)
    s.particle("P", 1, pin.offset(-1 * pin.frame.y, "P"))
    good, bad = (da.verify(s, f"theta'' + {g}*sin(theta) = 0") for g in ("9.81", "9.80"))
    assert good.holds
    assert not bad.holds
