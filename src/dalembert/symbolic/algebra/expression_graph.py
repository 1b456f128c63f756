"""Folds over the tape: see what a node is made of, evaluate, differentiate, take linear parts,
rewrite.
Keywords: expression graph.

Each visits every needed node once, operands first, and never recurses, so a chain of ten thousand
additions is as safe as one. Folds that are evaluated repeatedly (derivatives along the motion,
partial velocities) cache their results.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import itemgetter
from typing import Any, Final, Protocol, TypeVar

from dalembert.errors import NotApplicable, NotLinear
from dalembert.foundation.caching import COMPUTE_LOCK
from dalembert.symbolic.algebra.tape import BINARY, DATA, LEAVES, Node, Number, Tape

Value = TypeVar("Value")
# this number of expressions needs much of a tape
_MANY: Final = 64
# recent requests are repeated: a zero test goes over the same nodes for degrees, branches, points
# and balls
_MAX_CACHED: Final = 48
# nodes after which values are dropped that are not needed again
_SECTION: Final = 2000
# with so few known values, as at a new point, every requested node is visited
_FEW: Final = 64

# longer sums are not examined
_MOST_TERMS: Final = 64
# in addition to symbols and π: functions that have branches, or between which relations exist that
# a field does not keep
_MARKED: Final = frozenset(
    {
        "symbol",
        "pi",
        "exp",
        "log",
        "sqrt",
        "sinh",
        "cosh",
        "asin",
        "acos",
        "atan",
        "atan2",
        "abs",
        "sign",
    }
)


class Arithmetic(Protocol[Value]):
    """What it takes to evaluate a tape in a new kind of number."""

    def const(self, value: Number) -> Value: ...
    def pi(self) -> Value: ...
    def add(self, a: Value, b: Value) -> Value: ...
    def sub(self, a: Value, b: Value) -> Value: ...
    def mul(self, a: Value, b: Value) -> Value: ...
    def div(self, a: Value, b: Value) -> Value: ...
    def neg(self, a: Value) -> Value: ...
    def atan2(self, a: Value, b: Value) -> Value: ...
    def call(self, function: str, a: Value, node: int) -> Value:
        """function(a); `node` is the argument's index, for arithmetics that need to know which
        angle it is.
        """
        ...


def operands(op: str, a: Any, b: Any) -> tuple[int, ...]:
    """The nodes a node is made of."""
    if op in LEAVES:
        return ()
    return (a, b) if op in BINARY else (a,)


def dependencies(tape: Tape, outs: Iterable[int], done: Container[int] = ()) -> Sequence[int]:
    """The nodes that `outs` are made of, operands first, without those in `done` and what only
    they need.
    """
    if done != ():
        return dependencies_in(tape.nodes, outs, done)
    ends = tuple(outs)
    nodes = tape.dependency_cache.get(ends)
    if nodes is None:
        nodes = tuple(
            dependencies_by_sweep(tape.nodes, ends)
            if len(ends) >= _MANY
            else dependencies_in(tape.nodes, ends)
        )
        if len(tape.dependency_cache) >= _MAX_CACHED:
            tape.dependency_cache.clear()
        tape.dependency_cache[ends] = nodes
    return nodes


def missing_dependencies(tape: Tape, outs: Iterable[int], done: Collection[int]) -> Sequence[int]:
    """The same where operands of what is done are done or are not asked for: what was visited
    for other values is not visited again.
    """
    ends = tuple(outs)
    known_nodes = tape.dependency_cache.get(ends)
    if known_nodes is None and len(done) > _FEW:
        return dependencies_in(tape.nodes, ends, done)
    return [i for i in known_nodes or dependencies(tape, ends) if i not in done]


def dependencies_in(
    nodes: Sequence[Node], outs: Iterable[int], done: Container[int] = ()
) -> list[int]:
    """The same of nodes that are on no tape."""
    seen = {i for i in outs if i not in done}
    stack = list(seen)
    while stack:
        op, a, b = nodes[stack.pop()]
        if op in BINARY:
            if b not in seen and b not in done:
                seen.add(b)
                stack.append(b)
        elif op in LEAVES:
            continue
        if a not in seen and a not in done:
            seen.add(a)
            stack.append(a)
    return sorted(seen)


def dependencies_by_sweep(nodes: Sequence[Node], outs: Sequence[int]) -> list[int]:
    """The same by one sweep down the tape, which is faster where much of it is needed."""
    top = max(outs, default=-1) + 1
    wanted = bytearray(top)
    for i in outs:
        wanted[i] = 1
    for i in range(top - 1, -1, -1):
        if wanted[i]:
            op, a, b = nodes[i]
            if op not in LEAVES:
                wanted[a] = 1
                if op in BINARY:
                    wanted[b] = 1
    return list(compress(range(top), wanted))


def graph_depth(nodes: Sequence[Node], outs: Sequence[int]) -> int:
    """The number of operations on the longest path from a leaf to one of `outs`."""
    depths = [0] * (max(outs, default=-1) + 1)
    for i, (op, a, b) in enumerate(nodes[: len(depths)]):
        if op in BINARY:
            depths[i] = 1 + max(depths[a], depths[b])
        elif op not in LEAVES:
            depths[i] = 1 + depths[a]
    return max([depths[i] for i in outs], default=0)


def operations(tape: Tape, outs: Iterable[int]) -> Iterator[str]:
    """The operation of every node that `outs` are made of."""
    return map(itemgetter(0), map(tape.nodes.__getitem__, dependencies(tape, outs)))


# ---- what a node contains ------------------------------------------------------------------------


class ContainedSymbols:
    """Which symbols a node contains, whether π, and which functions other than sines and cosines:
    bits for every node, found once.

    As far as anybody has asked: nodes never change, so neither does what they contain.
    """

    __slots__ = ("_equal", "_listed", "_marks", "_sets", "all_symbols", "pi")

    def __init__(self) -> None:
        # the bit set of each node; equal sets are one object
        self._sets: list[int] = []
        self._equal: dict[int, int] = {}
        # the node that each bit stands for, in order of creation, and which of them are symbols,
        # and π
        self._marks: list[int] = []
        self.all_symbols = self.pi = 0
        self._listed: dict[int, tuple[int, ...]] = {}

    def prefix(self, length: int) -> ContainedSymbols:
        """The same for a tape that agrees with this one below `length`."""
        new = ContainedSymbols()
        new._sets = self._sets[:length]
        new._marks = self._marks[: bisect_left(self._marks, length)]
        shared = (1 << len(new._marks)) - 1
        new.all_symbols, new.pi = self.all_symbols & shared, self.pi & shared
        return new

    def symbols(self, bits: int) -> tuple[int, ...]:
        """The symbols among what some bits stand for."""
        return self._nodes(bits & self.all_symbols)

    def functions(self, bits: int) -> tuple[int, ...]:
        """The nodes of functions among what some bits stand for."""
        return self._nodes(bits & ~(self.all_symbols | self.pi))

    def _nodes(self, bits: int) -> tuple[int, ...]:
        nodes = self._listed.get(bits)
        if nodes is None:
            nodes = self._listed[bits] = tuple(
                mark for k, mark in enumerate(self._marks) if bits >> k & 1
            )
        return nodes

    def union(self, tape: Tape, outs: Iterable[int]) -> int:
        """The union of the bit sets of some nodes."""
        ends = tuple(outs)
        if ends and max(ends) >= len(self._sets):
            with COMPUTE_LOCK:
                self._extend(tape, max(ends) + 1)
        bits = 0
        for i in ends:
            bits |= self._sets[i]
        return bits

    def _extend(self, tape: Tape, length: int) -> None:
        sets, equal = self._sets, self._equal
        for i in range(len(sets), length):
            op, a, b = tape.nodes[i]
            bits = 0 if op in LEAVES else sets[a] | sets[b] if op in BINARY else sets[a]
            if op in _MARKED:
                own = 1 << len(self._marks)
                bits |= own
                self._marks.append(i)
                self.all_symbols |= own if op == "symbol" else 0
                self.pi |= own if op == "pi" else 0
            sets.append(equal.setdefault(bits, bits))


def _contained_symbols(tape: Tape) -> ContainedSymbols:
    if tape.ingredients is None:
        with COMPUTE_LOCK:
            if tape.ingredients is None:
                tape.ingredients = ContainedSymbols()
    return tape.ingredients


def symbols_of(tape: Tape, outs: Iterable[int]) -> list[int]:
    """The symbols that `outs` contain, in order of creation."""
    known = _contained_symbols(tape)
    return list(known.symbols(known.union(tape, outs)))


def functions_in(tape: Tape, outs: Iterable[int]) -> tuple[int, ...]:
    """The nodes of all functions but sines and cosines that `outs` contain, in order of
    creation.
    """
    known = _contained_symbols(tape)
    return known.functions(known.union(tape, outs))


def has_pi(tape: Tape, outs: Iterable[int]) -> bool:
    """Whether `outs` contain π."""
    known = _contained_symbols(tape)
    return bool(known.union(tape, outs) & known.pi)


def is_monomial(tape: Tape, i: int) -> bool:
    """Whether a node is a product of symbols, numbers that are not zero, sines and cosines of
    symbols: it does not vanish identically.
    """
    stack = [i]
    while stack:
        i = stack.pop()
        op, a, b = tape.nodes[i]
        if op == "mul":
            stack += (a, b)
        elif op == "neg":
            stack.append(a)
        elif op == "sin" or op == "cos":
            if tape.nodes[a][0] != "symbol":
                return False
        elif i == tape.zero or op not in LEAVES:
            return False
    return True


def is_structurally_nonzero(tape: Tape, i: int) -> bool:
    """Whether its form alone shows that a node does not vanish identically: monomials, sums that
    one of their monomials alone makes depend on some symbol, and products of all these.
    """
    stack = [i]
    while stack:
        i = stack.pop()
        op, a, b = tape.nodes[i]
        if op == "mul":
            stack += (a, b)
        elif op == "neg":
            stack.append(a)
        elif not (
            _has_symbol_in_one_term_only(tape, i)
            if op == "add" or op == "sub"
            else is_monomial(tape, i)
        ):
            return False
    return True


def _has_symbol_in_one_term_only(tape: Tape, i: int) -> bool:
    """Whether a sum depends on a symbol that one of its terms alone contains, a monomial."""
    known, terms, stack = _contained_symbols(tape), [], [i]
    while stack:
        i = stack.pop()
        op, a, b = tape.nodes[i]
        if op == "add" or op == "sub":
            stack += (a, b)
        elif op == "neg":
            stack.append(a)
        else:
            terms.append((i, known.union(tape, (i,))))
        if len(terms) > _MOST_TERMS:
            return False
    seen = repeated = 0
    for _, bits in terms:
        repeated |= seen & bits
        seen |= bits
    return any(bits & ~repeated & known.all_symbols and is_monomial(tape, i) for i, bits in terms)


# ---- evaluate, differentiate, rewrite
# --------------------------------------------------------------


def evaluate(
    tape: Tape,
    outs: Sequence[int],
    symbol: Callable[[int], Value],
    arithmetic: Arithmetic[Value],
    given: Mapping[int, Value] | None = None,
) -> list[Value]:
    """The values of `outs` in an arithmetic; `symbol(i)` gives the value of symbol node i."""
    nodes = tape.nodes
    v: dict[int, Value] = dict(given) if given else {}
    binary = {
        "add": arithmetic.add,
        "sub": arithmetic.sub,
        "mul": arithmetic.mul,
        "div": arithmetic.div,
        "atan2": arithmetic.atan2,
    }
    for i in dependencies(tape, outs, v) if given else dependencies(tape, outs):
        op, a, b = nodes[i]
        rule = binary.get(op)
        if rule is not None:
            v[i] = rule(v[a], v[b])
        elif op == "neg":
            v[i] = arithmetic.neg(v[a])
        elif op == "symbol":
            v[i] = symbol(i)
        elif op == "const":
            v[i] = arithmetic.const(a)
        elif op == "pi":
            v[i] = arithmetic.pi()
        elif op in DATA:
            v[i] = _data_rule(arithmetic, op)(v[a], v[b])
        else:
            v[i] = arithmetic.call(op, v[a], a)
    return [v[i] for i in outs]


def evaluate_in_sections(
    tape: Tape, outs: Sequence[int], symbol: Callable[[int], Value], arithmetic: Arithmetic[Value]
) -> list[Value]:
    """The same where values take much memory: those that no later section needs are dropped."""
    order = dependencies(tape, outs)
    if len(order) <= _SECTION:
        return evaluate(tape, outs, symbol, arithmetic)
    last = {operand: k for k, i in enumerate(order) for operand in operands(*tape.nodes[i])}
    last.update(dict.fromkeys(outs, len(order) + _SECTION))
    values: dict[int, Value] = {}
    for begin in range(0, len(order), _SECTION):
        end = begin + _SECTION
        needed = [i for i in order[begin:end] if last[i] >= end]
        section = evaluate(tape, needed, symbol, arithmetic, values)
        values = {i: v for i, v in values.items() if last[i] >= end}
        values.update(zip(needed, section, strict=True))
    return [values[i] for i in outs]


def _data_rule(arithmetic: Any, op: str) -> Callable[[Any, Any], Any]:
    """How an arithmetic reads recorded data."""
    rule: Callable[[Any, Any], Any] | None = getattr(arithmetic, op, None)
    if rule is None:
        msg = "a recorded table has no form in these expressions; give the input as a formula"
        raise NotApplicable(msg)
    return rule


# d function(a)/da on a tape, where node i is function(a)
_SLOPES: Final[dict[str, Callable[[Tape, int, int], int]]] = {
    "sin": lambda t, a, _: t.call("cos", a),
    "cos": lambda t, a, _: t.neg(t.call("sin", a)),
    "exp": lambda _, __, i: i,
    "log": lambda t, a, _: t.div(t.one, a),
    "sqrt": lambda t, _, i: t.div(t.one, t.mul(t.const(2), i)),
    "sinh": lambda t, a, _: t.call("cosh", a),
    "cosh": lambda t, a, _: t.call("sinh", a),
    "asin": lambda t, a, _: t.div(t.one, t.call("sqrt", t.sub(t.one, t.mul(a, a)))),
    "acos": lambda t, a, i: t.neg(function_derivative(t, "asin", a, i)),
    "atan": lambda t, a, _: t.div(t.one, t.add(t.one, t.mul(a, a))),
    "abs": lambda t, a, _: t.call("sign", a),
    # wherever it has a derivative
    "sign": lambda t, _, __: t.zero,
}


def function_derivative(tape: Tape, function: str, a: int, i: int) -> int:
    """d function(a)/da, where node i is function(a)."""
    return _SLOPES[function](tape, a, i)


class Derivative:
    """de/dτ = Σ ∂e/∂x · dx/dτ: the derivative along given rates of the symbols.

    `rate(x)` gives dx/dτ of a symbol x, or None where it is zero. Found derivatives are kept.
    """

    def __init__(self, tape: Tape, rate: Callable[[int], int | None]) -> None:
        self.tape, self.rate = tape, rate
        self._derivatives: dict[int, int] = {}

    def __call__(self, e: int) -> int:
        derivatives = self._derivatives
        if e not in derivatives:
            for i in dependencies(self.tape, (e,), derivatives):
                derivatives[i] = self._rule(i)
        return derivatives[e]

    def _rule(self, i: int) -> int:
        t, derivatives = self.tape, self._derivatives
        zero = t.zero
        op, a, b = t.nodes[i]
        if op in LEAVES:
            d = self.rate(i) if op == "symbol" else None
            return zero if d is None else d
        da = derivatives[a]
        if op not in BINARY:
            if da == zero:
                return zero
            return t.neg(da) if op == "neg" else t.mul(da, function_derivative(t, op, a, i))
        db = derivatives[b]
        if (da == zero and db == zero) or op in DATA:
            return zero
        if op == "add":
            return t.add(da, db)
        if op == "sub":
            return t.sub(da, db)
        if op == "mul":
            if db == zero:
                return t.mul(da, b)
            return t.mul(a, db) if da == zero else t.add(t.mul(da, b), t.mul(a, db))
        if op == "div":
            return t.div(t.sub(da, t.mul(i, db)), b)
        # atan2(a, b)
        square = t.add(t.mul(a, a), t.mul(b, b))
        return t.div(t.sub(t.mul(b, da), t.mul(a, db)), square)


def gradient(tape: Tape, seeds: Mapping[int, int], wrt: Sequence[int]) -> list[int]:
    """Σ_k s_k ∂e_k/∂x for every x in `wrt`, by one sweep backwards; `seeds` maps e_k to s_k."""
    zero, add = tape.zero, tape.add
    bar: dict[int, int] = dict(seeds)
    moved = nodes_depending_on(tape, seeds, wrt)
    for i in sorted(moved, reverse=True):
        g = bar.get(i)
        if g is None or g == zero:
            continue
        for operand, d in _operand_adjoints(tape, i, g, moved):
            bar[operand] = add(bar[operand], d) if operand in bar else d
    return [bar.get(x, zero) for x in wrt]


def _operand_adjoints(t: Tape, i: int, g: int, moved: Container[int]) -> Iterator[tuple[int, int]]:
    """(a, g ∂e/∂a) for every operand a of node e = i that is in `moved`."""
    op, a, b = t.nodes[i]
    mul, neg = t.mul, t.neg
    if op in LEAVES or op in DATA:
        return
    if op not in BINARY:
        yield a, neg(g) if op == "neg" else mul(g, function_derivative(t, op, a, i))
        return
    q = g
    if op == "div":
        q = t.div(g, b)
    elif op == "atan2":
        q = t.div(g, t.add(mul(a, a), mul(b, b)))
    if a in moved:
        yield a, mul(q, b) if op in ("mul", "atan2") else q
    if b in moved:
        if op == "add":
            yield b, q
        elif op == "mul":
            yield b, mul(q, a)
        else:
            yield b, neg(q if op == "sub" else mul(q, i if op == "div" else a))


def nodes_depending_on(tape: Tape, outs: Iterable[int], wrt: Iterable[int]) -> set[int]:
    """Those of the nodes under `outs` that contain one of the symbols `wrt`."""
    moved = set(wrt)
    nodes = tape.nodes
    for i in dependencies(tape, outs):
        op, a, b = nodes[i]
        if op in BINARY:
            if a in moved or b in moved:
                moved.add(i)
        elif op not in LEAVES and a in moved:
            moved.add(i)
    return moved


class LinearCoefficients:
    """e = c + Σ_r k_r x_r: the coefficients of an expression that is linear in the symbols x.

    It gives partial velocities, constraint rows, speeds and mass matrices, and it *is* the check
    that they are linear: anything else raises NotLinear. Only nonzero coefficients are kept.
    """

    def __init__(self, tape: Tape, wrt: Sequence[int]) -> None:
        self.tape = tape
        self.wrt = list(wrt)
        self._linear_forms: dict[int, tuple[int, dict[int, int]] | None] = {
            x: (tape.zero, {r: tape.one}) for r, x in enumerate(self.wrt)
        }

    def __call__(self, e: int) -> tuple[int, dict[int, int]]:
        """(c, {r: k_r})"""
        linear_forms = self._linear_forms
        if e not in linear_forms:
            for i in dependencies(self.tape, (e,), linear_forms):
                linear_forms[i] = self._rule(i)
        form = linear_forms[e]
        return (e, {}) if form is None else form

    def constant(self, e: int) -> int:
        """c"""
        return self(e)[0]

    def _rule(self, i: int) -> tuple[int, dict[int, int]] | None:
        t, linear_forms = self.tape, self._linear_forms
        op, a, b = t.nodes[i]
        if op in LEAVES:
            return None
        fa = linear_forms[a]
        fb = linear_forms[b] if op in BINARY else None
        if fa is None and fb is None:
            return None
        (ca, ka), (cb, kb) = fa or (a, {}), fb or (b, {})
        if op == "add" or op == "sub":
            return self._sum(op, (ca, ka), (cb, kb))
        if op == "neg":
            return t.neg(ca), {r: t.neg(k) for r, k in ka.items()}
        if op == "mul" and not (ka and kb):
            c, ks = (cb, ka) if ka else (ca, kb)
            return t.mul(ca, cb), {r: t.mul(k, c) for r, k in ks.items() if c != t.zero}
        if op == "div" and not kb:
            return t.div(ca, cb), {r: t.div(k, cb) for r, k in ka.items()}
        if not ka and not kb:
            # what might have varied has cancelled
            return apply_operation(t, op, ca, cb), {}
        inside = [t.nodes[x][1] for x in symbols_of(t, (i,)) if x in self.wrt]
        msg = f"not linear in {', '.join(map(str, inside))}"
        raise NotLinear(msg)

    def _sum(
        self, op: str, fa: tuple[int, dict[int, int]], fb: tuple[int, dict[int, int]]
    ) -> tuple[int, dict[int, int]]:
        t = self.tape
        combine = t.add if op == "add" else t.sub
        ks = dict(fa[1])
        for r, k in fb[1].items():
            total = combine(ks.get(r, t.zero), k)
            if total == t.zero:
                del ks[r]
            else:
                ks[r] = total
        return combine(fa[0], fb[0]), ks


class Substitution:
    """e with some nodes replaced by others, wherever they occur: q' → W u + X."""

    def __init__(self, tape: Tape, replace: Mapping[int, int]) -> None:
        self.tape = tape
        self._new_nodes: dict[int, int] = dict(replace)
        self._changes_nothing = all(i == new for i, new in replace.items())

    def __call__(self, e: int) -> int:
        if self._changes_nothing:
            return e
        new_nodes = self._new_nodes
        if e not in new_nodes:
            nodes = self.tape.nodes
            for i in dependencies(self.tape, (e,), new_nodes):
                op, a, b = nodes[i]
                # what holds nothing that is replaced stays as it is
                same = op in LEAVES or (
                    new_nodes[a] == a and (op not in BINARY or new_nodes[b] == b)
                )
                new_nodes[i] = (
                    i if same else apply_operation(self.tape, op, new_nodes[a], new_nodes.get(b))
                )
        return new_nodes[e]


def apply_operation(tape: Tape, op: str, a: Any, b: Any) -> int:
    """The operation of new operands; b is nothing where it takes one."""
    if op in BINARY:
        # each operation is the method of its name
        return getattr(tape, op)(a, b)  # type: ignore[no-any-return]
    return tape.neg(a) if op == "neg" else tape.call(op, a)


def copy_expressions(source: Tape, target: Tape, outs: Sequence[int]) -> list[int]:
    """The expressions `outs` of one tape, made again on another tape of the same system."""
    shared = source.shared_length(target)
    new: dict[int, int] = {}
    for i in dependencies(source, outs, range(shared)):
        op, a, b = source.nodes[i]
        if op == "symbol":
            new[i] = target.symbol(a)
            # symbols that varied with time still do
            if i in source.moving:
                target.moving.add(new[i])
            if i in source.inputs:
                target.inputs.add(new[i])
                target.states.update({new[i]} if i in source.states else ())
        elif op in LEAVES:
            new[i] = target.pi if op == "pi" else target.const(a)
        else:
            # what both tapes share stays as it is
            new[i] = target.copy_operation(op, new.get(a, a), new.get(b, b))
    return [new.get(i, i) for i in outs]
