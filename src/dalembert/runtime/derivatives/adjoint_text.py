"""The transpose of steps by Dormand and Prince's method, from the last to the first, LLVM text.

    y⁺ = y + h Σ b_i k_i,  k_i = f(z_i),  z_i = y + h Σ_j a_ij k_j
    k̄_i = h (b_i ȳ + Σ_{j>i} a_ji z̄_j),  (z̄_i, p̄_i) = (∂f/∂(y, p))ᵀ k̄_i + h b_i ∂L/∂(y, p)
    ȳ ← ȳ + Σ z̄_i,  p̄ ← p̄ + Σ p̄_i

    void transpose(f, g, work_f, work_g, p, T, H, Y, ybar, pbar, room, n, m, steps)

f(z, t) gives the rates, g(z, t, k̄, l̄) the transposed product, with l̄ the factor of the integral
cost L. Only the states at the beginnings of steps are stored; the stages are computed again.
"""

from __future__ import annotations

from typing import Final

from dalembert.runtime.numerics.ir_builder import FunctionBuilder, ScalarArray, Value
from dalembert.runtime.numerics.llvm_types import DOUBLE, INT64, POINTER
from dalembert.runtime.ode.dop853_coefficients import STEP_STAGES, A, B, C

# numbers of the room for n components and m parameters: stages, slopes, what f and g are given,
# what g gives
STAGES: Final = STEP_STAGES


def room_size(n: int, m: int) -> int:
    """Numbers that the room must hold."""
    return 2 * STAGES * n + (n + 1) + (2 * n + 2) + (n + m)


def transpose_text() -> str:
    """The whole module."""
    return _Transpose().whole()


class _Transpose(FunctionBuilder):
    """@transpose while it is being written."""

    def __init__(self) -> None:
        kinds = (*(POINTER,) * 11, *(INT64,) * 3)
        super().__init__("transpose", "void", *kinds, exported=True)
        f, g, work_f, work_g, p, T, H, Y, ybar, pbar, room, n, m, steps = self.parameters
        self.f, self.g, self.p, self.work = f, g, p, (work_f, work_g)
        self.T, self.H, self.Y = ScalarArray(T), ScalarArray(H), Y
        self.ybar, self.pbar, self.n, self.m, self.steps = (
            ScalarArray(ybar),
            ScalarArray(pbar),
            n,
            m,
            steps,
        )
        places = [room]
        for size in (n * STAGES, n * STAGES, n + 1, n * 2 + 2):
            places.append(self.offset(places[-1], size))
        self.stages, self.slopes, self.given, self.seeded, self.results = places

    def offset(self, base: Value, count: Value) -> Value:
        """The address that lies `count` numbers behind another."""
        return self.emit(POINTER, f"getelementptr {DOUBLE}, {base}, {count}")

    def row(self, base: Value, i: int) -> ScalarArray:
        """Row i of n numbers."""
        return ScalarArray(self.offset(base, self.n * i))

    def whole(self) -> str:
        """The finished function."""
        with self.loop(self.steps) as k:
            step = self.steps - 1 - k
            t, h = self.T[step], self.H[step]
            y = ScalarArray(self.offset(self.Y, step * self.n))
            for i in range(STAGES):
                self.stage(i, y, t, h)
            for i in reversed(range(STAGES)):
                self.back(i, t, h)
            with self.loop(self.n) as c:
                total = self.ybar[c]
                for i in range(STAGES):
                    total = total + self.row(self.slopes, i)[c]
                self.ybar[c] = total
        self.ret_void()
        return self.text()

    def stage(self, i: int, y: ScalarArray, t: Value, h: Value) -> None:
        """z_i and k_i"""
        x = ScalarArray(self.given)
        z = self.row(self.stages, i)
        with self.loop(self.n) as c:
            moved = self.value(0.0, DOUBLE)
            for j, a in A[i].items():
                moved = moved + self.row(self.slopes, j)[c] * a
            z[c] = x[c] = y[c] + h * moved
        x[self.n] = t + h * C[i]
        k = self.offset(self.slopes, self.n * i)
        self.line(f"call void {self.f.name}({x.pointer}, {self.p}, {k}, {self.work[0]})")

    def back(self, i: int, t: Value, h: Value) -> None:
        """k̄_i, and z̄_i in the place of k_i"""
        x, z, results = (
            ScalarArray(self.seeded),
            self.row(self.stages, i),
            ScalarArray(self.results),
        )
        b = B.get(i, 0.0)
        with self.loop(self.n) as c:
            x[c] = z[c]
            total = self.ybar[c] * b
            for j in range(i + 1, STAGES):
                if i in A[j]:
                    total = total + self.row(self.slopes, j)[c] * A[j][i]
            x[self.n + 1 + c] = h * total
        x[self.n] = t + h * C[i]
        x[self.n * 2 + 1] = h * b
        self.line(
            f"call void {self.g.name}({x.pointer}, {self.p}, {results.pointer}, {self.work[1]})"
        )
        zbar = self.row(self.slopes, i)
        with self.loop(self.n) as c:
            zbar[c] = results[c]
        with self.loop(self.m) as c:
            self.pbar[c] = self.pbar[c] + results[self.n + c]
