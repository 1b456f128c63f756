"""K q = ω² M q: a member by itself, held in its frame, in the functions it was expanded in.

Solved as M q = (1/ω²) K q, so that the lowest frequencies come out to rounding however many functions there are.

|ω_n − ω_(n−1)|/ω_n is what the last admissible function still changed, as an estimate of how far the expansion is from the continuum.

Source: Rayleigh and Ritz; the strain energy and the ends are those of the description.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dalembert.algebra.arithmetic import Floats
from dalembert.algebra.folds import evaluate
from dalembert.algebra.scalar import Scalar
from dalembert.errors import DalembertError
from dalembert.flexible.expansion.discretised import Discretised
from dalembert.flexible.expansion.integration import moments
from dalembert.flexible.expansion.strain import rigidities
from dalembert.model.system import System
from dalembert.numerics.symbol_values import check_complete, constant_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ritz:
    """M and K of a member in its amplitudes, field after field; `sizes` is how many functions each field has."""

    M: Numbers
    K: Numbers
    sizes: tuple[int, ...]

    def frequencies(self) -> Numbers:
        """ω, lowest first; motions as a whole have ω = 0."""
        from scipy.linalg import eigh

        M, K = self.M, self.K
        scale = 1 / np.sqrt(np.maximum(np.diag(K), 0.0) + np.diag(M) * np.max(np.diag(K), initial=0.0) * 1e-12 + 1e-300)
        M, K = M * scale * scale[:, None], K * scale * scale[:, None]
        if np.linalg.eigvalsh(K).min() <= 1e-9:
            found = eigh(K, M, eigvals_only=True)
            found[np.abs(found) < 1e-12 * np.abs(found).max()] = 0.0
            return np.asarray(np.sqrt(np.maximum(found, 0.0)))
        return np.asarray(1 / np.sqrt(eigh(M, K, eigvals_only=True)[::-1]))

    @property
    def stable(self) -> bool:
        """Whether the straight member resists every deflection, motions as a whole apart."""
        size = np.abs(np.diag(self.K))
        scale = 1 / np.sqrt(np.where(size > 0, size, 1.0))
        return bool(np.linalg.eigvalsh(self.K * scale * scale[:, None]).min() >= -1e-13)

    def without_last(self) -> Ritz | None:
        """The same member with one function less in each field."""
        if min(self.sizes) < 2:
            return None
        starts = np.cumsum((0, *self.sizes))
        kept = [i for a, n in zip(starts, self.sizes, strict=False) for i in range(a, a + n - 1)]
        return Ritz(self.M[np.ix_(kept, kept)], self.K[np.ix_(kept, kept)], tuple(n - 1 for n in self.sizes))


def ritz(bent: Discretised, values: Mapping[Any, Any] | None = None) -> Ritz:
    """M_ij = ∫ ρA φ_i φ_j dx + …, K_ij = ∫ EI φ_i″ φ_j″ dx + … with numbers for the constants."""
    entries = _Entries(bent)
    entries.mass()
    entries.strain()
    return Ritz(*entries.numbers(bent.system, values or {}), tuple(map(len, bent.functions.values())))


class _Entries:
    """The entries of M and K as expressions."""

    def __init__(self, bent: Discretised) -> None:
        self.bent, self.m = bent, bent.member
        self.place: dict[Scalar, int] = {}
        for q in (q for each in bent.amplitudes.values() for q in each):
            self.place[q] = len(self.place)
        self.M: dict[tuple[int, int], Scalar] = {}
        self.K: dict[tuple[int, int], Scalar] = {}

    def mass(self) -> None:
        m, bent = self.m, self.bent
        for symbol in bent.functions:
            if symbol in ("v", "w", "u") and m.density is not None:
                self._inertia(symbol, 0, m.density)
        turns = ("psi",) if len(m.bending) == 1 else ("psi_v", "psi_w")
        for plane, rho_I in enumerate(m.rotary):
            self._inertia(turns[plane] if m.shear else "vw"[plane], 0 if m.shear else 1, rho_I)
        if m.polar is not None and "phi" in bent.functions:
            self._inertia("phi", 0, m.polar)
        for share, end in enumerate(m.ends):
            for symbol in bent.functions:
                if end.mass is not None and symbol in ("v", "w", "u"):
                    self._lumped(self.M, symbol, share, 0, end.mass)
            if end.inertia is not None and m.kind == "shaft":
                self._lumped(self.M, "phi", share, 0, end.inertia)
            if end.inertia is not None:
                for plane in range(len(m.bending)):
                    self._lumped(self.M, turns[plane] if m.shear else "vw"[plane], share, 0 if m.shear else 1, end.inertia)

    def strain(self) -> None:
        m, L = self.m, self.m.length
        for rigidity, parts in rigidities(self.bent):
            for p, f, k, sign in parts:
                for r, g, l, other in parts:
                    table = moments(m, rigidity, [(x, k) for x in f], [(x, l) for x in g])
                    for i, row in enumerate(table):
                        for j, c in enumerate(row):
                            self._add(self.K, p[i], r[j], c * (sign * other) * L / L ** (k + l))
        turns = ("psi",) if len(m.bending) == 1 else ("psi_v", "psi_w")
        for share, end in enumerate(m.ends):
            for plane in range(len(m.bending)):
                if end.spring is not None:
                    self._lumped(self.K, "vw"[plane], share, 0, end.spring)
                if end.turning_spring is not None:
                    self._lumped(self.K, turns[plane] if m.shear else "vw"[plane], share, 0 if m.shear else 1, end.turning_spring)
            if end.axial_spring is not None:
                self._lumped(self.K, "u", share, 0, end.axial_spring)
            if end.twisting_spring is not None:
                self._lumped(self.K, "phi", share, 0, end.twisting_spring)

    def _inertia(self, symbol: str, order: int, density: Scalar) -> None:
        q, functions, L = self.bent.amplitudes[symbol], self.bent.functions[symbol], self.m.length
        parts = [(f, order) for f in functions]
        for i, row in enumerate(moments(self.m, density, parts, parts)):
            for j, c in enumerate(row):
                self._add(self.M, q[i], q[j], c * L / L ** (2 * order))

    def _lumped(self, where: dict[tuple[int, int], Scalar], symbol: str, share: int, order: int, size: Scalar) -> None:
        q, L = self.bent.amplitudes[symbol], self.m.length
        values = [f.at(share, order) for f in self.bent.functions[symbol]]
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                if a * b:
                    self._add(where, q[i], q[j], size * (a * b) / L ** (2 * order))

    def _add(self, where: dict[tuple[int, int], Scalar], p: Scalar, q: Scalar, e: Scalar) -> None:
        key = self.place[p], self.place[q]
        where[key] = where[key] + e if key in where else e

    def numbers(self, system: System, values: Mapping[Any, Any]) -> tuple[Numbers, Numbers]:
        """M and K as arrays."""
        tape = self.m.length.tape
        known = constant_values(system, values)
        n = len(self.place)

        def value(i: int) -> float:
            name = str(tape.nodes[i][1])
            check_complete(system, [name], known)
            return known[name]

        made = []
        for where in (self.M, self.K):
            A = np.zeros((n, n))
            found = evaluate(tape, [e.i for e in where.values()], value, Floats())
            for (i, j), x in zip(where, found, strict=True):
                A[i, j] = x
            made.append(A)
        return made[0], made[1]


_SHOWN: Final = 3


@dataclass(frozen=True)
class Convergence:
    """The lowest frequencies of a member held in its frame, with n functions in each field and with n − 1."""

    functions: int
    frequencies: tuple[float, ...]
    before: tuple[float, ...]
    # why there is no estimate
    reason: str = ""

    @property
    def changes(self) -> tuple[float, ...]:
        """What the last function changed, as a part of each frequency."""
        return tuple(abs(b - a) / a if a else 0.0 for a, b in zip(self.frequencies, self.before, strict=False))

    def __str__(self) -> str:
        if self.reason:
            return f"  convergence: no estimate, {self.reason}"
        lines = []
        for k, a in enumerate(self.frequencies):
            change = f"changed by {self.changes[k]:.1e} with the last function" if k < len(self.before) else "found with all functions only"
            lines.append(f"  ω_{k + 1} = {a:.10g} held in its frame, {change}")
        return "\n".join(lines)


def convergence(bent: Discretised, values: Mapping[Any, Any] | None = None) -> Convergence:
    """The estimate, or the reason why there is none."""
    n = min(map(len, bent.functions.values()))
    try:
        whole = ritz(bent, values)
    except DalembertError as problem:
        return Convergence(n, (), (), str(problem))
    if not whole.K.any():
        return Convergence(n, (), (), "its stiffness comes from its loads alone: compare runs with more functions")
    if not whole.stable:
        return Convergence(n, (), (), "it is pressed beyond its buckling load, so that its straight shape is unstable")
    less = whole.without_last()
    before = () if less is None else tuple(map(float, less.frequencies()[:_SHOWN]))
    return Convergence(n, tuple(map(float, whole.frequencies()[:_SHOWN])), before)
