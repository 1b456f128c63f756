"""Ṡ of S = ∂(q, z)/∂p, and S back onto the rows: the derivative of the solve, with the factors that
it has left.

    𝓜 dż − Aᵀ dλ = d(f − 𝓜 ż + Aᵀλ),   A dż = −d(γ + A ż),   ż and λ held on the right
    δ = −A⁺ dφ,  S_q ← S_q + E δ;   S_z ← S_z − A⁺ de

d is the derivative along a column of S. Where φ = 0 and e = 0 the second line is the derivative of
the projection itself.
"""

from __future__ import annotations

from dalembert.runtime.numerics.ir_builder import ScalarArray
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT32, POINTER
from dalembert.runtime.ode.constrained.workspace_fields import WorkspaceFunction


def sensitivities_ir() -> str:
    """The functions `tangent_rates`, `varied_rates`, `tangent_rows` and `varied_project`."""
    functions = (
        _tangent_rates,
        _rates_with_sensitivities,
        _tangent_rows,
        _project_with_sensitivities,
    )
    return "\n\n".join(text() for text in functions)


def _tangent_rates() -> str:
    """dq̇ and dż of one column into y, from what `tangents` gave for it."""
    native = WorkspaceFunction("tangent_rates", POINTER, POINTER)
    given, (outs, y) = native.given, native.arguments
    native.copy(given.n_q, ScalarArray(outs), ScalarArray(y))
    native.clear(given.f, given.groups)
    native.clear(given.gamma, given.row_groups)
    h, w = native.scalar_field("f"), native.scalar_field("w")
    native.copy(given.n, native.scalars_from(outs, given.n_q), h)
    native.copy(
        given.m, native.scalars_from(outs, given.n_q + given.n), native.scalar_field("gamma")
    )
    native.call("forward", given.f)
    native.call("reflect", given.f)
    native.call("through_R", given.gamma, 0.0, 0.0, 0)
    native.copy(given.rank, w, h)
    native.call("reflect_back", given.f)
    native.call("back", given.f)
    native.copy(given.n, h, native.scalars_from(y, given.n_q))
    return native.finish()


def _rates_with_sensitivities() -> str:
    """(q̇, ż, Ṡ) into y at x = (q, z, S, t), λ into the multipliers."""
    native = WorkspaceFunction(
        "varied_rates", POINTER, POINTER, POINTER, result="void", exported=True
    )
    f, given, (x, p, y) = native.function, native.given, native.arguments
    size = given.n_q + given.n
    whole = size * (given.directions + 1)
    native.copy(size, ScalarArray(x), native.scalar_field("x"))
    native.scalar_field("x")[size] = ScalarArray(x)[whole]
    f.line(f"call void @rates({given.x}, {p}, {y}, {native.pointer})")
    native.copy(whole + 1, ScalarArray(x), native.scalar_field("tangents_x"))
    native.copy(
        given.n, native.scalars_from(y, given.n_q), native.scalars_from(given.tangents_x, whole + 1)
    )
    native.copy(
        given.m,
        native.scalar_field("multipliers"),
        native.scalars_from(given.tangents_x, whole + 1 + given.n),
    )
    native.compute("tangents", given.tangents_x, given.tangents_outs, p)
    with f.loop(given.directions) as j:
        outs = native.scalars_from(given.tangents_outs, j * (size + given.m)).pointer
        native.call("tangent_rates", outs, native.scalars_from(y, (j + 1) * size).pointer)
    f.line("ret void")
    return f.text()


def _tangent_rows() -> str:
    """dφ and de of every column, at (q, z, S, t)."""
    native = WorkspaceFunction("tangent_rows", DOUBLE, POINTER)
    given, (t, y) = native.given, native.arguments
    whole = (given.n_q + given.n) * (given.directions + 1)
    native.copy(whole, ScalarArray(y), native.scalar_field("tangents_x"))
    native.scalar_field("tangents_x")[whole] = t
    native.compute("row_tangents", given.tangents_x, given.tangents_outs)
    return native.finish()


def _project_with_sensitivities() -> str:
    """The end of a step onto the rows, and S with it, positions before velocities."""
    native = WorkspaceFunction("varied_project", DOUBLE, POINTER, result=INT32, exported=True)
    f, given, (t, y) = native.function, native.given, native.arguments
    size = given.n_q + given.n
    code = f.call("project", INT32, t, y, native.pointer)
    with f.if_then(code.not_equal(0)):
        f.ret(code)
    with f.if_then(~given.holding.not_equal(0)):
        f.ret(0)
    x, h, e, phi = (native.scalar_field(name) for name in ("x", "h", "e", "phi"))
    native.call("tangent_rows", t, y)
    with f.loop(given.directions) as j:
        native.copy(given.m, native.scalars_from(given.tangents_outs, j * given.m * 2), phi)
        native.call("correction", given.phi, 0.0, 0)
        native.copy(given.n_q, ScalarArray(y), x)
        with f.loop(given.n) as r:
            x[given.n_q + r] = h[r]
        x[size] = t
        shifted = native.scalar_field("tangents_x")
        native.compute("shift", given.x, given.tangents_x)
        S = native.scalars_from(y, (j + 1) * size)
        with f.loop(given.n_q) as k:
            S[k] = S[k] + shifted[k]
    native.call("tangent_rows", t, y)
    with f.loop(given.directions) as j:
        native.copy(given.m, native.scalars_from(given.tangents_outs, j * given.m * 2 + given.m), e)
        native.call("correction", given.e, 0.0, 0)
        S = native.scalars_from(y, (j + 1) * size + given.n_q)
        with f.loop(given.n) as r:
            S[r] = S[r] + h[r]
    f.ret(0)
    return f.text()
