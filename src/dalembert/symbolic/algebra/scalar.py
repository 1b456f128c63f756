"""Scalars: what a user writes. Each is an index into its system's tape, with operators."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, TypeGuard, TypeVar, overload

from dalembert.errors import BadExpression
from dalembert.symbolic.algebra.exact_number import ExactNumber, PiNumber, multiple_of_pi
from dalembert.symbolic.algebra.expression_graph import Derivative, copy_expressions
from dalembert.symbolic.algebra.tape import Number, Tape, check_digits

if TYPE_CHECKING:
    import sympy

Product_co = TypeVar("Product_co", covariant=True)


class SupportsScaling(Protocol[Product_co]):
    """What a scalar can multiply, such as a vector: k*v is of the kind that v says."""

    def __rmul__(self, k: Scalar, /) -> Product_co: ...


class Scalar:
    """An expression of one system. Equality means: the same node, so scalars can be keys."""

    __slots__ = ("i", "tape")

    def __init__(self, tape: Tape, i: int) -> None:
        self.tape, self.i = tape, i

    # ---- arithmetic --------------------------------------------------------------------------

    def __add__(self, other: Any) -> Scalar:
        return _combine(Tape.add, self, other)

    def __radd__(self, other: Any) -> Scalar:
        return _combine(Tape.add, self, other)

    def __sub__(self, other: Any) -> Scalar:
        return _combine(Tape.sub, self, other)

    def __rsub__(self, other: Any) -> Scalar:
        return _combine(_swap_operands(Tape.sub), self, other)

    @overload
    def __mul__(self, other: SupportsScaling[Product_co]) -> Product_co: ...
    @overload
    def __mul__(self, other: Any) -> Scalar: ...
    def __mul__(self, other: Any) -> Any:
        return _combine(Tape.mul, self, other)

    def __rmul__(self, other: Any) -> Scalar:
        return _combine(Tape.mul, self, other)

    def __truediv__(self, other: Any) -> Scalar:
        return _combine(Tape.div, self, other)

    def __rtruediv__(self, other: Any) -> Scalar:
        return _combine(_swap_operands(Tape.div), self, other)

    def __neg__(self) -> Scalar:
        return Scalar(self.tape, self.tape.neg(self.i))

    def __pos__(self) -> Scalar:
        return self

    def __abs__(self) -> Scalar:
        return apply("abs", self)

    def __pow__(self, exponent: Any) -> Scalar:
        value = exponent.value if isinstance(exponent, Scalar) else exact(exponent)
        if value is None:
            # x**y = exp(y log x)
            return apply("exp", exponent * apply("log", self))
        r = Fraction(value)
        t = self.tape
        if r.denominator == 1:
            return Scalar(t, t.power(self.i, r.numerator))
        if r.denominator == 2:
            return Scalar(t, t.power(t.call("sqrt", self.i), r.numerator))
        return apply("exp", exponent * apply("log", self))

    def __rpow__(self, base: Any) -> Scalar:
        b = exact(base)
        if b <= 0:
            msg = f"({base})**x is not real for every x: the base must be positive"
            raise BadExpression(msg)
        # math.e is meant as e; every other base keeps its logarithm exact
        return apply(
            "exp",
            self
            if base == math.e
            else self * apply("log", Scalar(self.tape, as_node(self.tape, base))),
        )

    # ---- what it is --------------------------------------------------------------------------

    @property
    def value(self) -> Number | None:
        """The number this stands for, or None."""
        return self.tape.value(self.i)

    @property
    def name(self) -> str | None:
        """The name of a symbol, or None."""
        op, name, _ = self.tape.nodes[self.i]
        return name if op == "symbol" else None

    @property
    def dot(self) -> Scalar:
        """de/dt: the total time derivative, in q', q'', … and explicit t."""
        return Scalar(self.tape, Derivative(self.tape, self.tape.rate)(self.i))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Scalar):
            if self.tape is other.tape:
                return self.i == other.i
            return self.i == other.i < self.tape.shared_length(other.tape)
        return self.value is not None and self.value == other

    def __hash__(self) -> int:
        return hash((id(self.tape.root), self.i))

    def __bool__(self) -> bool:
        msg = "an expression is neither true nor false; compare nodes with == or ask for .value"
        raise TypeError(msg)

    def _no_order(self, other: object) -> bool:
        """x > 0 is decided along a run, not while the model is written."""
        msg = (
            f"{self} and {other} cannot be compared: which is larger is known only along a run; "
            f"use da.step, da.maximum or an event"
        )
        raise TypeError(msg)

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def _no_whole_part(self, other: object) -> Scalar:
        msg = (
            f"{self} and {other}: expressions have no whole quotient or remainder; write a "
            f"division as /"
        )
        raise TypeError(msg)

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _no_whole_part

    def _no_bits(self, other: object) -> Scalar:
        msg = f"{self} ^ {other}: a power is written **"
        raise TypeError(msg)

    __xor__ = __rxor__ = _no_bits

    def __call__(self, *_: object, **__: object) -> NoReturn:
        msg = (
            f"{self} cannot be called: write a rate x.dot without brackets, a coordinate x "
            f"instead of x(t), a product 2*x"
        )
        raise BadExpression(msg)

    def __float__(self) -> float:
        if self.value is None:
            msg = (
                f"{self} is an expression, not a number: the functions of `math` take numbers "
                f"alone, use those of dalembert"
            )
            raise TypeError(msg)
        return float(self.value)

    def __round__(self, _: object = None) -> NoReturn:
        msg = f"{self} is an expression, not a number: it cannot be rounded"
        raise BadExpression(msg)

    def __int__(self) -> int:
        return int(float(self))

    def __getattr__(self, name: str) -> Callable[[], Scalar]:
        """np.sin(theta) asks for theta.sin(): the functions of NumPy take expressions too."""
        if name not in _NUMPY_NAMES:
            hint = "; rates are x.dot and x.dot.dot" if name in _RATES else ""
            msg = f"an expression has no attribute {name!r}{hint}"
            raise AttributeError(msg)
        from dalembert.symbolic.algebra import functions

        return lambda: getattr(functions, _NUMPY_NAMES[name])(self)

    # ---- how it looks ------------------------------------------------------------------------

    def __str__(self) -> str:
        from dalembert.symbolic.algebra.printing import text

        return text(self)

    __repr__ = __str__

    def latex(self) -> str:
        """The expression in normal form, as LaTeX."""
        from dalembert.symbolic.algebra.printing import latex

        return latex(self)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def sympy(self) -> sympy.Expr:
        """The same expression for SymPy, with its symbols by name."""
        from dalembert.symbolic.algebra.sympy_conversion import to_sympy

        return to_sympy(self)

    def _sympy_(self) -> Any:
        """What SymPy's functions ask for."""
        return self.sympy()

    # what keeps SymPy's operators from asking: k + x stays ours
    _op_priority = 20.0


