"""(ω, v) and (n, f): motions and forces of rigid bodies about one point, along the axes of the
ground, as nodes of a tape.

Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2.
"""

from __future__ import annotations

from typing import NamedTuple

from dalembert.mechanics.geometry.rotation import (
    Matrix3,
    add3,
    cross3,
    matrix_sum,
    matrix_vector,
    scale3,
    transpose,
    wrench_power,
)
from dalembert.symbolic.algebra.tape import Tape, Triple

Six = tuple[Triple, Triple]


class RigidInertia(NamedTuple):
    """m, h = Σ m r and the inertia A about the point."""

    m: int
    h: Triple
    A: Matrix3


class SpatialInertia(NamedTuple):
    """n = A α + B a, f = Bᵀ α + M a"""

    A: Matrix3
    B: Matrix3
    M: Matrix3


class SpatialVectors:
    """The operations, on one tape."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.zero: Six = ((tape.zero,) * 3, (tape.zero,) * 3)

    def dot(self, a: Six, b: Six) -> int:
        """A motion on a force"""
        return wrench_power(self.tape, *a, *b)

    def scaled(self, k: int, a: Six) -> Six:
        """k a"""
        return scale3(self.tape, k, a[0]), scale3(self.tape, k, a[1])

    def sum(self, first: Six, *others: Six) -> Six:
        """a + b + …"""
        t, total = self.tape, first
        for a in others:
            total = add3(t, total[0], a[0]), add3(t, total[1], a[1])
        return total

    def motion_cross(self, a: Six, b: Six) -> Six:
        """a × b of two motions"""
        t = self.tape
        return cross3(t, a[0], b[0]), add3(t, cross3(t, a[0], b[1]), cross3(t, a[1], b[0]))

    def force_cross(self, a: Six, f: Six) -> Six:
        """a ×* f of a motion and a force"""
        t = self.tape
        return add3(t, cross3(t, a[0], f[0]), cross3(t, a[1], f[1])), cross3(t, a[0], f[1])

    def momentum(self, I: RigidInertia, a: Six) -> Six:
        """I a of a rigid body"""
        t = self.tape
        n = add3(t, matrix_vector(t, I.A, a[0]), cross3(t, I.h, a[1]))
        return n, add3(t, scale3(t, I.m, a[1]), cross3(t, a[0], I.h))

    def resistance(self, I: SpatialInertia, a: Six) -> Six:
        """I a of an articulated body"""
        t = self.tape
        n = add3(t, matrix_vector(t, I.A, a[0]), matrix_vector(t, I.B, a[1]))
        return n, add3(t, matrix_vector(t, transpose(I.B), a[0]), matrix_vector(t, I.M, a[1]))

    def joined(self, a: RigidInertia, b: RigidInertia) -> RigidInertia:
        """Two bodies that move as one"""
        t = self.tape
        return RigidInertia(t.add(a.m, b.m), add3(t, a.h, b.h), matrix_sum(t, a.A, b.A))
