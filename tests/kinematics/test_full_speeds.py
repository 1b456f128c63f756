"""Hamel coefficients γ and γ_t against their definition by indices (PRINCIPLES §3) and against
what can be written down.
"""

from itertools import product

import pytest

import dalembert as da
from dalembert import gallery
from dalembert.gallery import ball_on_turntable, free_body, knife_edge_rod, moving_knife_edge
from dalembert.mechanics.kinetics.quasi_velocities import QuasiVelocities, hamel_coefficients
from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.expression_graph import Derivative, LinearCoefficients

BUILDERS = {
    "knife-edge-rod": knife_edge_rod.build,
    "ball-on-turntable": lambda: ball_on_turntable.build(Omega=None),
    "moving-knife-edge": lambda: moving_knife_edge.build(w=None),
    "free-body": free_body.build,
    "rolling-disk": lambda: gallery.build("rolling-disk"),
    "four-bar": lambda: gallery.build("four-bar"),
    "suslov": lambda: gallery.build("suslov"),
}


@pytest.fixture(params=BUILDERS)
def full(request):
    return QuasiVelocities(da.kinematics(BUILDERS[request.param]()).fork())


class Indices:
    """Ψ, ψ, Φ, X as tables of nodes, and partial derivatives at fixed q̇."""

    def __init__(self, full):
        self.full, kin = full, full.kin
        self.t, self.n = kin.tape, kin.n_q
        t = self.t
        forms = [LinearCoefficients(t, kin.qdot)(e) for e in full.definitions]
        self.Psi = [[k.get(i, t.zero) for i in range(self.n)] for _, k in forms]
        self.psi = [c for c, _ in forms]
        self.Phi = [[Phi.get(r, t.zero) for r in range(self.n)] for _, Phi in full.Phi]
        self.X = [X for X, _ in full.Phi]
        self._along = [Derivative(t, lambda i, q=q: t.one if i == q else None) for q in kin.q]
        # ∂_t acts through prescribed motions too
        held = {*kin.q, *kin.qdot}
        self.d_t = Derivative(t, lambda i: None if i in held else t.rate(i))

    def d(self, e, j):
        return self._along[j](e)

    def sum(self, terms):
        total = self.t.zero
        for term in terms:
            product_ = self.t.one
            for factor in term:
                product_ = self.t.mul(product_, factor)
            total = self.t.add(total, product_)
        return total

    def curl(self, s, i, j):
        """∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i"""
        return self.t.sub(self.d(self.Psi[s][i], j), self.d(self.Psi[s][j], i))

    def gamma(self, s, r, k):
        """γ^s_rk = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir Φ_jk"""
        return self.sum(
            (self.curl(s, i, j), self.Phi[i][r], self.Phi[j][k])
            for i, j in product(range(self.n), repeat=2)
        )

    def gamma_t(self, s, r):
        """γ^s_rt = Σ_ij (∂Ψ_si/∂q_j − ∂Ψ_sj/∂q_i) Φ_ir X_j + Σ_i (∂_tΨ_si − ∂ψ_s/∂q_i) Φ_ir"""
        turned = [
            (self.curl(s, i, j), self.Phi[i][r], self.X[j])
            for i, j in product(range(self.n), repeat=2)
        ]
        moved = [
            (self.t.sub(self.d_t(self.Psi[s][i]), self.d(self.psi[s], i)), self.Phi[i][r])
            for i in range(self.n)
        ]
        return self.sum([*turned, *moved])


def test_Phi_is_the_inverse_of_Psi(full):
    at, t = Indices(full), full.kin.tape
    entries = [
        t.sub(
            at.sum((at.Psi[s][i], at.Phi[i][r]) for i in range(at.n)), t.one if r == s else t.zero
        )
        for r, s in product(range(at.n), repeat=2)
    ]
    assert all(provably_zero(t, entries))
    # Ψ X + ψ = 0
    assert all(
        provably_zero(
            t,
            [
                t.add(at.psi[s], at.sum((at.Psi[s][i], at.X[i]) for i in range(at.n)))
                for s in range(at.n)
            ],
        )
    )


