"""A point of F_p: exact values for the expressions of a tape, with no simplification.

A `PrimePoint` is a ring homomorphism from the expressions of a tape to F_p that respects every relation it can keep:
the circle for sines and cosines (with sums, multiples and fractions of angles, and multiples of π), roots as
positive numbers, eᵃ⁺ᵇ = eᵃ eᵇ, x^(1/3) through its logarithm, |x| = x sign x. No value depends on the order of asking.

Three families of relations are not kept: those between values of log, asin, atan (log ab = log a + log b), order beyond
products (x² + y² need not come out "positive"), and those between angles or exponents that are more than linear
(sin(cos² θ) and sin(1 − sin² θ)). A disagreement that involves them is to be confirmed by balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any, Final

from dalembert.algebra.exact.generators import Generators, prime_for
from dalembert.algebra.exact.modular import SMALLEST_PERIOD, BadPoint, Circle, inverse, sign, square_root, turned
from dalembert.algebra.folds import depends_on, needed, symbols_of
from dalembert.algebra.tape import Node, Number, Tape

Form = dict[int, Number]

# products of sums inside an angle are expanded up to this many terms: Ω(t + τ) is Ωt + Ωτ
_LARGEST_PRODUCT: Final = 200
# how often the symbols under one root are drawn anew before the root is left to fail; twice as often for each further root
_ATTEMPTS_PER_ROOT: Final = 32
_MOST_DOUBLINGS: Final = 6
_RULES: Final = (
    "const", "symbol", "pi", "div", "sin", "cos", "sqrt", "sign", "abs", "exp", "cosh", "sinh", "log", "asin", "acos", "atan", "atan2",
)  # fmt: skip


class PrimePoint:
    """The values of a tape's expressions at one random point of F_p, found when asked for and kept while the tape grows.

    `given` fixes nodes, for instance accelerations from a solve; `until` limits the search for constants that need
    special primes (√5, cos π/7) to the first nodes; `like` takes over the prime and the symbols of another point.
    """

    __slots__ = ("_circles", "_exps", "_forms", "_given", "_rules", "_values", "generators", "prime", "tape")

    def __init__(
        self,
        tape: Tape,
        rng_or_seed: Random | int,
        prime: int | None = None,
        given: Mapping[int, int] | None = None,
        until: int | None = None,
        *,
        like: PrimePoint | None = None,
    ) -> None:
        seed = rng_or_seed.getrandbits(64) if isinstance(rng_or_seed, Random) else rng_or_seed
        nodes = tape.nodes if until is None else tape.nodes[:until]
        roots = [a for op, a, _ in nodes if op == "sqrt"]
        self.tape = tape
        if like is None:
            period = _period(nodes, tape.pi)
            squares = {v.numerator * v.denominator for a in roots if (v := tape.value(a)) is not None}
            self.generators = Generators(seed, prime or prime_for(seed, period, tuple(sorted(squares))), period)
        else:
            self.generators = like.generators
        self.prime = p = self.generators.prime
        self._given = {i: v % p for i, v in given.items()} if given else {}
        self._values = dict(self._given)
        self._forms: dict[int, Form] = {}
        self._circles: dict[int, Circle] = {}
        self._exps: dict[int, int] = {}
        self._rules: dict[str, Callable[[Any, Any], int]] = {op: getattr(self, "_" + op) for op in _RULES}
        if like is None:
            self._settle(roots)

    def on(self, tape: Tape, given: Mapping[int, int] | None = None) -> PrimePoint:
        """The same point for another tape of the same system, or with more nodes given."""
        return PrimePoint(tape, 0, given={**self._given, **(given or {})}, like=self)

    def __call__(self, i: int) -> int:
        """The value of node i."""
        v = self._values.get(i)
        if v is None:
            self._run((i,))
            v = self._values[i]
        return v

    def values(self, outs: Sequence[int]) -> list[int]:
        """The values of several nodes."""
        self._run(outs)
        v = self._values
        return [v[i] for i in outs]

    def _run(self, outs: Iterable[int]) -> None:
        v, p, nodes, rules = self._values, self.prime, self.tape.nodes, self._rules
        for i in needed(self.tape, outs, v):
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
                v[i] = rules[op](a, b)

    # ---- operations --------------------------------------------------------------------------

    def _const(self, value: Number, _: None) -> int:
        p = self.prime
        return value % p if isinstance(value, int) else value.numerator * inverse(value.denominator, p) % p

    def _symbol(self, name: str, _: None) -> int:
        return self.generators.symbol(name)

    def _pi(self, _a: None, _b: None) -> int:
        return self.generators.pi

    def _div(self, a: int, b: int) -> int:
        v, p = self._values, self.prime
        if not v[b]:
            msg = f"division by zero (node {b})"
            raise BadPoint(msg)
        return v[a] * pow(v[b], -1, p) % p

    def _sin(self, a: int, _: None) -> int:
        return self._circle(a)[1]

    def _cos(self, a: int, _: None) -> int:
        return self._circle(a)[0]

    def _circle(self, a: int) -> Circle:
        """(cos a, sin a): the terms of a turn one after the other."""
        found = self._circles.get(a)
        if found is None:
            found = (1, 0)
            for key, c in self.form(a).items():
                turn = self.generators.angle(key, c)
                found = turn if found == (1, 0) else turned(found, turn, self.prime)
            self._circles[a] = found
        return found

    def _exp(self, a: int, _: None = None) -> int:
        """Π e^(c g) over the terms c g of a."""
        found = self._exps.get(a)
        if found is None:
            found = 1
            for key, c in self.form(a).items():
                found = found * self.generators.power(key, c) % self.prime
            self._exps[a] = found
        return found

    def _cosh(self, a: int, _: None) -> int:
        e, p = self._exp(a), self.prime
        return (e + pow(e, -1, p)) * ((p + 1) // 2) % p

    def _sinh(self, a: int, _: None) -> int:
        e, p = self._exp(a), self.prime
        return (e - pow(e, -1, p)) * ((p + 1) // 2) % p

    def _sqrt(self, a: int, _: None) -> int:
        return square_root(self._values[a], self.prime)

    def _sign(self, a: int, _: None) -> int:
        return sign(self._values[a], self.prime) % self.prime

    def _abs(self, a: int, _: None) -> int:
        x = self._values[a]
        return sign(x, self.prime) * x % self.prime

    def _log(self, a: int, _: None) -> int:
        return self._values[self.tape.nodes[a][1]] if self._is_exp(a) else self.generators.log(self._values[a])

    def _asin(self, a: int, _: None = None) -> int:
        return self.generators.odd("asin", self._values[a])

    def _acos(self, a: int, _: None) -> int:
        return (self.generators.pi * ((self.prime + 1) // 2) - self._asin(a)) % self.prime

    def _atan(self, a: int, _: None) -> int:
        return self.generators.odd("atan", self._values[a])

    def _atan2(self, a: int, b: int) -> int:
        t, k = self.generators.direction(self._values[a], self._values[b])
        return (self.generators.odd("atan", t) + self._const(k, None) * self.generators.pi) % self.prime

    # ---- linear forms ------------------------------------------------------------------------

    def form(self, i: int) -> Form:
        """i = Σ c g with rational c: {value of g: c}.

        The generators g are what is no sum and no product with a number. Each is known by its value (the smaller
        of ±), so different ways of writing the same g agree; rational numbers have g = 1.
        """
        self(i)
        forms = self._forms
        stack = [i]
        while stack:
            j = stack[-1]
            if j not in forms:
                missing = [k for k in self._terms(j) if k not in forms]
                if missing:
                    stack.extend(missing)
                    continue
                forms[j] = self._form(j)
            stack.pop()
        return forms[i]

    def _terms(self, i: int) -> tuple[int, ...]:
        """The nodes whose forms make up the form of i."""
        op, a, b = self.tape.nodes[i]
        if i in self._given:
            return ()
        if op in ("add", "sub", "mul", "div"):
            return (a, b)
        if op == "neg":
            return (a,)
        return (self.tape.nodes[a][1],) if op == "log" and self._is_exp(a) else ()

    def _is_exp(self, i: int) -> bool:
        return i not in self._given and bool(self.tape.nodes[i][0] == "exp")

    def _form(self, i: int) -> Form:
        if i in self._given:
            return self._generator(self._values[i])
        op, a, b = self.tape.nodes[i]
        if op == "const":
            return {1: a} if a else {}
        if op == "acos":
            return _sum({self.generators.pi: Fraction(1, 2)}, self._generator(self._asin(a)), -1)
        if op == "atan2":
            t, k = self.generators.direction(self._values[a], self._values[b])
            return _sum(self._generator(self.generators.odd("atan", t)), {self.generators.pi: k}, 1)
        terms = [self._forms[k] for k in self._terms(i)]
        if op in ("add", "sub"):
            return _sum(terms[0], terms[1], 1 if op == "add" else -1)
        if op == "neg":
            return {g: -c for g, c in terms[0].items()}
        if op == "mul" and len(terms[0]) * len(terms[1]) <= _LARGEST_PRODUCT:
            return self._product(terms[0], terms[1])
        if op == "div" and len(terms[0]) <= _LARGEST_PRODUCT:
            return self._product(terms[0], self._reciprocal(b))
        return terms[0] if op == "log" and terms else self._generator(self._values[i])

    def _generator(self, value: int, c: Number = 1) -> Form:
        if not value:
            return {}
        return {value: c} if 2 * value < self.prime else {self.prime - value: -c}

    def _product(self, x: Form, y: Form) -> Form:
        if len(x) == 1 and 1 in x:
            return {g: x[1] * c for g, c in y.items()}
        found: Form = {}
        for g, c in x.items():
            for h, d in y.items():
                for key, k in self._generator(g * h % self.prime, c * d).items():
                    found[key] = found.get(key, 0) + k
        return {g: c for g, c in found.items() if c}

    def _reciprocal(self, b: int) -> Form:
        if len(self._forms[b]) == 1:
            ((g, c),) = self._forms[b].items()
            return self._generator(pow(g, -1, self.prime), 1 / Fraction(c))
        return self._generator(pow(self._values[b], -1, self.prime))

    # ---- roots -------------------------------------------------------------------------------

    def _settle(self, radicands: Iterable[int]) -> None:
        """Draw symbols under roots anew until the roots exist, few roots at a time.

        Rejecting whole points would take 2ᵏ attempts for k springs. The points are thus spread over the region where
        all roots on the tape are real.
        """
        for free, together in self._blocks(radicands):
            for salt in range(_ATTEMPTS_PER_ROOT << min(len(together), _MOST_DOUBLINGS)):
                try:
                    for f in together:
                        square_root(self(f), self.prime)
                    break
                except BadPoint:
                    self.generators.salts.update({self.tape.nodes[x][1]: salt for x in free})
                    self._forget(depends_on(self.tape, together, free))

    def _blocks(self, radicands: Iterable[int]) -> list[tuple[list[int], list[int]]]:
        """(symbols, radicands): no earlier radicand contains these symbols, and these contain no later symbols."""
        blocks: list[tuple[list[int], list[int]]] = []
        home: dict[int, int] = {}
        contents = {f: [x for x in symbols_of(self.tape, (f,)) if x not in self._given] for f in radicands}
        for f, xs in sorted(contents.items(), key=lambda item: (len(item[1]), item[0])):
            free = [x for x in xs if x not in home]
            if free:
                home.update(dict.fromkeys(free, len(blocks)))
                blocks.append((free, [f]))
            elif xs:
                blocks[max(home[x] for x in xs)][1].append(f)
        return blocks

    def _forget(self, nodes: Iterable[int]) -> None:
        for i in nodes:
            self._values.pop(i, None)
            self._forms.pop(i, None)
            self._circles.pop(i, None)
            self._exps.pop(i, None)


def _sum(x: Form, y: Form, factor: int) -> Form:
    found = dict(x)
    for g, c in y.items():
        total = found.get(g, 0) + factor * c
        if total:
            found[g] = total
        else:
            found.pop(g, None)
    return found


def _period(nodes: Sequence[Node], pi: int) -> int:
    """The least multiple of 24 such that all multiples of π under sines and cosines are multiples of 2π/period."""
    period = SMALLEST_PERIOD
    if not any((a == pi or b == pi) and op != "const" for op, a, b in nodes):
        return period
    # each node's rational part and its multiple of π, as in its form
    parts: dict[int, tuple[Number, Number]] = {pi: (0, 1)}
    for i, (op, a, b) in enumerate(nodes):
        if op == "const":
            parts[i] = a, 0
        elif op in ("sin", "cos"):
            period = math.lcm(period, 2 * parts.get(a, (0, 0))[1].denominator)
        elif op in ("add", "sub", "mul", "neg"):
            (m, k), (n, j) = parts.get(a, (0, 0)), parts.get(b, (0, 0))
            found = {"add": (m + n, k + j), "sub": (m - n, k - j), "mul": (m * n, m * j + n * k), "neg": (-m, -k)}[op]
            if any(found):
                parts[i] = found
    return period
