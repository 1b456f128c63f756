"""A spatial chain of revolute joints by articulated bodies, written on a tape: a realistic load for
the compiler.

Joint i turns about axis i mod 3 of its body; masses, mass centres, inertias and offsets are
literals drawn from a fixed seed, the same for every length.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from dalembert.symbolic.algebra.functions import cos, sin
from dalembert.symbolic.algebra.scalar import Scalar
from dalembert.symbolic.algebra.tape import Tape

Vector = list[Scalar]
Matrix = list[Vector]


@dataclass(frozen=True)
class Chain:
    """The tape of q'' = f(q, q'), with its symbols and its numbers."""

    tape: Tape
    q: list[int]
    u: list[int]
    udot: list[int]
    links: list[Link]


@dataclass(frozen=True)
class Link:
    axis: int
    mass: float
    centre: list[float]
    inertia: list[float]
    offset: list[float]


def links(n: int) -> list[Link]:
    draw = random.Random(1)

    def three(low: float, high: float) -> list[float]:
        return [round(draw.uniform(low, high), 6) for _ in range(3)]

    return [
        Link(
            i % 3, round(draw.uniform(1, 2), 6), three(-0.3, 0.3), three(0.1, 0.2), three(-0.5, 0.5)
        )
        for i in range(n)
    ]


def cross(a: Vector, b: Vector) -> Vector:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def add(a: Vector, b: Vector) -> Vector:
    return [x + y for x, y in zip(a, b, strict=True)]


def dot(a: Vector, b: Vector) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def times(X: Matrix, y: Vector) -> Vector:
    return [dot(row, y) for row in X]


def transposed(X: Matrix) -> Matrix:
    return [list(column) for column in zip(*X, strict=True)]


def product(X: Matrix, Y: Matrix) -> Matrix:
    return [[dot(row, column) for column in transposed(Y)] for row in X]


def plus(X: Matrix, Y: Matrix) -> Matrix:
    return [add(x, y) for x, y in zip(X, Y, strict=True)]


def to_child(axis: int, c: Scalar, s: Scalar, v: Vector) -> Vector:
    j, k = (axis + 1) % 3, (axis + 2) % 3
    w = list(v)
    w[j], w[k] = c * v[j] + s * v[k], c * v[k] - s * v[j]
    return w


def to_parent(axis: int, c: Scalar, s: Scalar, v: Vector) -> Vector:
    return to_child(axis, c, -s, v)


def rotated(axis: int, c: Scalar, s: Scalar, X: Matrix) -> Matrix:
    columns = [to_parent(axis, c, s, column) for column in transposed(X)]
    return [to_parent(axis, c, s, row) for row in transposed(columns)]


class Builder:
    """The three sweeps of the articulated-body recursion, body frames at the joints."""

    def __init__(self, n: int) -> None:
        self.tape = Tape()
        self.links = links(n)
        self.q = [Scalar(self.tape, self.tape.symbol(f"q{i}")) for i in range(n)]
        self.u = [Scalar(self.tape, self.tape.symbol(f"u{i}")) for i in range(n)]
        self.turns = [(cos(q), sin(q)) for q in self.q]
        self.zero = self.number(0)
        self.bias: list[tuple[Vector, Vector]] = []
        self.inertia: list[tuple[Matrix, Matrix, Matrix]] = []
        self.force: list[tuple[Vector, Vector]] = []

    def number(self, x: float) -> Scalar:
        from dalembert.symbolic.algebra.scalar import exact

        return Scalar(self.tape, self.tape.const(exact(x)))

    def vector(self, xs: list[float]) -> Vector:
        return [self.number(x) for x in xs]

    def skew(self, r: Vector) -> Matrix:
        o = self.zero
        return [[o, -r[2], r[1]], [r[2], o, -r[0]], [-r[1], r[0], o]]

    def outward(self) -> None:
        """Velocities, velocity-product accelerations, rigid inertias and gyroscopic forces."""
        w = v = [self.zero] * 3
        for link, u, (c, s) in zip(self.links, self.u, self.turns, strict=True):
            v = to_child(link.axis, c, s, add(v, cross(w, self.vector(link.offset))))
            w = to_child(link.axis, c, s, w)
            j, k = (link.axis + 1) % 3, (link.axis + 2) % 3
            cw, cv = [self.zero] * 3, [self.zero] * 3
            cw[j], cw[k] = w[k] * u, -(w[j] * u)
            cv[j], cv[k] = v[k] * u, -(v[j] * u)
            w[link.axis] = w[link.axis] + u
            self.bias.append((cw, cv))
            A, B, M = self.rigid(link)
            self.inertia.append((A, B, M))
            h, p = add(times(A, w), times(B, v)), add(times(transposed(B), w), times(M, v))
            self.force.append((add(cross(w, h), cross(v, p)), cross(w, p)))

    def rigid(self, link: Link) -> tuple[Matrix, Matrix, Matrix]:
        m, o = self.number(link.mass), self.zero
        cx = self.skew(self.vector(link.centre))
        I = [[self.number(link.inertia[a]) if a == b else o for b in range(3)] for a in range(3)]
        A = plus(I, [[m * x for x in row] for row in product(cx, transposed(cx))])
        return (
            A,
            [[m * x for x in row] for row in cx],
            [[m if a == b else o for b in range(3)] for a in range(3)],
        )

    def inward(self, i: int) -> tuple[Vector, Vector, Scalar, Scalar]:
        """Eliminate joint i, and hang what is left of it on its parent."""
        link, (A, B, M) = self.links[i], self.inertia[i]
        axis = link.axis
        Ua, Ul = [A[a][axis] for a in range(3)], list(B[axis])
        d, t = 1 / A[axis][axis], -self.force[i][0][axis]
        if i:
            Da, Dl = [x * d for x in Ua], [x * d for x in Ul]
            A = [
                [
                    A[a][b] - Da[min(a, b)] * Ua[max(a, b)] if axis not in (a, b) else self.zero
                    for b in range(3)
                ]
                for a in range(3)
            ]
            M = [[M[a][b] - Dl[min(a, b)] * Ul[max(a, b)] for b in range(3)] for a in range(3)]
            B = [
                [B[a][b] - Da[a] * Ul[b] if a != axis else self.zero for b in range(3)]
                for a in range(3)
            ]
            cw, cv = self.bias[i]
            fa = [x + y * (t * d) for x, y in zip(self.force[i][0], Ua, strict=True)]
            fl = [x + y * (t * d) for x, y in zip(self.force[i][1], Ul, strict=True)]
            fa = add(add(fa, times(A, cw)), times(B, cv))
            fl = add(add(fl, times(transposed(B), cw)), times(M, cv))
            self.hang(i, (A, B, M), fa, fl)
        return Ua, Ul, d, t

    def hang(
        self, i: int, articulated: tuple[Matrix, Matrix, Matrix], fa: Vector, fl: Vector
    ) -> None:
        link, (c, s) = self.links[i], self.turns[i]
        A, B, M = (rotated(link.axis, c, s, X) for X in articulated)
        fa, fl = to_parent(link.axis, c, s, fa), to_parent(link.axis, c, s, fl)
        r = self.vector(link.offset)
        rx = self.skew(r)
        shifted = plus(B, product(rx, M))
        turned = product(shifted, rx)
        A = [
            [x - y for x, y in zip(p, q, strict=True)]
            for p, q in zip(plus(A, product(rx, transposed(B))), turned, strict=True)
        ]
        A0, B0, M0 = self.inertia[i - 1]
        A = plus(A0, A)
        self.inertia[i - 1] = (
            [[A[min(a, b)][max(a, b)] for b in range(3)] for a in range(3)],
            plus(B0, shifted),
            plus(M0, M),
        )
        self.force[i - 1] = (
            add(self.force[i - 1][0], add(fa, cross(r, fl))),
            add(self.force[i - 1][1], fl),
        )

    def build(self) -> Chain:
        self.outward()
        n = len(self.links)
        left = [self.inward(i) for i in reversed(range(n))][::-1]
        aw, al = [self.zero] * 3, [self.zero, self.zero, self.number(9.81)]
        udot = []
        for i in range(n):
            link, (c, s) = self.links[i], self.turns[i]
            al = add(
                to_child(link.axis, c, s, add(al, cross(aw, self.vector(link.offset)))),
                self.bias[i][1],
            )
            aw = add(to_child(link.axis, c, s, aw), self.bias[i][0])
            Ua, Ul, d, t = left[i]
            udot.append((t - dot(Ua, aw) - dot(Ul, al)) * d)
            aw[link.axis] = aw[link.axis] + udot[-1]
        return Chain(
            self.tape, [x.i for x in self.q], [x.i for x in self.u], [x.i for x in udot], self.links
        )


def chain(n: int) -> Chain:
    """q'' of n joints under gravity along −z."""
    return Builder(n).build()
