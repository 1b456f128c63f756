"""JavaScript: one module without dependencies, for browsers and for servers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from dalembert.exchange.exports.code_generation import LanguageSyntax, function_code, operations
from dalembert.exchange.exports.exported_model import (
    POSITION_STEP,
    SPEED_STEP,
    ExportedFunction,
    ExportedModel,
    ProjectionTemplate,
)
from dalembert.exchange.exports.identifiers import header_lines, identifiers
from dalembert.exchange.exports.table_data import javascript_tables
from dalembert.foundation.deferred_dataclass import dataclass

# a field of an object may be any word but these
KEYWORDS: Final = frozenset(
    ("constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf")
)
NOTATION: Final = LanguageSyntax(operations(prefix="Math."), "  const {0} = {1};")


@dataclass(frozen=True)
class JavaScriptSource:
    """A model as a module; a function returns its one result, or an object of several."""

    model: ExportedModel

    @cached_property
    def names(self) -> dict[str, str]:
        """The fields of the object of constants."""
        return identifiers((p.name for p in self.model.parameters), KEYWORDS)

    def text(self) -> str:
        """The whole module."""
        lines = self.header()
        for f in self.model.functions:
            lines += ["", *self._function(f)]
        if self.model.has_projection:
            lines += ["", *self.model.projection_code(_PROJECTION)]
        return "\n".join([*lines, ""])

    def header(self) -> list[str]:
        """What is what, and the constants of the module."""
        return [
            "/*",
            *(f" * {line}".rstrip() for line in header_lines(self.model, self.names)),
            " */",
            "",
            *self._constants(),
            *(javascript_tables(self.model.tables) if self.model.tables else ()),
        ]

    def _constants(self) -> Iterator[str]:
        m = self.model
        for name, variables in (("STATES", m.states), ("INPUTS", m.inputs), ("OUTPUTS", m.outputs)):
            yield f"export const {name} = {json.dumps([v.name for v in variables])};"
        yield f"export const START = {[0.0 if x.value is None else x.value for x in m.states]};"
        yield "/* the constants with the values of the description; those without one are NaN */"
        yield "export function parameters(changes = {}) {"
        fields = ", ".join(
            f"{self.names[p.name]}: {'NaN' if p.value is None else repr(p.value)}"
            for p in m.parameters
        )
        yield f"  return {{...{{{fields}}}, ...changes}};"
        yield "}"

    def _function(self, f: ExportedFunction) -> Iterator[str]:
        lines, results = function_code(
            self.model, f, NOTATION, self.model.leaves("x[{}]", "w[{}]", "p.{}", self.names)
        )
        private = f.name in (POSITION_STEP, SPEED_STEP)
        shapes = ", ".join(
            f"{r.name}: {' x '.join(map(str, r.shape)) or 'a number'}" for r in f.results
        )
        yield f"/* {f.says} ({shapes}) */"
        yield f"{'' if private else 'export '}function {f.name}(t, x, w = [], p = parameters()) {{"
        yield from lines
        arrays = {
            r.name: f"[{', '.join(results[r.name])}]" if r.shape else results[r.name][0]
            for r in f.results
        }
        one = (
            next(iter(arrays.values()))
            if len(arrays) == 1
            else f"{{{', '.join(f'{n}: {e}' for n, e in arrays.items())}}}"
        )
        yield f"  return {one};"
        yield "}"


_PROJECTION: Final = ProjectionTemplate(
    """\
/* x projected onto the constraint rows in the mass metric */
export function project(t, x, w = [], p = parameters()) {
  let y = Array.from(x);
""",
    """\
  let before = Infinity;
  for (let round = 0; round < $rounds; ++round) {
    const {q_new, residual} = position_step(t, y, w, p);
    if (!(residual < before/2)) break;
    before = residual;
    y = [...q_new, ...y.slice($n_q)];
  }
""",
    """\
  for (let round = 0; round < $speed_rounds; ++round) {
    y = [...y.slice(0, $n_q), ...speed_step(t, y, w, p)];
  }
""",
    """\
  return y;
}
""",
)


def files(model: ExportedModel, name: str) -> dict[str, str]:
    """{name.mjs}"""
    return {f"{name}.mjs": JavaScriptSource(model).text()}
