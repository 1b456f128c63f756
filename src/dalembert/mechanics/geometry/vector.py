"""v = Σ_F (v₁ f₁ + v₂ f₂ + v₃ f₃): vectors as sums over frames.

A vector stays a sum of parts, each written in the frame where it is short, until a product needs
two of them in one frame; then the deeper of the two is taken. Above three frames the parts are
merged into the deepest.

I = Σ I_ij f_i f_j: symmetric dyadics, as inertias are, in one frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadExpression
from dalembert.foundation.display import NotebookDisplay, shorten
from dalembert.mechanics.geometry.rotation import add3, cross3, dot3, negate3, scale3
from dalembert.symbolic.algebra.expression_graph import copy_expressions
from dalembert.symbolic.algebra.scalar import Scalar, as_node, common_tape
from dalembert.symbolic.algebra.tape import Tape, Triple

if TYPE_CHECKING:
    from dalembert.mechanics.geometry.frame import Frame

MOST_PARTS: Final = 3
# what other libraries call it
_LENGTH: Final = "; the length of v is da.sqrt(v @ v)"
_ELSEWHERE: Final = {
    "dot": "; a · b is written a @ b, and d/dt of the position of P is P.v",
    "magnitude": _LENGTH,
    "norm": _LENGTH,
    "length": _LENGTH,
    "x": "; its components are v.to(N), or v @ N.x",
    "to_matrix": "; its components are v.to(N)",
    "express": "; its components are v.to(N)",
    "diff": "; the velocity of P is P.v, the one that a frame sees P.v_in(B)",
    "dt": "; the velocity of P is P.v, the one that a frame sees P.v_in(B)",
}


class Vector(NotebookDisplay):
    """A vector of one system; `+ - *` as usual, `a @ b` is the dot product, `a.cross(b)` the
    cross product.
    """

    __slots__ = ("parts", "tape")

    def __init__(self, tape: Tape, parts: dict[Frame, Triple]) -> None:
        self.tape = tape
        nothing = (tape.zero, tape.zero, tape.zero)
        self.parts = (
            {F: c for F, c in parts.items() if c != nothing} if nothing in parts.values() else parts
        )

    def on(self, tape: Tape) -> Vector:
        """The same vector with its components on another tape of the system."""
        if tape is self.tape:
            return self
        shared = tape.shared_prefix.get(self.tape)
        if shared is None:
            common_tape(tape, self.tape)
            shared = tape.shared_length(self.tape)
        if max(map(max, self.parts.values()), default=0) < shared:
            return Vector(tape, self.parts)
        copied: dict[Frame, Triple] = {
            F: tuple(copy_expressions(self.tape, tape, c))  # type: ignore[misc]
            for F, c in self.parts.items()
        }
        return Vector(tape, copied)

    # ---- sums --------------------------------------------------------------------------------

    def __add__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return _refuse_operand(self, "+", other)
        a, b = _on_common_tape(self, other)
        if not a.parts or not b.parts:
            return a if a.parts else b
        return _sum(a.tape, a.parts, b.parts)

    def __sub__(self, other: Vector) -> Vector:
        return self + (-other) if isinstance(other, Vector) else _refuse_operand(self, "-", other)

    def __radd__(self, other: object) -> Vector:
        if other.__class__ is int and other == 0:
            return self
        return _refuse_operand(other, "+", self)  # type: ignore[no-any-return]

    def __rsub__(self, other: object) -> Vector:
        return _refuse_operand(other, "-", self)  # type: ignore[no-any-return]

    def __abs__(self) -> Vector:
        msg = f"the length of a vector v is da.sqrt(v @ v); this one is {self}"
        raise BadExpression(msg)

    def __pow__(self, k: object) -> Vector:
        msg = f"({self})**{k}: a vector has no powers; the square of its length is v @ v"
        raise BadExpression(msg)

    def __getitem__(self, k: object) -> Scalar:
        msg = f"v[{k!r}]: the components of a vector along a frame are v.to(N), or v @ N.x"
        raise BadExpression(msg)

    def _no_order(self, other: object) -> bool:
        """Vectors are not larger or smaller."""
        msg = f"{self} and {other}: vectors are not compared; their lengths are da.sqrt(v @ v)"
        raise BadExpression(msg)

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def __len__(self) -> int:
        msg = (
            "a vector has no number of elements; its components along a frame are v.to(N), its "
            "length is da.sqrt(v @ v)"
        )
        raise TypeError(msg)

    def __bool__(self) -> bool:
        return True

    def __rmatmul__(self, other: object) -> Scalar:
        return _refuse_operand(other, "@", self)  # type: ignore[no-any-return]

    # numbers of NumPy leave products to us, and its array functions raise an error that names the
    # fix
    __array_ufunc__ = None

    def __array__(self, *_: object, **__: object) -> Any:
        msg = (
            "a vector is no array: its components along a frame are v.to(N), products are a @ b "
            "and a.cross(b)"
        )
        raise BadExpression(msg)

    def __getattr__(self, name: str) -> Any:
        hint = _ELSEWHERE.get(name, "")
        msg = f"a vector has no attribute {name!r}{hint}"
        raise AttributeError(msg)

    def __neg__(self) -> Vector:
        return Vector(self.tape, {F: negate3(self.tape, c) for F, c in self.parts.items()})

    def __mul__(self, k: Any) -> Vector:
        if isinstance(k, Vector):
            msg = "a product of two vectors is written a @ b (dot) or a.cross(b)"
            raise BadExpression(msg)
        tape = common_tape(self.tape, k.tape) if isinstance(k, Scalar) else self.tape
        return self.on(tape).scale(as_node(tape, k))

    __rmul__ = __mul__

    def __truediv__(self, k: Any) -> Vector:
        tape = common_tape(self.tape, k.tape) if isinstance(k, Scalar) else self.tape
        return self.on(tape).scale(tape.div(tape.one, as_node(tape, k)))

    def map(self, rule: Callable[[int], int]) -> Vector:
        """The same rule for every component: a derivative along a fixed frame, a substitution."""
        return Vector(
            self.tape, {F: (rule(x), rule(y), rule(z)) for F, (x, y, z) in self.parts.items()}
        )

    def scale(self, k: int) -> Vector:
        """k v for a node k of the vector's own tape."""
        return Vector(self.tape, {F: scale3(self.tape, k, c) for F, c in self.parts.items()})

    # ---- products ----------------------------------------------------------------------------

    def __matmul__(self, other: Vector) -> Scalar:
        if not isinstance(other, Vector):
            return _refuse_operand(self, "@", other)
        a, b = _on_common_tape(self, other)
        return Scalar(a.tape, a.dot_node(b))

    def dot_node(self, other: Vector) -> int:
        """a · b as a node, for vectors of one tape."""
        t = self.tape
        total = t.zero
        for F, a in self.parts.items():
            for G, b in other.parts.items():
                _, x, y = _in_common_frame(t, F, a, G, b)
                total = t.add(total, dot3(t, x, y))
        return total

    def cross(self, other: Vector) -> Vector:
        """a × b"""
        if not isinstance(other, Vector):
            msg = f"cross: expected a vector such as a*N.x, got {other!r}"
            raise BadExpression(msg)
        a, b = _on_common_tape(self, other)
        t = a.tape
        parts: dict[Frame, Triple] = {}
        for F, x in a.parts.items():
            for G, y in b.parts.items():
                H, p, r = _in_common_frame(t, F, x, G, y)
                product = {H: cross3(t, p, r)}
                parts = _sum(t, parts, product).parts if parts else product
        return Vector(t, parts)

    # ---- components --------------------------------------------------------------------------

    def in_one_frame(self) -> Vector:
        """The same vector written in the deepest of its frames."""
        if len(self.parts) < 2:
            return self
        F = max(self.parts, key=lambda f: (f.depth, f.number))
        return Vector(self.tape, {F: self.components(F)})

    def components(self, F: Frame) -> Triple:
        """The components along the axes of F, as nodes."""
        t = self.tape
        total: Triple = (t.zero, t.zero, t.zero)
        for G, c in self.parts.items():
            total = add3(t, total, F.express(t, c, G))
        return total

    def to(self, F: Frame) -> tuple[Scalar, Scalar, Scalar]:
        """The components along the axes of F."""
        common_tape(self.tape, F.space.tape)
        x, y, z = self.components(F)
        return Scalar(self.tape, x), Scalar(self.tape, y), Scalar(self.tape, z)

    def __str__(self) -> str:
        if not self.parts:
            return "0"
        named = [
            (c, f"{F.name}.{axis}")
            for F, t in self.parts.items()
            for c, axis in zip(t, "xyz", strict=True)
        ]
        terms = [(Scalar(self.tape, c), name) for c, name in named if c != self.tape.zero]
        written = [name if e == 1 else f"({e}) {name}" for e, name in terms]
        return " + ".join(term for term in written if not term.startswith("(0) ")) or "0"

    __repr__ = __str__


