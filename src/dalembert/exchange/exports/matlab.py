"""MATLAB and Octave: one file whose function gives a structure of functions, and a script that
integrates.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

from dalembert.exchange.exports.code_generation import LanguageSyntax, function_code, operations
from dalembert.exchange.exports.exported_model import (
    ExportedFunction,
    ExportedModel,
    ProjectionTemplate,
)
from dalembert.exchange.exports.identifiers import header_lines, identifiers, word_set
from dalembert.exchange.exports.table_data import matlab_tables
from dalembert.foundation.deferred_dataclass import dataclass

KEYWORDS: Final = word_set(
    """break case catch classdef continue else elseif end enumeration events for function global if
    methods otherwise parfor persistent properties return spmd switch try while do until
    end_try_catch endfor endfunction endif endswitch endwhile unwind_protect"""
)
NOTATION: Final = LanguageSyntax(operations(), "  {0} = {1};")


@dataclass(frozen=True)
class MatlabSource:
    """A model as m = name(): m.rates(t, x, w, p), m.parameters(), …"""

    model: ExportedModel
    name: str

    @cached_property
    def names(self) -> dict[str, str]:
        """The fields of the structure of constants."""
        return identifiers((p.name.lstrip("_") for p in self.model.parameters), KEYWORDS)

    def text(self) -> str:
        """The function file."""
        offered = [
            "parameters",
            *(f.name for f in self.model.public_functions),
            *(["project"] if self.model.has_projection else []),
        ]
        lines = [
            f"function model = {self.name}()",
            *(f"% {line}".rstrip() for line in header_lines(self.model, self.names, first=1)),
        ]
        lines += [f"  model.{f} = @{f};" for f in offered]
        lines += [f"  model.states = {{{_string_list(v.name for v in self.model.states)}}};"]
        lines += [f"  model.inputs = {{{_string_list(v.name for v in self.model.inputs)}}};"]
        values = [repr(0.0 if v.value is None else v.value) for v in self.model.states]
        lines += [f"  model.start = [{'; '.join(values)}];", "end"]
        lines += ["", *self._parameters()]
        if self.model.tables:
            lines += ["", *matlab_tables(self.model.tables)]
        for f in self.model.functions:
            lines += ["", *self._function(f)]
        if self.model.has_projection:
            lines += [
                "",
                *self.model.projection_code(_PROJECTION, first_speed=len(self.model.q) + 1),
            ]
        return "\n".join([*lines, ""])

    def _parameters(self) -> Iterator[str]:
        yield "function p = parameters()"
        yield "% the constants with the values of the description; those without one are NaN"
        yield "  p = struct();"
        for p in self.model.parameters:
            yield f"  p.{self.names[p.name]} = {'NaN' if p.value is None else repr(p.value)};"
        yield "end"

    def _function(self, f: ExportedFunction) -> Iterator[str]:
        lines, results = function_code(
            self.model,
            f,
            NOTATION,
            self.model.leaves("x({})", "w({})", "p.{}", self.names, first=1),
        )
        yield f"function [{', '.join(r.name for r in f.results)}] = {f.name}(t, x, w, p)"
        yield f"% {f.says}"
        yield from lines
        for r in f.results:
            yield f"  {r.name} = {_array(results[r.name], r.shape)};"
        yield "end"

    def example(self) -> str:
        """A script that integrates ten seconds from the start."""
        drive = f"zeros({len(self.model.inputs)}, 1)"
        back = (
            "\nfor k = 1:numel(t)\n  x(k, :) = model.project(t(k), x(k, :)', w(t(k)), p)';\nend"
            if self.model.has_projection
            else ""
        )
        return f"""% {self.model.title}: simulates ten seconds and prints the change of energy
model = {self.name}();
p = model.parameters();
w = @(t) {drive};
options = odeset('RelTol', 1e-9, 'AbsTol', 1e-9);
[t, x] = ode45(@(t, x) model.rates(t, x, w(t), p), [0 10], model.start, options);{back}
[T0, V0] = model.energies(t(1), x(1, :)', w(t(1)), p);
[T1, V1] = model.energies(t(end), x(end, :)', w(t(end)), p);
fprintf('%d steps, energy from %.12g to %.12g\\n', numel(t), T0 + V0, T1 + V1);
"""


_PROJECTION: Final = ProjectionTemplate(
    """\
function x = project(t, x, w, p)
% x projected onto the constraint rows in the mass metric
""",
    """\
  before = Inf;
  for round_ = 1:$rounds
    [q_new, residual] = position_step(t, x, w, p);
    if ~(residual < before/2)
      break
    end
    before = residual;
    x(1:$n_q) = q_new;
  end
""",
    """\
  for round_ = 1:$speed_rounds
    x($first_speed:end) = speed_step(t, x, w, p);
  end
""",
    "end\n",
)


def _string_list(names: Iterator[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _array(names: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return names[0]
    width = shape[1] if len(shape) == 2 else 1
    rows = (", ".join(names[k * width : (k + 1) * width]) for k in range(shape[0]))
    return f"[{'; '.join(rows)}]"


def files(model: ExportedModel, name: str) -> dict[str, str]:
    """{name.m, name_example.m}"""
    written = MatlabSource(model, name)
    return {f"{name}.m": written.text(), f"{name}_example.m": written.example()}
