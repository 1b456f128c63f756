"""ż and λ from 𝓜 ż = f + Aᵀλ, A ż + γ = 0, and the way back onto the rows: native text, written once for any system.

    𝓜 = UᵀU,  B = U⁻ᵀAᵀ with columns scaled to length one,  B = Q R by reflections
    ż = U⁻¹ [ (1 − QQᵀ) U⁻ᵀ f − Q R⁻ᵀ γ ],   R λ = −Qᵀ U⁻ᵀ f − R⁻ᵀ γ

B is never multiplied with itself, so that its condition does not enter squared. Where a coordinate moves no mass 𝓜 is
replaced by 𝓜 + Σ_j ρ_j a_j a_jᵀ, which changes nothing on A ż + γ = 0 but λ, by ρ_j a_j·ż. Rows are kept up to a given rank;
which of them is decided by pivoting at the ends of steps, and stays so within a step.

Matrices are kept by rows of a multiple of four numbers, zero beyond the last. A column of B is such a row; where a
reflection has made it a column of R, its first numbers move there and leave zeros behind.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.runtime.numerics.ir_builder import NumberArray, Value
from dalembert.runtime.numerics.llvm_types import INTRINSICS, POINTER, WHOLE
from dalembert.runtime.ode.constrained.cholesky import cholesky_text
from dalembert.runtime.ode.constrained.householder_qr import noise, orthogonal_text
from dalembert.runtime.ode.constrained.projection import projection_text
from dalembert.runtime.ode.constrained.sensitivities import tangents_text
from dalembert.runtime.ode.constrained.sparse_factorization import SAFE, straight_rates, straight_text
from dalembert.runtime.ode.constrained.workspace_fields import ProblemFunction

EXPORTS: Final = ("rates", "batch", "project", "project_all", "choose_rows", "varied_rates", "varied_project")


@functools.cache
def text() -> str:
    """All functions, those of EXPORTS to be called from outside."""
    own = (_fill(), _look(), _prepare(), _rates(), _batch(), _choose_rows())
    return "\n\n".join((INTRINSICS, cholesky_text(), orthogonal_text(), straight_text(), projection_text(), *own, tangents_text())) + "\n"


def _fill() -> str:
    """q̇, f, γ, φ, e, the upper half of M and A at x, each in its place; γ with Baumgarte's terms."""
    native = ProblemFunction("fill", POINTER)
    f, given, (x,) = native.function, native.given, native.arguments
    native.compute("fill", x, given.outs)
    block = NumberArray(given.block)
    native.clear(given.block, given.block_groups)
    outs, index = native.column("outs"), native.whole("index")
    with f.loop(given.count) as s:
        block[index[s]] = outs[s]
    with f.when(given.alpha.differs(0.0)):
        gamma, e, phi = native.column("gamma"), native.column("e"), native.column("phi")
        with f.loop(given.m) as j:
            gamma[j] = gamma[j] + given.alpha * (e[j] * 2.0 + given.alpha * phi[j])
    return native.done()


def _look() -> str:
    """The factor of M and the scaled rows at x; at the end of a step also their lengths and how fast they turn."""
    native = ProblemFunction("look", POINTER, WHOLE)
    f, given, (x, choose) = native.function, native.given, native.arguments
    native.call("fill", x)
    with f.when(given.massless.differs(0)):
        native.call("weigh")
    native.call("cholesky")
    limit = f.choose(choose.differs(0), given.m, given.cap)
    native.call("columns", limit, choose)
    with f.when(choose.differs(0)), f.when(~given.choosing.differs(0)):
        native.call("turn", NumberArray(x)[given.n_q + given.n])
    f.give(limit)
    return f.text()


def _prepare() -> str:
    """The factors of M and of the rows at x, with rows chosen anew or as they are; returns the rank."""
    native = ProblemFunction("prepare", POINTER, WHOLE)
    f, (x, choose) = native.function, native.arguments
    f.give(native.call("factor", native.call("look", x, choose), choose))
    return f.text()


def _rates() -> str:
    """q̇, ż into y and λ into the multipliers, at x = (q, z, t)."""
    native = ProblemFunction("rates", POINTER, POINTER, POINTER, result="void", exported=True)
    f, given, (x, p, y) = native.function, native.given, native.arguments
    given.p = p
    straight_rates(native, x, y)
    rank = native.call("prepare", x, given.choosing)
    native.copy(given.n_q, native.column("qdot"), NumberArray(y))
    # U⁻ᵀ f, turned by Qᵀ
    h = given.f
    native.call("forward", h)
    native.call("reflect", h)
    native.call("through_R", given.gamma, 0.0, noise(native, x, accelerations=True), 2)
    entries, w, c = NumberArray(h), native.column("w"), native.column("c")
    with f.loop(rank) as k:
        c[k] = w[k] - entries[k]
        entries[k] = w[k]
    native.call("reflect_back", h)
    native.call("back", h)
    native.copy(given.n, entries, native.numbers_from(y, given.n_q))
    _multipliers(native, rank)
    f.line("ret void")
    return f.text()


def _multipliers(native: ProblemFunction, rank: Value) -> None:
    """λ = s R⁻¹ c; of rows that are not kept zero; less ρ_j a_j·ż, which is −ρ_j γ_j, where there are massless coordinates."""
    f, given = native.function, native.given
    lam, c, scale = native.column("multipliers"), native.column("c"), native.column("scale")
    with f.loop(given.m) as j:
        lam[j] = native.column("rho")[j] * native.column("gamma")[j]
    with f.loop(rank) as i:
        k = rank - 1 - i
        j = native.whole("keep")[k]
        value = c[k] / native.column("diagonal")[k]
        column = native.column_of_R(j)
        with f.loop(k) as s:
            c[s] = c[s] - value * NumberArray(column)[s]
        lam[j] = lam[j] + value * scale[j]


def _batch() -> str:
    """q̇, ż and λ of many states (q, z, t) in rows."""
    native = ProblemFunction("batch", POINTER, POINTER, POINTER, WHOLE, exported=True)
    f, given, (X, p, Y, count) = native.function, native.given, native.arguments
    n_in, n_out = given.n_q + given.n + 1, given.n_q + given.n
    width = n_out + given.m
    before = given.multipliers
    with f.loop(count) as i:
        x = native.numbers_from(X, n_in * i).pointer
        y = native.numbers_from(Y, width * i).pointer
        given.multipliers = native.numbers_from(y, n_out).pointer
        f.line(f"call void @rates({x}, {p}, {y}, {native.pointer})")
    given.multipliers = before
    return native.done()


def _choose_rows() -> str:
    """Choose rows at a state (q, z, t), or leave that until it is needed; returns the rank."""
    native = ProblemFunction("choose_rows", POINTER, exported=True)
    f, given, (x,) = native.function, native.given, native.arguments
    with f.when(given.back_count.differs(0)), f.when(~native.call("straight_look", x).differs(SAFE)):
        given.unseen = 0
        native.call("remember", x)
        f.give(given.m)
    given.unseen = 0
    f.give(native.call("prepare", x, 1))
    return f.text()
