"""v1 = a*b, v2 = v1 + c, …: a function lowered as native code is, and its lines in a language.
Keywords: code generation.

Every common subexpression is computed once and has a name; what depends on constants alone comes
first, apart from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from dalembert.exchange.exports.exported_model import ExportedFunction, ExportedModel
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.runtime.numerics.lowering import TRIG, Operation, Program, lower
from dalembert.symbolic.algebra.tape import DATA

# a value: a node of the tape, or an operation that lowering added, by what it does
Value = int | tuple[str, tuple[int, ...]]
# (result, op, arguments)
Step = tuple[int, str, tuple[int, ...]]


@dataclass(frozen=True)
class LanguageSyntax:
    """How a language writes operations, numbers and assignments; a template takes its operands
    as {0}, {1}.
    """

    operations: Mapping[str, str]
    assign: str = "{0} = {1}"
    number: Callable[[float], str] = repr
    # where one call gives both: what calls it, the name of its result and the angle taken as {0}
    # and {1}
    sincos: str = ""

    def literal(self, x: float) -> str:
        """A number as an operand."""
        text = self.number(x)
        return f"({text})" if text.startswith("-") else text


ARITHMETIC: Mapping[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0}*{1}",
    "div": "{0}/{1}",
    "neg": "-{0}",
    "reciprocal": "1.0/{0}",
}


FUNCTIONS: Final = (
    "sin",
    "cos",
    "exp",
    "log",
    "sqrt",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "atan2",
    "abs",
    "sign",
)


def operations(rename: Mapping[str, str] | None = None, prefix: str = "") -> dict[str, str]:
    """Arithmetic and functions, {sin: "sin({0})", …}, as most languages write them."""
    known = rename or {}
    called = {
        name: f"{prefix}{known.get(name, name)}({'{0}, {1}' if name == 'atan2' else '{0}'})"
        for name in FUNCTIONS
    }
    read = {name: f"table_{name}({{0}}, {{1}})" for name in sorted(DATA)}
    return {**ARITHMETIC, **called, **read}


@dataclass(frozen=True)
class LoweredFunction:
    """One function as operations on values."""

    function: ExportedFunction
    program: Program
    size: int

    @staticmethod
    def lower(model: ExportedModel, function: ExportedFunction) -> LoweredFunction:
        """The operations that give the function's results."""
        parameters = [p.node for p in (*model.parameters, *model.flags)]
        program = lower(
            model.tape.nodes, function.nodes, model.varying_symbols, parameters, fuse=False
        )
        return LoweredFunction(function, program, len(model.tape.nodes))

    @cached_property
    def synthesized_values(self) -> dict[int, Value]:
        operations = (*self.program.prologue, *self.program.body)
        return {
            r: (f"{o.op}.{k}", o.arguments)
            for o in operations
            for k, r in enumerate(o.results)
            if r >= self.size
        }

    def value(self, i: int) -> Value:
        """What value number i is, the same in every function of a model."""
        return self.synthesized_values.get(i, i)

    @cached_property
    def used_values(self) -> frozenset[int]:
        """The values that something is made of."""
        operations = (*self.program.prologue, *self.program.body)
        return frozenset((*self.program.outs, *(a for o in operations for a in o.arguments)))

    def assignments(self, operations: Sequence[Operation]) -> list[Step]:
        """(result, op, arguments), sines apart from cosines and only those that are wanted."""
        steps = []
        for op, arguments, results in operations:
            if op != "sincos":
                steps.append((results[0], op, arguments))
                continue
            for k, r in enumerate(results):
                if r in self.used_values:
                    steps.append((r, ("sin", "cos")[k % 2], (arguments[k // 2],)))
        return steps

    @cached_property
    def body_inputs(self) -> frozenset[int]:
        """The values that the varying part is made of, and the results."""
        return frozenset((*self.program.outs, *(a for o in self.program.body for a in o.arguments)))

    @cached_property
    def prologue(self) -> list[Step]:
        """What depends on constants alone."""
        return self.assignments(self.program.prologue)

    @cached_property
    def body(self) -> list[Step]:
        """What varies with t, x and w."""
        return self.assignments(self.program.body)


class AssignmentWriter:
    """Assignments in one function of a text; `names` holds what values are called so far."""

    def __init__(
        self,
        lowered: LoweredFunction,
        notation: LanguageSyntax,
        leaves: Mapping[int, str],
        temporary: str = "v",
    ) -> None:
        self.lowered, self.notation = lowered, notation
        self.names: dict[Value, str] = {
            i: notation.literal(x) for i, x in lowered.program.numbers.items()
        }
        for i, text in leaves.items():
            self.names[i] = text
        self._temporary, self.count = temporary, 0
        # {angle: the name of its sine and cosine}
        self.sincos_names: dict[str, str] = {}
        self.lines: list[str] = []

    def name(self, i: int) -> str:
        """What value number i is called."""
        return self.names[self.lowered.value(i)]

    def run(self, section: Iterable[Step]) -> None:
        """Write assignments, leaving out what has a name already."""
        names, added, count, turned = (
            self.names,
            self.lowered.synthesized_values,
            self.count,
            self.sincos_names,
        )
        operations = {
            op: self.notation.assign.format("{name}", text)
            for op, text in self.notation.operations.items()
        }
        for result, op, arguments in section:
            value = added.get(result, result)
            if value in names:
                continue
            if op in TRIG and self.notation.sincos:
                angle = names[added.get(arguments[0], arguments[0])]
                if angle not in turned:
                    turned[angle] = f"a{len(turned) + 1}"
                    self.lines.append(self.notation.sincos.format(turned[angle], angle))
                names[value] = f"{turned[angle]}.{op}"
            else:
                count += 1
                name = names[value] = f"{self._temporary}{count}"
                self.lines.append(
                    operations[op].format(*[names[added.get(a, a)] for a in arguments], name=name)
                )
        self.count = count


def function_code(
    model: ExportedModel, f: ExportedFunction, notation: LanguageSyntax, leaves: Mapping[int, str]
) -> tuple[list[str], dict[str, list[str]]]:
    """A whole function, constants' part and all: its lines, and what the entries of each result
    are called.
    """
    lowered = LoweredFunction.lower(model, f)
    writing = AssignmentWriter(lowered, notation, leaves)
    writing.run(lowered.prologue)
    writing.run(lowered.body)
    return writing.lines, {r.name: [writing.name(i) for i in r.nodes] for r in f.results}


def precompute_code(
    functions: Iterable[LoweredFunction],
    notation: LanguageSyntax,
    leaves: Mapping[int, str],
    store: Callable[[int, str], str],
    temporary: str = "v",
) -> tuple[list[str], dict[Value, int]]:
    """The lines that compute what depends on constants alone in any of the functions, and where
    each value that they read is kept.
    """
    before: AssignmentWriter | None = None
    places: dict[Value, int] = {}
    lines: list[str] = []
    for lowered in functions:
        writing = AssignmentWriter(lowered, notation, leaves, temporary)
        if before is not None:
            writing.names.update(before.names)
            writing.count, writing.sincos_names = before.count, before.sincos_names
        before = writing
        writing.run(lowered.prologue)
        lines += writing.lines
        for result, _, _ in lowered.prologue:
            if result in lowered.body_inputs and (value := lowered.value(result)) not in places:
                places[value] = len(places)
                lines.append(store(places[value], writing.names[value]))
    return lines, places