def _refuse_operand(a: object, operator: str, b: object) -> Any:
    """Only vectors are added to vectors, and multiplied by @."""
    if operator != "@" and getattr(b if isinstance(a, Vector) else a, "space", None) is not None:
        return NotImplemented
    remedy = (
        "the dot product takes two vectors"
        if operator == "@"
        else "a vector is added to vectors alone, such as 2*N.x"
    )
    msg = f"{a} {operator} {b}: {remedy}"
    raise BadExpression(msg)


def _sum(t: Tape, a: dict[Frame, Triple], b: dict[Frame, Triple]) -> Vector:
    """a + b by their parts, in few frames."""
    parts = a.copy()
    for F, c in b.items():
        parts[F] = add3(t, parts[F], c) if F in parts else c
    v = Vector(t, parts)
    return v if len(v.parts) <= MOST_PARTS else v.in_one_frame()


def _on_common_tape(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    if a.tape is b.tape:
        return a, b
    tape = common_tape(a.tape, b.tape)
    return a.on(tape), b.on(tape)


def _in_common_frame(
    t: Tape, F: Frame, a: Triple, G: Frame, b: Triple
) -> tuple[Frame, Triple, Triple]:
    if F is G:
        return F, a, b
    if F.depth >= G.depth:
        return F, a, F.express(t, b, G)
    return G, G.express(t, a, F), b


# ---- dyadics -----------------------------------------------------------------------------------


class Dyadic(NotebookDisplay):
    """A symmetric dyadic written in one frame; `I @ w` is a vector."""

    __slots__ = ("frame", "rows", "tape")

    def __init__(self, tape: Tape, frame: Frame, rows: tuple[Triple, Triple, Triple]) -> None:
        self.tape, self.frame, self.rows = tape, frame, rows

    def __str__(self) -> str:
        names = [f"{self.frame.name}.{axis}" for axis in "xyz"]
        terms = [
            (Scalar(self.tape, e), a, b)
            for row, a in zip(self.rows, names, strict=True)
            for e, b in zip(row, names, strict=True)
        ]
        return " + ".join(f"({e}) {a} {b}" for e, a, b in terms if e != 0) or "0"

    def __repr__(self) -> str:
        return shorten(str(self))

    def on(self, tape: Tape) -> Dyadic:
        """The same dyadic on another tape of the system."""
        if tape is self.tape:
            return self
        if max(map(max, self.rows)) < tape.shared_length(self.tape):
            return Dyadic(tape, self.frame, self.rows)
        rows = tuple(tuple(as_node(tape, Scalar(self.tape, i)) for i in row) for row in self.rows)
        return Dyadic(tape, self.frame, rows)  # type: ignore[arg-type]

    def __matmul__(self, w: Vector) -> Vector:
        """I · w"""
        tape = common_tape(self.tape, w.tape)
        me, w = self.on(tape), w.on(tape)
        c = w.components(me.frame)
        return Vector(
            tape,
            {
                me.frame: (
                    dot3(tape, me.rows[0], c),
                    dot3(tape, me.rows[1], c),
                    dot3(tape, me.rows[2], c),
                )
            },
        )

    def __add__(self, other: Dyadic) -> Dyadic:
        if other.frame is not self.frame:
            other = other.to(self.frame)
        t = self.tape
        rows = tuple(add3(t, a, b) for a, b in zip(self.rows, other.rows, strict=True))
        return Dyadic(t, self.frame, rows)  # type: ignore[arg-type]

    def scale(self, k: Any) -> Dyadic:
        """k I"""
        t = self.tape
        i = as_node(t, k)
        rows = tuple(tuple(t.mul(i, c) for c in row) for row in self.rows)
        return Dyadic(t, self.frame, rows)  # type: ignore[arg-type]

    def to(self, F: Frame) -> Dyadic:
        """The same dyadic written in another frame: R I Rᵀ."""
        if F is self.frame:
            return self
        if F.space is not self.frame.space:
            self.frame.space.check_same_system(F.space)
        t = self.tape
        half = [F.express(t, row, self.frame) for row in self.rows]
        columns = [(half[0][k], half[1][k], half[2][k]) for k in range(3)]
        turned = [F.express(t, c, self.frame) for c in columns]
        rows = tuple((turned[0][k], turned[1][k], turned[2][k]) for k in range(3))
        return Dyadic(t, F, rows)  # type: ignore[arg-type]

    def entries(self) -> tuple[int, ...]:
        """The six different components xx, yy, zz, xy, yz, xz."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.rows
        return xx, yy, zz, xy, yz, xz


def outer_square(n: Vector, frame: Frame) -> Dyadic:
    """n n, written in a frame."""
    t = n.tape
    c = n.components(frame)
    rows = tuple(tuple(t.mul(x, y) for y in c) for x in c)
    return Dyadic(t, frame, rows)  # type: ignore[arg-type]
