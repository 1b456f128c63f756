"""y = f(x, p) for a page: functions in LLVM text, with the names of the numbers that each of them takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dalembert.algebra.folds import symbols_of
from dalembert.algebra.tape import Tape
from dalembert.numerics import emit
from dalembert.numerics.compiled import CompiledFunction
from dalembert.numerics.jit import WASM32
from dalembert.numerics.llvm_types import POINTER


@dataclass(frozen=True)
class ModulePart:
    """One function of the module: its name and text, the names of its parameters, the sizes of its result and its work."""

    name: str
    text: str = field(repr=False)
    parameters: tuple[str, ...]
    n_out: int
    work: int

    @property
    def data(self) -> dict[str, Any]:
        """What the engine of the page must know to call it."""
        return {"p": list(self.parameters), "out": self.n_out, "work": self.work}


def expressions(name: str, tape: Tape, outs: Sequence[int], state: Sequence[int]) -> ModulePart:
    """Nodes of a tape as a function of the state; every other symbol is a parameter."""
    inside = set(state)
    parameters = tuple(i for i in symbols_of(tape, outs) if i not in inside)
    text = emit.emit(tape.nodes, outs, state, parameters, name=name, target=WASM32)
    return ModulePart(name, text.ir, names(tape, parameters), len(outs), text.work_size)


def compiled(name: str, function: CompiledFunction, parameters: tuple[str, ...]) -> ModulePart:
    """What was compiled for this machine, written for a page."""
    text, work = function.text_for(WASM32, name)
    return ModulePart(name, text, parameters, function.n_out, work)


def names(tape: Tape, symbols: Sequence[int]) -> tuple[str, ...]:
    """The names of symbols."""
    return tuple(str(tape.nodes[i][1]) for i in symbols)


def field_letters(fields: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Each field of a structure with the letter of its kind: a number, or an address or whole number."""
    return [[name, "f" if kind == "double" else "p" if kind == POINTER else "i"] for name, kind in fields]