# what rates are called elsewhere
_RATES: Final = frozenset({"ddot", "diff", "dt", "rate", "derivative", "d"})
_NUMPY_NAMES: Final = {
    name: name
    for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "sign")
} | {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
}


def exact(x: Any) -> Number:
    """A number as an exact rational: 9.81 is 981/100. Refuses what is not finite or not real."""
    if x.__class__ is int or x.__class__ is Fraction:
        return check_digits(x)
    if getattr(x, "shape", None) == () and hasattr(x, "item"):
        # a number of NumPy's, or an array of nothing but one
        x = x.item()
    if isinstance(x, bool) or not isinstance(x, numbers.Number | Decimal):
        got = (
            "a Python function; give an expression in s.t, or a function to the run: inputs={…}"
            if is_python_function(x)
            else f"{x!r}"
        )
        if isinstance(x, tuple) and len(x) == 1:
            got += ", a tuple of one: unpack it, as in m, = s.constants(m=1)"
        msg = f"expected a number or an expression, got {got}"
        raise BadExpression(msg)
    if isinstance(x, numbers.Rational):
        return check_digits(Fraction(int(x.numerator), int(x.denominator)))
    if not isinstance(x, numbers.Real | Decimal):
        msg = f"{x} is complex: dalembert computes with real numbers"
        raise BadExpression(msg)
    if not math.isfinite(x):
        msg = f"{x} is not a finite number"
        raise BadExpression(msg)
    # the shortest decimal that means this float, which is what the user typed
    return Fraction(str(x) if isinstance(x, Decimal) else repr(float(x)))


def common_tape(a: Tape, b: Tape) -> Tape:
    """The tape on which expressions of both can be combined: the younger of the two."""
    if a is b or b in a.shared_prefix:
        return a
    if a.root is not b.root:
        msg = (
            "these belong to different systems: an expression, frame or point can only be used "
            "in the system that made it"
        )
        raise BadExpression(msg)
    return a if a.shared_length(b) == len(b.nodes) else b


