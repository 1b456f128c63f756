"""A point of F_p: exact values for the expressions of a tape, with no simplification.

A `SamplePoint` is a ring homomorphism from the expressions of a tape to F_p that respects every
relation it can keep: the circle for sines and cosines (with sums, multiples and fractions of
angles, and multiples of π), roots as positive numbers, eᵃ⁺ᵇ = eᵃ eᵇ, x^(1/3) through its logarithm,
|x| = x sign x. No value depends on the order of asking.

Three families of relations are not kept: those between values of log, asin, atan (log ab = log a +
log b), order beyond products and sums of squares (x² + x y + y² need not come out "positive"), and
those between angles or exponents that are more than linear (sin(cos² θ) and sin(1 − sin² θ)). A
disagreement that involves them is to be confirmed by balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dalembert.symbolic.algebra.exact import finite_field
from dalembert.symbolic.algebra.exact.finite_field import (
    SIZES,
    BadPoint,
    Circle,
    Element,
    NeverReal,
    NoRoot,
    add_angles,
    modular_inverse,
    sign,
    square_root,
)
from dalembert.symbolic.algebra.exact.random_values import (
    Form,
    LinearCombinations,
    RandomValues,
    common_period,
    prime_for,
)
from dalembert.symbolic.algebra.exact.signs_and_roots import (
    FactorAnalysis,
    denest_root,
    sign_of_constant,
    square_part,
)
from dalembert.symbolic.algebra.expression_graph import (
    dependencies,
    functions_in,
    missing_dependencies,
    nodes_depending_on,
    symbols_of,
)
from dalembert.symbolic.algebra.tape import LEAVES, Number, Tape

# how often the symbols under one root are redrawn before the root is left to fail; twice as often
# for each further root
_ATTEMPTS_PER_ROOT: Final = 32
# with more roots of the same symbols than this, roots are taken in F_{p²} and nothing is redrawn
_MOST_TOGETHER: Final = 3


def _radicands(tape: Tape, ends: Iterable[int]) -> list[int]:
    """What the square roots are taken of."""
    functions = map(tape.nodes.__getitem__, functions_in(tape, ends))
    return [a for op, a, _ in functions if op == "sqrt"]


def _random_values(
    tape: Tape, seed: int, prime: int | None, bits: int, needs: tuple[Sequence[int], list[int]]
) -> RandomValues:
    """Random numbers modulo a prime in which the constant angles and square roots exist."""
    ends, radicands = needs
    period = common_period(tape, ends)
    squares = {v.numerator * v.denominator for a in radicands if (v := tape.value(a)) is not None}
    return RandomValues(
        seed, prime or prime_for(seed, period, tuple(sorted(squares)), bits), period
    )


class SamplePoint:
    """The values of a tape's expressions at one random point of F_p, found when asked for and kept
    while the tape grows.

    `given` fixes nodes, for instance accelerations from a solve; `outs` limits the search for
    constants that need special primes (√5, cos π/7) and for roots to what these are made of; `like`
    takes over the prime and the symbols of another point. Where many roots share their symbols the
    point lies in F_{p²}: `imaginary` roots are then i √−f. `settle` is false for a point at which
    no symbol is redrawn for the sake of a root.
    """

    __slots__ = (
        "__weakref__", "_circles", "_exps", "_forms", "_given", "_structure", "_values", "_whole",
        "generators", "in_extension", "prime", "tape",
    )  # fmt: skip

    def __init__(
        self,
        tape: Tape,
        seed: int,
        prime: int | None = None,
        given: Mapping[int, Element] | None = None,
        outs: Sequence[int] | None = None,
        *,
        bits: int = SIZES[0],
        redraw: bool = True,
        same_values_as: SamplePoint | None = None,
    ) -> None:
        self.tape = tape
        roots: list[int] = []
        if same_values_as is None:
            ends = range(len(tape.nodes)) if outs is None else outs
            roots = _radicands(tape, ends)
            self.generators = _random_values(tape, seed, prime, bits, (ends, roots))
        else:
            self.generators = same_values_as.generators
        self.prime = p = self.generators.prime
        self._given = (
            {i: v if isinstance(v, tuple) else v % p for i, v in given.items()} if given else {}
        )
        self._values: dict[int, Element] = dict(self._given)
        # with every node that has a value its operands have one
        self._whole = all(tape.nodes[i][0] in LEAVES for i in self._given)
        self._structure: FactorAnalysis | None = None
        self.in_extension: bool = same_values_as is not None and same_values_as.in_extension
        self._forms = LinearCombinations(self, self._given)
        self._circles: dict[int, Circle] = {}
        self._exps: dict[int, int] = {}
        if redraw and roots:
            self._redraw_for_real_roots(roots)

    def on(self, tape: Tape, given: Mapping[int, Element] | None = None) -> SamplePoint:
        """The same point for another tape of the same system, or with more nodes given."""
        new = SamplePoint(tape, 0, given={**self._given, **(given or {})}, same_values_as=self)
        new._structure = self._structure and self._structure.on(tape, new._given)
        return new

    def with_values(self, given: Mapping[int, Element], dependent: Iterable[int]) -> SamplePoint:
        """The same point with other values for some nodes; all but what is `dependent` on them
        is kept.
        """
        values = dict(self._values)
        for i in dependent:
            values.pop(i, None)
        new: SamplePoint = self.on(self.tape, given)
        new._values = values | new._values
        return new

    @property
    def structure(self) -> FactorAnalysis:
        """What signs and roots are taken apart into; few points need any."""
        if self._structure is None:
            self._structure = FactorAnalysis(self.tape, self._given)
        return self._structure

    def __call__(self, i: int) -> Element:
        """The value of node i."""
        v = self._values.get(i)
        if v is None:
            self._evaluate((i,))
            v = self._values[i]
        return v

    def values(self, outs: Sequence[int]) -> list[Element]:
        """The values of several nodes."""
        self._evaluate(outs)
        v = self._values
        return [v[i] for i in outs]

    def real_value(self, i: int) -> int:
        """The value of a node that must be real here."""
        v = self(i)
        if isinstance(v, tuple):
            msg = "a function of a root that is not real at this point"
            raise NoRoot(msg)
        return v

    def _evaluate(self, outs: Iterable[int]) -> None:
        if self.in_extension:
            self._evaluate_extension(outs)
            return
        v: dict[int, Any] = self._values
        p, nodes, rules = self.prime, self.tape.nodes, _RULES
        for i in self._unevaluated(outs):
            op, a, b = nodes[i]
            if op == "mul":
                v[i] = v[a] * v[b] % p
            elif op == "add":
                v[i] = (v[a] + v[b]) % p
            elif op == "sub":
                v[i] = (v[a] - v[b]) % p
            elif op == "neg":
                v[i] = -v[a] % p
            else:
                v[i] = rules[op](self, a, b)

    def _evaluate_extension(self, outs: Iterable[int]) -> None:
        v, p, nodes, rules = self._values, self.prime, self.tape.nodes, _RULES
        binary = {"mul": finite_field.mul, "add": finite_field.add, "sub": finite_field.sub}
        for i in self._unevaluated(outs):
            op, a, b = nodes[i]
            rule = binary.get(op)
            if rule is not None:
                v[i] = rule(v[a], v[b], p)
            else:
                v[i] = finite_field.neg(v[a], p) if op == "neg" else rules[op](self, a, b)

    def _unevaluated(self, outs: Iterable[int]) -> Sequence[int]:
        """What has no value yet, operands first; what a given node is made of is not asked for."""
        return (missing_dependencies if self._whole else dependencies)(
            self.tape, outs, self._values
        )

    # ---- operations --------------------------------------------------------------------------

    def _const(self, value: Number, _: None) -> int:
        p = self.prime
        return (
            value % p
            if isinstance(value, int)
            else value.numerator * modular_inverse(value.denominator, p) % p
        )

    def _symbol(self, name: str, _: None) -> int:
        return self.generators.symbol(name)

    def _pi(self, _a: None, _b: None) -> int:
        return self.generators.pi

    def _div(self, a: int, b: int) -> Element:
        v, p = self._values, self.prime
        if not v[b]:
            msg = f"division by zero (node {b})"
            raise BadPoint(msg)
        return finite_field.mul(v[a], finite_field.reciprocal(v[b], p), p)

    def _sin(self, a: int, _: None) -> int:
        return self._cos_sin(a)[1]

    def _cos(self, a: int, _: None) -> int:
        return self._cos_sin(a)[0]

    def _cos_sin(self, a: int) -> Circle:
        """(cos a, sin a): the terms of a turn one after the other."""
        cos_sin = self._circles.get(a)
        if cos_sin is None:
            cos_sin = (1, 0)
            for key, c in self.form(a).items():
                turn = self.generators.angle(key, c)
                cos_sin = turn if cos_sin == (1, 0) else add_angles(cos_sin, turn, self.prime)
            self._circles[a] = cos_sin
        return cos_sin

    def form(self, i: int) -> Form:
        """i = Σ c g with rational c: {value of g: c}."""
        return self._forms(i)

    def _exp(self, a: int, _: None = None) -> int:
        """Π e^(c g) over the terms c g of a."""
        power = self._exps.get(a)
        if power is None:
            power = 1
            for key, c in self.form(a).items():
                power = power * self.generators.power(key, c) % self.prime
            self._exps[a] = power
        return power

    def _cosh(self, a: int, _: None) -> int:
        e, p = self._exp(a), self.prime
        return (e + pow(e, -1, p)) * ((p + 1) // 2) % p

    def _sinh(self, a: int, _: None) -> int:
        e, p = self._exp(a), self.prime
        return (e - pow(e, -1, p)) * ((p + 1) // 2) % p

    def _log(self, a: int, _: None) -> Element:
        return (
            self._values[self.tape.nodes[a][1]]
            if self._forms.is_exp(a)
            else self.generators.log(self.real_value(a))
        )

    def _asin(self, a: int, _: None = None) -> int:
        return self.generators.odd_inverse("asin", self.real_value(a))

    def _acos(self, a: int, _: None) -> int:
        return (self.generators.pi * ((self.prime + 1) // 2) - self._asin(a)) % self.prime

    def _atan(self, a: int, _: None) -> int:
        return self.generators.odd_inverse("atan", self.real_value(a))

    def _atan2(self, a: int, b: int) -> int:
        t, k = self.direction(a, b)
        return (
            self.generators.odd_inverse("atan", t) + self._const(k, None) * self.generators.pi
        ) % self.prime

    # ---- signs and roots ---------------------------------------------------------------------

    def sign(self, i: int) -> int:
        """1, −1 or 0: signs multiply, numbers have their own, and what is never negative has
        none.
        """
        if not self(i):
            return 0
        s = 1 if self.structure.factors(i)[0] > 0 else -1
        for a in self.structure.sign_atoms(i):
            s *= (
                sign_of_constant(self.tape, a)
                if self.structure.constant(a)
                else sign(self.real_value(a), self.prime)
            )
        return s

    def _sign(self, a: int, _: None) -> int:
        return self.sign(a) % self.prime

    def _abs(self, a: int, _: None = None) -> Element:
        return self(a) if self.sign(a) >= 0 else finite_field.neg(self(a), self.prime)

    def direction(self, y: int, x: int) -> tuple[int, Number]:
        """(t, k) with atan2(y, x) = atan t + k π"""
        if self.real_value(x):
            t = self.real_value(y) * pow(self.real_value(x), -1, self.prime) % self.prime
            return t, 0 if self.sign(x) == 1 else (self.sign(y) or 1)
        if not self.real_value(y):
            msg = "the direction of a point in the origin"
            raise BadPoint(msg)
        return 0, Fraction(self.sign(y), 2)

    def _sqrt(self, a: int, _: None) -> Element:
        """√(c Π a^k) = s Π |a|^(k div 2) √(q Π a), the last product over odd k, with c = s² q"""
        p = self.prime
        c, powers = self.structure.factors(a)
        if self.structure.constant(a):
            return self._root_of_constant(a, c, powers)
        if self.structure.is_nonpositive(a):
            msg = "the square root of something that is never positive"
            raise NeverReal(msg)
        s, q = square_part(abs(c)) if c not in (1, -1) else (Fraction(1), 1)
        inside: Element = q if c > 0 else -q % p
        outside: Element = self._const(s, None)
        for atom, k in powers.items():
            if k // 2:
                size = self._abs(atom) if k // 2 % 2 else self(atom)
                base = size if k > 0 else finite_field.reciprocal(size, p)
                for _repeated in range(abs(k // 2)):
                    outside = finite_field.mul(outside, base, p)
            if k % 2:
                inside = finite_field.mul(inside, self(atom), p)
        return finite_field.mul(outside, self._root(inside), p)

    def _root(self, x: Element) -> Element:
        return (
            finite_field.extension_sqrt(x, self.prime)
            if self.in_extension
            else square_root(x, self.prime)  # type: ignore[arg-type]
        )

    def _root_of_constant(self, a: int, c: Fraction, powers: Mapping[int, int]) -> Element:
        p = self.prime
        if not powers:
            s, q = square_part(c)
            return self._const(s, None) * square_root(q % p, p) % p
        known = denest_root(self.tape, a)
        if known is not None:
            x = sum(self._const(k, None) * square_root(q % p, p) for q, k in known.items()) % p
            if x * x % p == self(a):
                return x
        return self._root(self(a))

    def _redraw_for_real_roots(self, radicands: Iterable[int]) -> None:
        """Redraw symbols under roots until the roots exist, few roots at a time.

        Rejecting whole points would take 2ᵏ attempts for k springs. The points are thus spread over
        the region where all these roots are real. Where many roots contain the same symbols they
        are left to F_{p²}.
        """
        self.in_extension |= any(self._is_nested_radical(f) for f in radicands)
        for free, together in self._blocks(radicands):
            if len(together) > _MOST_TOGETHER:
                self.in_extension = True
                continue
            for salt in range(_ATTEMPTS_PER_ROOT << len(together)):
                try:
                    if all(sign(self.real_value(f), self.prime) >= 0 for f in together):
                        break
                except BadPoint:
                    pass
                self.generators.redraws.update({self.tape.nodes[x][1]: salt for x in free})
                self._invalidate(nodes_depending_on(self.tape, together, free))

    def _is_nested_radical(self, f: int) -> bool:
        """√(2 + √2) is in none of these fields, as a sixteenth of a turn is not."""
        nested = self.structure.constant(f) and bool(self.structure.factors(f)[1])
        return nested and denest_root(self.tape, f) is None

    def _blocks(self, radicands: Iterable[int]) -> list[tuple[list[int], list[int]]]:
        """(symbols, radicands): no earlier radicand contains these symbols, and these contain no
        later symbols.
        """
        blocks: list[tuple[list[int], list[int]]] = []
        home: dict[int, int] = {}
        possible = dict.fromkeys(f for f in radicands if not self.structure.is_nonpositive(f))
        contents = {
            f: [x for x in symbols_of(self.tape, (f,)) if x not in self._given] for f in possible
        }
        for f, xs in sorted(contents.items(), key=lambda item: (len(item[1]), item[0])):
            free = [x for x in xs if x not in home]
            if free:
                home.update(dict.fromkeys(free, len(blocks)))
                blocks.append((free, [f]))
            elif xs:
                blocks[max(home[x] for x in xs)][1].append(f)
        return blocks

    def _invalidate(self, nodes: Iterable[int]) -> None:
        for i in nodes:
            self._values.pop(i, None)
            self._forms.forget(i)
            self._circles.pop(i, None)
            self._exps.pop(i, None)


# {operation: the value of its node, from its operands}; sums and products are not looked up
_RULES: Final[dict[str, Callable[[SamplePoint, Any, Any], Element]]] = {
    op: getattr(SamplePoint, f"_{op}")
    for op in (
        *("const", "symbol", "pi", "div", "sin", "cos", "sqrt", "sign", "abs", "exp", "cosh"),
        *("sinh", "log", "asin", "acos", "atan", "atan2"),
    )
}
