"""The derivation of the energy integrals: every displayed quantity against positions and laws.

Velocities are differentiated positions, in components along N; powers must add up on the motion. A
planted error in any displayed quantity is found.
"""

from dataclasses import replace
from functools import cache

import pytest

import dalembert as da
from agreement.test_planted_in_print import everything
from dalembert import gallery
from dalembert.analysis.integrals.energies import Energies
from dalembert.analysis.integrals.identity_test import MotionIdentityTest
from dalembert.errors import Unknown
from dalembert.interface.report.energy_steps import energy_steps
from dalembert.mechanics.geometry.vector import Vector
from dalembert.mechanics.kinematics.position_kinematics import PositionKinematics
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Substitution
from dalembert.symbolic.algebra.printing.formula_layout import formula_text
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.sparse_matrix import Column, gradient_column


class Reader:
    """What a reader can check of the steps: each item again from positions, and the laws."""

    def __init__(self, kin):
        self.E = Energies(kin)
        self.t, self.kin = self.E.t, self.E.kin
        self.at = PositionKinematics(self.kin)
        self.motion = MotionIdentityTest(self.t, da.kane(kin).equations, self.kin.nonlinear_rows)
        self.still = Substitution(self.t, dict.fromkeys(self.kin.u, self.t.zero))
        self.steps = energy_steps(self.E, ())
        self.bodies = [self._body(b) for b in self.kin.system.bodies]

    # ---- from positions ------------------------------------------------------------------------

    def _parts(self, nodes):
        """The part of a velocity with the speeds, and the part without."""
        whole = [Scalar(self.t, self.kin.in_speeds(e)) for e in nodes]
        rest = [Scalar(self.t, self.still(e.i)) for e in whole]
        return [a - b for a, b in zip(whole, rest, strict=True)], rest

    def _body(self, b):
        v = self._parts(self.at.time_derivative(self.at.r(b.G)))
        if b.frame is None:
            return b, v, None, None
        R = [[Scalar(self.t, e) for e in row] for row in self.at.R(b.frame)]
        I = [[Scalar(self.t, e) for e in row] for row in b.inertia.on(self.t).to(b.frame).rows]
        three = range(3)
        turned = [
            [sum(R[i][k] * I[k][l] * R[j][l] for k in three for l in three) for j in three]
            for i in three
        ]
        return b, v, self._parts(self.at.w(b.frame)), turned

    def rate(self, v):
        return [self.E.rate(e) for e in v]

    def total(self, linear, angular):
        """Σ m linear(v_R, v_t) + angular(ω_R, ω_t, I)"""
        zero = Scalar(self.t, self.t.zero)
        for b, v, w, I in self.bodies:
            zero = zero + linear(*v) * b.mass
            if w is not None:
                zero = zero + angular(*w, lambda x, I=I: [dot(row, x) for row in I])
        return zero

    @cache  # noqa: B019 - one reader a system
    def expected(self):
        """{label: value} of what follows from positions alone."""
        rate = self.rate
        known = {}
        for b, v, w, _ in self.bodies:
            known |= {("v_R", b.name): v[0], ("v_t", b.name): v[1]}
            known |= {("dv_t/dt", b.name): rate(v[1])}
            if w is not None:
                known |= {("ω_R", b.name): w[0], ("ω_t", b.name): w[1]}
                known |= {("dω_t/dt", b.name): rate(w[1])}

        def sigma_R(w_R, w_t, I):
            w = add(w_R, w_t)
            return dot(w_R, I(sub(rate(w_t), cross(w, w_t)))) + dot(w_R, cross(w_t, I(w)))

        K2 = self.total(lambda a, _: dot(a, a), lambda a, _, I: dot(a, I(a))) / 2
        known |= {
            ("K₂", ""): K2,
            ("K₁", ""): self.total(dot, lambda a, b, I: dot(b, I(a))),
            ("K₀", ""): self.total(lambda _, b: dot(b, b), lambda _, b, I: dot(b, I(b))) / 2,
            ("σ_R", ""): self.total(lambda a, b: dot(a, rate(b)), sigma_R),
            ("σ", ""): self.total(
                lambda a, b: dot(add(a, b), rate(b)), lambda a, b, I: dot(add(a, b), I(rate(b)))
            ),
            ("K̇₂", ""): self.E.rate(K2),
        }
        return known

    # ---- checks --------------------------------------------------------------------------------

    def vanishes(self, *scalars):
        return all(provably_zero(self.t, [e.i for e in scalars]))

    def broken(self, steps):
        """What is displayed and wrong."""
        items = [(formula_text(i.label), i.of, i.value) for s in steps for i in s.items]
        known, wrong = self.expected(), []
        for label, of, value in items:
            if (label, of) in known:
                right = known[label, of]
                shown = self.at.in_N(value) if isinstance(value, Vector) else [value]
                differ = [
                    Scalar(self.t, a) - b
                    for a, b in zip(
                        shown, right if isinstance(right, list) else [right], strict=True
                    )
                ]
                wrong += [] if self.vanishes(*differ) else [f"{label} {of}"]
        laws = self._laws([x for x in items if isinstance(x[2], int)])
        return wrong + [name for name, holds in laws.items() if not holds]

    def _laws(self, items):
        E, s = self.E, lambda i: Scalar(self.t, i)
        shown = {}
        for label, of, value in items:
            shown.setdefault((label, of), s(value))
        one = {label: value for (label, of), value in shown.items() if not of}
        loads = [(label, value) for (label, of), value in shown.items() if of]
        P = sum((v for label, v in loads if label == "P"), s(self.t.zero))
        general = sum((v for label, v in loads if label == "𝒫"), s(self.t.zero))
        K, U, rate = one["K₂"] + one["K₁"] + one["K₀"], one["𝒰"], E.rate
        conditions = one["P_i"] + one["P_ii"] + one["P_iii"]
        on_motion = {
            "dK/dt = Σ P": rate(K) - P,
            "K̇₂ + σ_R = Σ 𝒫": one["K̇₂"] + one["σ_R"] - general,
            "d/dt (K + U)": rate(K) + rate(E.classical.U) - conditions,
        }
        holds = dict(zip(on_motion, self.motion.are_zero(list(on_motion.values())), strict=True))
        return holds | {
            "𝒫": self.vanishes(one["𝒫"] - general),
            "𝒫_nc = 𝒫 + d𝒰/dt": self.vanishes(one["𝒫_nc"] - general - rate(U)),
            "E": self.vanishes(one["E"] - one["K₂"] - U),
            "dZ/dt": self.vanishes(one["dZ/dt"] - (one["σ_R"] - one["𝒫_nc"])),
            "P_ii": self.vanishes(one["P_ii"] - E.P_of_all_loads - rate(E.classical.U) + self.V()),
        }

    def V(self):
        from dalembert.mechanics.kinetics.spatial_fields import potential_energy

        return self.E.rate(potential_energy(self.kin))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def add(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def sub(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@cache
def reader(name):
    system = everything() if name == "everything" else gallery.build(name)
    return Reader(da.kinematics(system))


def plants(t, steps):
    """(what, steps) with one displayed quantity of the wrong sign, or twice as large."""
    for n, step in enumerate(steps):
        for i, item in enumerate(step.items):
            value = item.value
            zero = isinstance(value, str) or (
                not value.parts if isinstance(value, Vector) else provably_zero(t, [value])[0]
            )
            if isinstance(value, Vector) and not zero:
                zero = provably_zero(t, [(value @ value).i])[0]
            if zero:
                continue
            for k in (-1, 2):
                wrong = value * k if isinstance(value, Vector) else (Scalar(t, value) * k).i
                items = (*step.items[:i], replace(item, value=wrong), *step.items[i + 1 :])
                changed = (*steps[:n], replace(step, items=items), *steps[n + 1 :])
                yield f"{step.title}: {k} {formula_text(item.label)} {item.of}", changed


SYSTEMS = ["hoist", "positioning-device"]


@pytest.mark.parametrize(
    "name", [*SYSTEMS, pytest.param("everything", marks=pytest.mark.slow), "ball-on-turntable"]
)
def test_every_displayed_quantity_follows_from_positions(name):
    r = reader(name)
    assert [] == r.broken(r.steps)


@pytest.mark.parametrize(
    "name", ["hoist", pytest.param("positioning-device", marks=pytest.mark.slow),
             pytest.param("everything", marks=pytest.mark.slow)]
)  # fmt: skip
def test_a_planted_error_in_any_displayed_quantity_is_found(name):
    r = reader(name)
    planted = list(plants(r.t, r.steps))
    assert len(planted) >= 24
    assert [] == [what for what, steps in planted if not r.broken(steps)]


def test_the_hoist_as_the_book_has_it():
    """Mit22 34.2: σ = (m_B + m_Q) ẋ ẍ; the force of the drive has power and no generalized one."""
    text = str(da.energy_integrals(gallery.build("hoist")).explain())
    for line in (
        "v_R of body  = −L θ̇ B.z",
        "v_t of body  = ẋ B.x",
        "K₂ = 1/2 (m_B L² + I) θ̇²",
        "K₀ = 1/2 (m_Q + m_B) ẋ²",
        "σ = (m_Q + m_B) ẋ ẍ",
        "P of the forces that enforce motions = (m_Q + m_B) ẋ ẍ",
        "𝒫 of the forces that enforce motions = 0",
        "𝒰 = −m_B L g cos θ",
        "E_Z = K₂ + 𝒰 + Z: constant",
    ):
        assert line in text, line
    assert text.index("Mit22 (12)") < text.index("Mit22 (4), (29)") < text.index("Mit22 (46)–(56)")


def test_reasons_only_where_they_are_asked_for():
    found = da.energy_integrals(gallery.build("hoist"))
    assert "contains the independent speeds" in str(found.explain("teach"))
    assert "contains the independent speeds" not in str(found.explain("full"))
    with pytest.raises(Unknown, match=r"level='much': unknown \(level= takes full, teach\)"):
        found.explain("much")
    with pytest.raises(Unknown, match="frame='C'"):
        found.explain(frame="C")
    assert "v_R of body  = L θ̇ sin θ N.y − L θ̇ cos θ N.z" in str(found.explain(frame="N"))
    assert "Mit22 (12)" == found.steps[0].source
    assert "<math" in found.explain()._repr_html_()


def test_a_system_given_by_its_energies_is_explained():
    s = da.System.from_energies(T="m*(x.dot + a.dot)**2/2", V="k*x**2/2", q="x", specified="a")
    text = str(da.energy_integrals(s).explain())
    assert "K₁ = m ẋ ȧ" in text
    assert "v_R" not in text.partition("Power of every load")[0]


def moving_fall():
    """Free fall in y + 3t with a spring and a damper in one force."""
    s = da.System("Fall in y + 3t")
    y = s.coordinate("y")
    m, g, k, c = s.constants("m g k c")
    s.gravity(-g * s.N.y)
    P = s.O.offset((y + 3 * s.t) * s.N.y, "P")
    s.particle("stone", m, P)
    s.force((-k * (y + 3 * s.t) - c * y.dot) * s.N.y, P, name="F")
    return s


def test_a_planted_error_in_the_potential_energy_is_found():
    r = Reader(da.kinematics(moving_fall()))
    assert [] == r.broken(r.steps)
    U, t = r.E.classical.U, r.kin.system.t
    assert 0 != U
    for wrong in (-U, 2 * U, U - r.kin.system.expression("3*m*g*t"), U + t):
        r.E.classical.__dict__["U"] = wrong
        assert "d/dt (K + U)" in r.broken(r.steps)


def test_a_planted_error_in_the_potential_of_some_terms_is_found():
    """−∂V/∂q of the part is the field that was taken out of the load."""
    E = Reader(da.kinematics(split_force())).E
    (part,) = E.split.parts
    for V, right in ((part.V, True), (-part.V, False), (2 * part.V, False)):
        slope = gradient_column(V, Column(E.t, E.kin.q))
        field = Column(E.t, E.split.fields["F"])
        assert right is all(provably_zero(E.t, (slope + field).nodes))


def split_force():
    s = da.System("Spring and damper in one force")
    x = s.coordinate("x")
    k, c = s.constants("k c")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("body", 1, P)
    s.force((-k * x - c * x.dot) * s.N.x, P, name="F")
    return s