_WITH_UNIT: Final = re.compile(r"\s*[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s+[a-zA-Zµ]+[\w*/ ]*")
_LETTERS: Final = re.compile(r"[^\W\d]\w*")
_DEGREES: Final = re.compile(r"\s*([-+]?\d+(?:\.\d*)?)\s*(?:deg|degrees?|°)\s*")


def is_sympy(e: object) -> bool:
    """Whether SymPy made it; the class of an undefined function says so only by what it is
    derived from.
    """
    return _from_sympy(type(e))  # type: ignore[arg-type]  # every class can be hashed


@cache
def _from_sympy(kind: type) -> bool:
    return any(str(base.__module__).partition(".")[0] == "sympy" for base in kind.__mro__)


def as_node(tape: Tape, e: Any) -> int:
    """The index of a scalar, of a number, or of what a text says in the symbols of a tape."""
    if e.__class__ is Scalar:
        if e.tape is tape:
            return e.i
        if e.tape.root is not tape.root:
            common_tape(e.tape, tape)
        return (
            e.i if e.i < tape.shared_length(e.tape) else copy_expressions(e.tape, tape, (e.i,))[0]
        )
    if e.__class__ is Fraction or e.__class__ is int:
        return tape.const(e)
    if is_sympy(e):
        from dalembert.symbolic.algebra.sympy_conversion import from_sympy

        return from_sympy(tape, e).i
    if isinstance(e, str):
        from dalembert.symbolic.algebra.parser import parse

        if (degrees := _DEGREES.fullmatch(e)) is not None:
            return _number(tape, PiNumber(Fraction(0), Fraction(degrees[1]) / 180))
        if _WITH_UNIT.fullmatch(e) is not None and not set(_LETTERS.findall(e)) <= set(tape.names):
            msg = (
                f"{e!r}: a number with a unit is the value of a constant, s.constants(a={e!r}), "
                f"whose symbol is used in expressions"
            )
            raise BadExpression(msg)
        return parse(e, {name: Scalar(tape, i) for name, i in tape.names.items()}, tape).i
    return _number(tape, e)


def is_python_function(x: object) -> TypeGuard[Callable[..., Any]]:
    """Whether it is a function of Python's; calling an expression only raises the error that it
    cannot be called.
    """
    return callable(x) and not isinstance(x, Scalar)


def as_nodes(tape: Tape, scalars: Sequence[Scalar]) -> list[int]:
    """The indices of scalars; those of one other tape are copied together, so that shared nodes are
    visited once.
    """
    source = scalars[0].tape if scalars else tape
    if source is tape or any(e.tape is not source for e in scalars):
        return [as_node(tape, e) for e in scalars]
    if source.root is not tape.root:
        common_tape(source, tape)
    return copy_expressions(source, tape, [e.i for e in scalars])


def _number(tape: Tape, e: Any) -> int:
    """A number as a node; π and what was typed for a multiple of it stay exact."""
    if isinstance(e, ExactNumber):
        return e.on(tape)
    if isinstance(e, PiNumber):
        return tape.add(tape.const(e.a), tape.mul(tape.const(e.b), tape.pi))
    k = multiple_of_pi(float(e)) if isinstance(e, float) else None
    if k is None:
        return tape.const(exact(e))
    tape.read_as_pi[float(e)] = k
    return tape.mul(tape.const(k), tape.pi)


def _combine(rule: Callable[[Tape, int, int], int], a: Scalar, b: Any) -> Scalar:
    if b.__class__ is Scalar:
        tape = a.tape
        if b.tape is not tape:
            tape = common_tape(tape, b.tape)
            return Scalar(tape, rule(tape, as_node(tape, a), as_node(tape, b)))
        return Scalar(tape, rule(tape, a.i, b.i))
    if (
        b.__class__ is not Fraction
        and not isinstance(b, numbers.Number | Decimal)
        and not is_sympy(b)
    ):
        return NotImplemented  # type: ignore[no-any-return]
    return Scalar(a.tape, rule(a.tape, a.i, as_node(a.tape, b)))


def _swap_operands(rule: Callable[[Tape, int, int], int]) -> Callable[[Tape, int, int], int]:
    return lambda tape, a, b: rule(tape, b, a)


def apply(function: str, x: Any) -> Scalar:
    """function(x) of an expression."""
    if not isinstance(x, Scalar):
        msg = (
            f"{function}({x!r}): expected an expression of a system; for plain numbers use the "
            f"math module"
        )
        raise BadExpression(msg)
    return Scalar(x.tape, x.tape.call(function, x.i))
