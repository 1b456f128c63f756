"""ż and λ from 𝓜 ż = f + Aᵀλ, A ż + γ = 0, and the constraint projection: native text, written once
for any system.
Keywords: constraint stabilization.

    𝓜 = UᵀU,  B = U⁻ᵀAᵀ with columns scaled to length one,  B = Q R by reflections
    ż = U⁻¹ [ (1 − QQᵀ) U⁻ᵀ f − Q R⁻ᵀ γ ],   R λ = −Qᵀ U⁻ᵀ f − R⁻ᵀ γ

B is never multiplied with itself, so that its condition does not enter squared. Where a coordinate
moves no mass 𝓜 is replaced by 𝓜 + Σ_j ρ_j a_j a_jᵀ, which changes nothing on A ż + γ = 0 but λ, by
ρ_j a_j·ż. Rows are kept up to a given rank; which of them is decided by pivoting at the ends of
steps, and stays so within a step.

Matrices are kept by rows of a multiple of four numbers, zero beyond the last. A column of B is such
a row; where a reflection has made it a column of R, its first numbers move there and leave zeros
behind.
"""

from __future__ import annotations

import functools
from typing import Final

from dalembert.runtime.numerics.ir_builder import ScalarArray, Value
from dalembert.runtime.numerics.llvm_types import INT64, INTRINSICS, POINTER
from dalembert.runtime.ode.constrained.cholesky import cholesky_text
from dalembert.runtime.ode.constrained.householder_qr import qr_ir, roundoff_level
from dalembert.runtime.ode.constrained.projection import projection_ir
from dalembert.runtime.ode.constrained.sensitivities import sensitivities_ir
from dalembert.runtime.ode.constrained.sparse_factorization import SAFE, sparse_ir, try_sparse_rates
from dalembert.runtime.ode.constrained.workspace_fields import WorkspaceFunction

EXPORTS: Final = (
    "rates",
    "batch",
    "project",
    "project_all",
    "choose_rows",
    "varied_rates",
    "varied_project",
)


@functools.cache
def module_ir() -> str:
    """All functions, those of EXPORTS to be called from outside."""
    own = (_fill(), _factor_mass_and_scale(), _factor_all(), _rates(), _batch(), _choose_rows())
    return (
        "\n\n".join(
            (
                INTRINSICS,
                cholesky_text(),
                qr_ir(),
                sparse_ir(),
                projection_ir(),
                *own,
                sensitivities_ir(),
            )
        )
        + "\n"
    )


def _fill() -> str:
    """q̇, f, γ, φ, e, the upper half of M and A at x, each in its place; γ with Baumgarte's
    terms.
    """
    native = WorkspaceFunction("fill", POINTER)
    f, given, (x,) = native.function, native.given, native.arguments
    native.compute("fill", x, given.outs)
    block = ScalarArray(given.block)
    native.clear(given.block, given.block_groups)
    outs, index = native.scalar_field("outs"), native.int_field("index")
    with f.loop(given.count) as s:
        block[index[s]] = outs[s]
    with f.if_then(given.alpha.not_equal(0.0)):
        gamma, e, phi = (
            native.scalar_field("gamma"),
            native.scalar_field("e"),
            native.scalar_field("phi"),
        )
        with f.loop(given.m) as j:
            gamma[j] = gamma[j] + given.alpha * (e[j] * 2.0 + given.alpha * phi[j])
    return native.finish()


def _factor_mass_and_scale() -> str:
    """The factor of M and the scaled rows at x; at the end of a step also their lengths and how
    fast they turn.
    """
    native = WorkspaceFunction("look", POINTER, INT64)
    f, given, (x, choose) = native.function, native.given, native.arguments
    native.call("fill", x)
    with f.if_then(given.massless.not_equal(0)):
        native.call("weigh")
    native.call("cholesky")
    limit = f.select(choose.not_equal(0), given.m, given.cap)
    native.call("columns", limit, choose)
    with f.if_then(choose.not_equal(0)), f.if_then(~given.choosing.not_equal(0)):
        native.call("turn", ScalarArray(x)[given.n_q + given.n])
    f.ret(limit)
    return f.text()