def test_tables_equal_the_formula_by_indices(full):
    at, t = Indices(full), full.kin.tape
    gamma, gamma_t = hamel_coefficients(full)
    triples = list(product(range(at.n), repeat=3))
    assert all(provably_zero(t, [t.sub(gamma[s][r][k], at.gamma(s, r, k)) for s, r, k in triples]))
    assert all(
        provably_zero(
            t, [t.sub(gamma_t[s][r], at.gamma_t(s, r)) for s, r in product(range(at.n), repeat=2)]
        )
    )


def test_gamma_is_antisymmetric_in_its_lower_indices(full):
    n, t = full.kin.n_q, full.kin.tape
    gamma, _ = hamel_coefficients(full)
    assert all(
        provably_zero(
            t, [t.add(gamma[s][r][k], gamma[s][k][r]) for s, r, k in product(range(n), repeat=3)]
        )
    )


def nonzero(name):
    """{(s, r, k): γ} and {(s, r): γ_t}, numbered from 1, without those that vanish; and the
    tape.
    """
    full = QuasiVelocities(da.kinematics(BUILDERS[name]()).fork())
    t, numbers = full.kin.tape, range(full.kin.n_q)
    gamma, gamma_t = hamel_coefficients(full)
    table = {(s + 1, r + 1, k + 1): gamma[s][r][k] for s, r, k in product(numbers, repeat=3)}
    table_t = {(s + 1, r + 1): gamma_t[s][r] for s, r in product(numbers, repeat=2)}
    for entries in (table, table_t):
        vanishing = provably_zero(t, list(entries.values()))
        for key, gone in zip(list(entries), vanishing, strict=True):
            if gone:
                del entries[key]
    return full.kin, table, table_t


def values(kin, table, expected):
    """Whether the table has these entries and no others."""
    t = kin.tape
    same = [t.sub(table[key], t.const(value)) for key, value in expected.items() if key in table]
    return set(expected) == set(table) and all(provably_zero(t, same))


def test_knife_edge():
    # u₁ = ẋ cos φ + ẏ sin φ, u₂ = φ̇, u₃ = −ẋ sin φ + ẏ cos φ: du₁-terms turn into u₃ and back
    kin, gamma, gamma_t = nonzero("knife-edge-rod")
    assert values(kin, gamma, {(1, 2, 3): -1, (1, 3, 2): 1, (3, 1, 2): -1, (3, 2, 1): 1})
    assert {} == gamma_t


def epsilon(i, j, k):
    return (j - i) * (k - i) * (k - j) // 2


@pytest.mark.parametrize(("axes", "sign"), [("body", 1), ("space", -1)])
@pytest.mark.parametrize("angles", ["zyx", "zxz"])
def test_rates_of_a_body_have_the_structure_constants_of_rotations(axes, sign, angles):
    # γ^s_rk = ε_rks along the body's axes, so that Σ P_s γ^s_rk ω_k = (ω × H)_r: Euler's equations
    # (Bar00 (21))
    s = da.System("body")
    B = s.N.rotations(angles, *s.coordinates("q_1 q_2 q_3"))[-1]
    s.body("body", 1, s.O, B, da.inertia(B, 2, 3, 4))
    s.speeds("omega_1 omega_2 omega_3", B.w, B if axes == "body" else s.N)
    BUILDERS["body rates"] = lambda: s
    kin, gamma, gamma_t = nonzero("body rates")
    del BUILDERS["body rates"]
    expected = {(s, r, k): sign * epsilon(r, k, s) for s, r, k in product((1, 2, 3), repeat=3)}
    assert values(kin, gamma, {key: e for key, e in expected.items() if e})
    assert {} == gamma_t


def test_free_body_mixes_nothing_else():
    kin, gamma, gamma_t = nonzero("free-body")
    expected = {(s, r, k): epsilon(r, k, s) for s, r, k in product((1, 2, 3), repeat=3)}
    assert values(kin, gamma, {key: e for key, e in expected.items() if e})
    assert {} == gamma_t


@pytest.mark.parametrize("name", ["ball-on-turntable", "moving-knife-edge", "four-bar"])
def test_moving_rows_bring_a_time_index(name):
    kin, _, gamma_t = nonzero(name)
    # the rows are the last speeds; a holonomic closure is integrable and needs none
    rows = {kin.n_u + 1 + j for j in range(len(kin.rows))}
    assert (name == "four-bar") == (not rows & {s for s, _ in gamma_t})
