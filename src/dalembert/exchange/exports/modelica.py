"""Modelica: one flat model whose functions are those of the other languages; states carry their
names, units and start values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from dalembert.exchange.exports.code_generation import LanguageSyntax, function_code, operations
from dalembert.exchange.exports.exported_model import (
    MAX_NEWTON_ITERATIONS,
    POSITION_STEP,
    SPEED_STEP,
    ExportedFunction,
    ExportedModel,
    Result,
    Variable,
)
from dalembert.exchange.exports.identifiers import header_lines, identifiers, word_set
from dalembert.foundation.deferred_dataclass import dataclass

KEYWORDS: Final = word_set(
    """algorithm and annotation block break class connect connector constant constrainedby der
    discrete each else elseif elsewhen encapsulated end enumeration equation expandable
    extends external false final flow for function if import impure in initial inner input
    loop model not operator or outer output package parameter partial protected public pure
    record redeclare replaceable return stream then true type when while within time Real
    Integer Boolean String sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10
    sqrt abs sign max min sum product size fill zeros ones pre edge change reinit sample
    noEvent smooth delay assert terminate rates mass_matrix forcing constraints energies
    outputs linear project position_step speed_step kinetic_energy potential_energy drift
    drift_tolerance dx back"""
)
NOTATION: Final = LanguageSyntax(operations(), "    {0} := {1};")
# constraint violation above which a state is projected
DRIFT_TOLERANCE: Final = 1e-9


@dataclass(frozen=True)
class ModelicaSource:
    """A model with functions inside; constants are its parameters, inputs its inputs."""

    model: ExportedModel
    name: str

    @cached_property
    def names(self) -> dict[str, str]:
        """What states, inputs, constants and outputs are called."""
        m = self.model
        wanted = [
            *(v.name for v in (*m.states, *m.inputs, *m.parameters)),
            *(_output(y) for y in m.outputs),
        ]
        return identifiers(wanted, {*KEYWORDS, self.name})

    def text(self) -> str:
        """The whole model."""
        m = self.model
        lines = [
            f"model {self.name} {_string_literal(m.title)}",
            *(f"  // {line}".rstrip() for line in header_lines(m, self.names, first=1)),
        ]
        lines += [*self._declarations(), *self._equations()[0]]
        for f in m.functions:
            lines += self._function(f)
        if m.has_projection:
            lines += self._project()
        return "\n".join([*lines, "equation", *self._equations()[1], f"end {self.name};", ""])

    # ---- declarations and equations ----------------------------------------------------------

    def _declarations(self) -> Iterator[str]:
        m = self.model
        for p in m.parameters:
            yield (
                f"  parameter Real "
                f"{self.names[p.name]}{_unit(p)}{'' if p.value is None else f' = {p.value!r}'};"
            )
        for w in m.inputs:
            yield f"  input Real {self.names[w.name]}{_unit(w)} = {w.value or 0.0!r};"
        for x in m.states:
            start = "" if x.value is None else f"start = {x.value!r}, fixed = true"
            listed = ", ".join(part for part in (start, _unit(x)[1:-1]) if part)
            yield f"  Real {self.names[x.name]}{f'({listed})' if listed else ''};"
        yield (
            '  output Real kinetic_energy(unit = "J");\n  output Real potential_energy(unit = "J");'
        )
        yield from (f"  output Real {self.names[_output(y)]};" for y in m.outputs)

    def _equations(self) -> tuple[list[str], list[str]]:
        """Variables of their own, and the equations."""
        m, n = self.model, len(self.model.states)
        given = self._call_arguments()
        own = [f"  Real dx[{n}];"]
        lines = [f"  dx = rates({given});"]
        lines += [f"  der({self.names[x.name]}) = dx[{k}];" for k, x in enumerate(m.states, 1)]
        lines += [f"  (kinetic_energy, potential_energy) = energies({given});"]
        if m.outputs:
            own.append(f"  Real y[{len(m.outputs)}];")
            lines += [
                f"  y = outputs({given});",
                *(f"  {self.names[_output(y)]} = y[{k}];" for k, y in enumerate(m.outputs, 1)),
            ]
        if m.has_projection:
            more, steps = self._projection(given)
            own += more
            lines += steps
        return own, lines

    def _projection(self, given: str) -> tuple[list[str], list[str]]:
        """The same of the step back onto the constraint rows."""
        m = self.model
        results = m.named["constraints"].results
        own = [
            f"  parameter Real drift_tolerance = {DRIFT_TOLERANCE!r};",
            "  Real drift;",
            f"  discrete Real back[{len(m.states)}];",
        ]
        own += [f"  Real {r.name}_rows{_dimensions(r)};" for r in results]
        lines = [f"  ({', '.join(f'{r.name}_rows' for r in results)}) = constraints({given});"]
        off = [f"max(abs({r.name}_rows))" for r in results if r.name != "A"]
        lines += [f"  drift = {off[0] if len(off) == 1 else f'max({off[0]}, {off[1]})'};"]
        lines += ["  when drift > drift_tolerance then", f"    back = project({given});"]
        lines += [
            f"    reinit({self.names[x.name]}, back[{k}]);" for k, x in enumerate(m.states, 1)
        ]
        return own, [*lines, "  end when;"]

    def _call_arguments(self) -> str:
        m = self.model

        def array(variables: Sequence[Variable]) -> str:
            return f"{{{', '.join(self.names[v.name] for v in variables) or '0.0'}}}"

        return f"time, {array(m.states)}, {array(m.inputs)}, {array(m.parameters)}"

    # ---- functions ---------------------------------------------------------------------------

    def _arguments(self) -> Iterator[str]:
        m = self.model
        yield "    input Real t;"
        for name, variables in (("x", m.states), ("w", m.inputs), ("p", m.parameters)):
            yield f"    input Real {name}[{max(1, len(variables))}];"

    def _function(self, f: ExportedFunction) -> Iterator[str]:
        m = self.model
        leaves = m.leaves(
            "x[{}]",
            "w[{}]",
            "p[{}]",
            {p.name: str(k) for k, p in enumerate(m.parameters, 1)},
            first=1,
        )
        lines, entries = function_code(m, f, NOTATION, leaves)
        yield f"  function {f.name} {_string_literal(f.says)}"
        yield from self._arguments()
        yield from (f"    output Real {r.name}{_dimensions(r)};" for r in f.results)
        temporaries = [line.split()[0] for line in lines]
        if temporaries:
            yield "  protected"
            yield from (
                f"    Real {', '.join(temporaries[k : k + 12])};"
                for k in range(0, len(temporaries), 12)
            )
        yield "  algorithm"
        yield from lines
        for r in f.results:
            yield from (
                f"    {r.name}{place} := {entry};"
                for place, entry in zip(_result_indices(r), entries[r.name], strict=True)
            )
        yield f"  end {f.name};"

    def _project(self) -> Iterator[str]:
        n_q, n, named = len(self.model.q), len(self.model.states), self.model.named
        yield '  function project "x projected onto the constraint rows in the mass metric"'
        yield from self._arguments()
        yield f"    output Real y[{n}];"
        yield "  protected"
        yield (
            f"    Real q_new[{n_q}];\n    Real u_new[{n - n_q}];\n    Real residual;\n    Real "
            f"before;"
        )
        yield (
            f"  algorithm\n    y := x;\n    q_new := zeros({n_q});\n    u_new := "
            f"zeros({n - n_q});\n    residual := 0;"
        )
        if POSITION_STEP in named:
            # nothing is below zero: where the residual no longer halves, the rest of the loop moves
            # nothing
            yield f"    before := 1e300;\n    for round in 1:{MAX_NEWTON_ITERATIONS} loop"
            yield f"      (q_new, residual) := {POSITION_STEP}(t, y, w, p);"
            yield "      if residual < before/2 then"
            yield from (f"        y[{k}] := q_new[{k}];" for k in range(1, n_q + 1))
            yield (
                "        before := residual;\n      else\n        before := 0;\n      end if;\n "
                " "
                "  end for;"
            )
        if SPEED_STEP in named:
            yield (
                f"    for round in 1:{self.model.speed_iterations} loop\n      u_new := "
                f"{SPEED_STEP}(t, y, w, p);"
            )
            yield from (f"      y[{n_q + k}] := u_new[{k}];" for k in range(1, n - n_q + 1))
            yield "    end for;"
        yield "  end project;"


def _output(y: Variable) -> str:
    """An output may be a state or a constant as well."""
    return f"output {y.name}"


def _string_literal(text: str) -> str:
    return '"' + text.replace("\\", "/").replace('"', "'") + '"'


def _unit(v: Variable) -> str:
    return f'(unit = "{v.unit}")' if v.unit else ""


def _dimensions(r: Result) -> str:
    return f"[{', '.join(map(str, r.shape))}]" if r.shape else ""


def _result_indices(r: Result) -> list[str]:
    if len(r.shape) < 2:
        return [f"[{k}]" for k in range(1, r.shape[0] + 1)] if r.shape else [""]
    return [f"[{i}, {k}]" for i in range(1, r.shape[0] + 1) for k in range(1, r.shape[1] + 1)]


def files(model: ExportedModel, name: str) -> dict[str, str]:
    """{Name.mo}"""
    called = name[0].upper() + name[1:]
    return {f"{called}.mo": ModelicaSource(model, called).text()}