def _factor_all() -> str:
    """The factors of M and of the rows at x, with rows chosen again or as they are; returns the
    rank.
    """
    native = WorkspaceFunction("prepare", POINTER, INT64)
    f, (x, choose) = native.function, native.arguments
    f.ret(native.call("factor", native.call("look", x, choose), choose))
    return f.text()


def _rates() -> str:
    """q̇, ż into y and λ into the multipliers, at x = (q, z, t)."""
    native = WorkspaceFunction("rates", POINTER, POINTER, POINTER, result="void", exported=True)
    f, given, (x, p, y) = native.function, native.given, native.arguments
    given.p = p
    try_sparse_rates(native, x, y)
    rank = native.call("prepare", x, given.choosing)
    native.copy(given.n_q, native.scalar_field("qdot"), ScalarArray(y))
    # U⁻ᵀ f, turned by Qᵀ
    h = given.f
    native.call("forward", h)
    native.call("reflect", h)
    native.call("through_R", given.gamma, 0.0, roundoff_level(native, x, accelerations=True), 2)
    entries, w, c = ScalarArray(h), native.scalar_field("w"), native.scalar_field("c")
    with f.loop(rank) as k:
        c[k] = w[k] - entries[k]
        entries[k] = w[k]
    native.call("reflect_back", h)
    native.call("back", h)
    native.copy(given.n, entries, native.scalars_from(y, given.n_q))
    _multipliers(native, rank)
    f.line("ret void")
    return f.text()


def _multipliers(native: WorkspaceFunction, rank: Value) -> None:
    """λ = s R⁻¹ c; of rows that are not kept zero; less ρ_j a_j·ż, which is −ρ_j γ_j, where
    there are massless coordinates.
    """
    f, given = native.function, native.given
    lam, c, scale = (
        native.scalar_field("multipliers"),
        native.scalar_field("c"),
        native.scalar_field("scale"),
    )
    with f.loop(given.m) as j:
        lam[j] = native.scalar_field("rho")[j] * native.scalar_field("gamma")[j]
    with f.loop(rank) as i:
        k = rank - 1 - i
        j = native.int_field("keep")[k]
        value = c[k] / native.scalar_field("diagonal")[k]
        column = native.column_of_R(j)
        with f.loop(k) as s:
            c[s] = c[s] - value * ScalarArray(column)[s]
        lam[j] = lam[j] + value * scale[j]


def _batch() -> str:
    """q̇, ż and λ of many states (q, z, t) in rows."""
    native = WorkspaceFunction("batch", POINTER, POINTER, POINTER, INT64, exported=True)
    f, given, (X, p, Y, count) = native.function, native.given, native.arguments
    n_in, n_out = given.n_q + given.n + 1, given.n_q + given.n
    width = n_out + given.m
    before = given.multipliers
    with f.loop(count) as i:
        x = native.scalars_from(X, n_in * i).pointer
        y = native.scalars_from(Y, width * i).pointer
        given.multipliers = native.scalars_from(y, n_out).pointer
        f.line(f"call void @rates({x}, {p}, {y}, {native.pointer})")
    given.multipliers = before
    return native.finish()


def _choose_rows() -> str:
    """Choose rows at a state (q, z, t), or leave that until it is needed; returns the rank."""
    native = WorkspaceFunction("choose_rows", POINTER, exported=True)
    f, given, (x,) = native.function, native.given, native.arguments
    with (
        f.if_then(given.back_count.not_equal(0)),
        f.if_then(~native.call("straight_look", x).not_equal(SAFE)),
    ):
        given.unseen = 0
        native.call("remember", x)
        f.ret(given.m)
    given.unseen = 0
    f.ret(native.call("prepare", x, 1))
    return f.text()
