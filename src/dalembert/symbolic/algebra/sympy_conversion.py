"""e ↔ SymPy: the same expression, with its symbols by name and its numbers exact.

The coordinate theta is Symbol("theta"), its rate Symbol("theta'"). SymPy is imported when first
needed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Final

from dalembert.errors import BadExpression
from dalembert.foundation.suggestions import suggest_name
from dalembert.symbolic.algebra import parser
from dalembert.symbolic.algebra.expression_graph import evaluate
from dalembert.symbolic.algebra.scalar import Scalar, apply, exact
from dalembert.symbolic.algebra.tape import FUNCTIONS, Number, Tape

if TYPE_CHECKING:
    import sympy


def to_sympy(scalar: Scalar) -> sympy.Expr:
    """The expression for SymPy, which orders and folds it by its own rules."""
    import sympy

    tape = scalar.tape
    try:
        (e,) = evaluate(
            tape,
            (scalar.i,),
            lambda i: _LazySum(sympy.Symbol(tape.nodes[i][1])),
            _SymPyArithmetic(),
        )
        return e.total()
    except RecursionError:
        msg = "the expression is nested too deeply for SymPy"
        raise BadExpression(msg) from None


class _LazySum:
    """±a ± b, added up when first needed: SymPy sorts all terms at each addition, so a long sum
    must be made at once.
    """

    __slots__ = ("parts", "used", "value")

    def __init__(self, value: Any = None, *parts: tuple[int, _LazySum]) -> None:
        self.value = value
        self.used = False
        # a part used before is added up now, so that shared sums are never walked twice
        self.parts = [
            (sign, part if not part.used else _LazySum(part.total())) for sign, part in parts
        ]
        for _, part in parts:
            part.used = True

    def total(self) -> Any:
        """The sum for SymPy."""
        if self.value is None:
            import sympy

            terms, stack = [], [(1, self)]
            while stack:
                sign, e = stack.pop()
                if e.value is None:
                    stack.extend((sign * s, part) for s, part in e.parts)
                else:
                    terms.append(e.value if sign > 0 else -e.value)
            self.value, self.parts = sympy.Add(*terms), []
        return self.value


class _SymPyArithmetic:
    """The arithmetic of SymPy expressions."""

    def __init__(self) -> None:
        import sympy

        self.sympy = sympy
        self.named: dict[str, Callable[[Any], Any]] = {
            name: getattr(sympy, name) for name in FUNCTIONS if name != "abs"
        }
        self.named["abs"] = sympy.Abs

    def const(self, value: Number) -> _LazySum:
        return _LazySum(self.sympy.Rational(value.numerator, value.denominator))

    def pi(self) -> _LazySum:
        return _LazySum(self.sympy.pi)

    def add(self, a: _LazySum, b: _LazySum) -> _LazySum:
        return _LazySum(None, (1, a), (1, b))

    def sub(self, a: _LazySum, b: _LazySum) -> _LazySum:
        return _LazySum(None, (1, a), (-1, b))

    def neg(self, a: _LazySum) -> _LazySum:
        return _LazySum(None, (-1, a))

    def mul(self, a: _LazySum, b: _LazySum) -> _LazySum:
        return _LazySum(a.total() * b.total())

    def div(self, a: _LazySum, b: _LazySum) -> _LazySum:
        if b.total() == 0:
            msg = "division by zero: for SymPy a denominator vanishes identically"
            raise BadExpression(msg)
        return _LazySum(a.total() / b.total())

    def atan2(self, a: _LazySum, b: _LazySum) -> _LazySum:
        return self._finite(self.sympy.atan2(a.total(), b.total()), "atan2(0, 0) is not a number")

    # the angle's identity does not matter here
    def call(self, function: str, a: _LazySum, node: int) -> _LazySum:  # noqa: ARG002
        return self._finite(
            self.named[function](a.total()), f"{function}({a.total()}) is not a finite number"
        )

    def _finite(self, e: Any, otherwise: str) -> _LazySum:
        if e in (self.sympy.zoo, self.sympy.nan, self.sympy.oo, -self.sympy.oo):
            raise BadExpression(otherwise)
        return _LazySum(e)


def from_sympy(tape: Tape, expr: sympy.Expr) -> Scalar:
    """The SymPy expression on `tape`; symbols are looked up by name, floats are the decimals they
    print as.

    Every part is visited once and nothing recurses.
    """
    import sympy

    if not isinstance(expr, sympy.Expr):
        msg = f"expected a SymPy expression, got {type(expr).__name__}"
        raise BadExpression(msg)
    if expr.has(sympy.Piecewise):
        expr = expr.replace(sympy.Piecewise, _piecewise_to_steps)
    scalars: dict[int, Scalar] = {}
    stack = [expr]
    while stack:
        e = stack[-1]
        if of_time := _dynamicsymbol_name(e):
            scalars[id(stack.pop())] = Scalar(tape, _symbol(tape, of_time))
            continue
        rule = _rule(e)
        waiting = [a for a in e.args if id(a) not in scalars]
        if waiting:
            stack.extend(reversed(waiting))
        else:
            scalars[id(stack.pop())] = rule(tape, e, [scalars[id(a)] for a in e.args])
    return scalars[id(expr)]


def _dynamicsymbol_name(e: Any) -> str:
    """The name θ, θ', θ'' of θ(t) or a rate of it, which SymPy calls dynamicsymbols; none of
    anything else.
    """
    import sympy
    from sympy.core.function import AppliedUndef

    f = e.expr if isinstance(e, sympy.Derivative) else e
    if not isinstance(f, AppliedUndef) or [str(x) for x in f.args] != ["t"]:
        return ""
    if f is e:
        return str(f.func)
    return str(f.func) + "'" * len(e.variables) if {*e.variables} == {*f.args} else ""


def _piecewise_to_steps(*pieces: Any) -> Any:
    """(a if x < y, else b) = H(y − x) a + (1 − H(y − x)) b"""
    total: Any = 0
    for value, condition in reversed(pieces):
        inside = _indicator(condition)
        total = inside * value + (1 - inside) * total
    return total


def _indicator(condition: Any) -> Any:
    """1 where it holds, 0 elsewhere."""
    import sympy

    if isinstance(
        condition,
        sympy.StrictLessThan | sympy.LessThan | sympy.StrictGreaterThan | sympy.GreaterThan,
    ):
        return sympy.Heaviside(condition.gts - condition.lts)
    if isinstance(condition, sympy.And):
        return prod(map(_indicator, condition.args))
    if isinstance(condition, sympy.Or):
        return 1 - prod(1 - _indicator(c) for c in condition.args)
    if condition != sympy.true:
        msg = (
            f"a SymPy expression has a piece for {condition}; pieces are selected by inequalities "
            f"such as t < 2"
        )
        raise BadExpression(msg)
    return sympy.Integer(1)


Rule = Callable[[Tape, Any, list[Scalar]], Scalar]


def _rule(e: Any) -> Rule:
    """How to make this kind of SymPy object from its arguments; refuses what has no meaning
    here.
    """
    if e.is_Add:
        return lambda _tape, _, args: sum(args[1:], args[0])
    if e.is_Mul:
        return _product
    if e.is_Pow:
        return lambda _tape, _, args: _power(*args)
    if e.is_Symbol or e.is_Number or e.is_NumberSymbol:
        return _atom
    name = type(e).__name__
    if e.is_Function and name in _FUNCTIONS:
        return lambda _tape, _, args: _FUNCTIONS[name](*args)
    if e.is_Atom:
        msg = f"a SymPy expression contains {e}: dalembert computes with finite real numbers"
    else:
        msg = f"a SymPy expression contains the unknown function '{name}'"
    raise BadExpression(msg)


def _atom(tape: Tape, e: Any, _: list[Scalar]) -> Scalar:
    import sympy

    if e.is_Symbol:
        return Scalar(tape, _symbol(tape, e.name))
    if e.is_Rational:
        return Scalar(tape, tape.const(exact(Fraction(int(e.p), int(e.q)))))
    if e.is_Float and e.is_finite:
        # a double is the shortest decimal that means it; longer floats keep all digits
        double = float(e)
        return Scalar(
            tape, tape.const(exact(double) if e == sympy.Float(double) else Fraction(str(e)))
        )
    if e is sympy.pi:
        return Scalar(tape, tape.pi)
    if e is sympy.E:
        return Scalar(tape, tape.call("exp", tape.one))
    msg = f"a SymPy expression contains {e}, which is not a finite number that dalembert knows"
    raise BadExpression(msg)


def _symbol(tape: Tape, name: str) -> int:
    """The symbol of that name; a rate theta' is made if theta varies with time."""
    i = tape.names.get(name)
    base = name.rstrip("'")
    if i is None and name != base:
        i = tape.names.get(base)
        for _ in range(len(name) - len(base)):
            i = None if i is None else tape.rate(i)
    if i is None:
        hint = suggest_name(name, tape.names)
        msg = f"unknown symbol '{name}' in a SymPy expression{': ' + hint if hint else ''}"
        raise BadExpression(msg)
    return i


def _product(tape: Tape, _: Any, args: list[Scalar]) -> Scalar:
    """Π a, with the factors 1/a gathered in one denominator."""
    nodes = [(a, tape.nodes[a.i]) for a in args]
    below = [Scalar(tape, y) for _, (op, x, y) in nodes if op == "div" and x == tape.one]
    above = [a for a, (op, x, _) in nodes if op != "div" or x != tape.one]
    return prod(above, start=Scalar(tape, tape.one)) / prod(below)


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    """a^r by square roots where the denominator of r is a power of two, else exp(r log a)."""
    r = exponent.value
    if r is None:
        return base**exponent
    halvings = r.denominator.bit_length() - 1
    if r.denominator != 1 << halvings:
        return base**exponent
    for _ in range(halvings):
        base = apply("sqrt", base)
    return base**r.numerator


# what SymPy calls as expressions do
_SHARED: Final = (
    *FUNCTIONS,
    "Abs",
    "tan",
    "tanh",
    "cot",
    "sec",
    "csc",
    "atan2",
    "Max",
    "Min",
    "Heaviside",
)
_FUNCTIONS: Final[dict[str, Callable[..., Scalar]]] = {
    name: parser.FUNCTIONS[name][2] for name in _SHARED
}
