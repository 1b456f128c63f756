"""Python: NumPy, where the rows of an array may be states; JAX, for jit, vmap and grad; CasADi,
whose functions have derivatives.

One writer for the three: they differ in what the functions are called, how results are put together
and how a loop is made. da.to_jax(s) and da.to_casadi(s) give the functions as objects of the
running program.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any, Final

from dalembert.errors import NotASystem, import_optional
from dalembert.exchange.exports import export_model
from dalembert.exchange.exports.code_generation import LanguageSyntax, function_code, operations
from dalembert.exchange.exports.exported_model import (
    ExportedFunction,
    ExportedModel,
    ProjectionTemplate,
    Result,
)
from dalembert.exchange.exports.identifiers import header_lines, identifiers
from dalembert.exchange.exports.table_data import check_format, python_tables
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.mechanics.model.system import System
from dalembert.symbolic.algebra.expression_graph import symbols_of

KEYWORDS: Final = frozenset((*keyword.kwlist, *keyword.softkwlist, "count", "index"))
_ARRAY_NAMES: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
# Newton steps where a loop must have a fixed length
_FIXED_ITERATIONS: Final = 6


@dataclass(frozen=True)
class Dialect:
    """What sets one library apart from another."""

    package: str
    alias: str
    before: tuple[str, ...] = ()
    function_names: tuple[tuple[str, str], ...] = tuple(_ARRAY_NAMES.items())

    @property
    def notation(self) -> LanguageSyntax:
        return LanguageSyntax(
            operations(dict(self.function_names), f"{self.alias}."), "    {0} = {1}"
        )


NUMPY: Final = Dialect("numpy", "np")
JAX: Final = Dialect(
    "jax.numpy",
    "jnp",
    (
        "import jax",
        "",
        'if not jax.config.read("jax_enable_x64"):',
        (
            "    msg = \"this model is in 64 bits: call jax.config.update('jax_enable_x64', True) "
            'before jax is first used"'
        ),
        "    raise RuntimeError(msg)",
    ),
)
CASADI: Final = Dialect("casadi", "ca", function_names=(("abs", "fabs"),))
DIALECTS: Final = {"numpy": NUMPY, "jax": JAX, "casadi": CASADI}


@dataclass(frozen=True)
class PythonSource:
    """A model as a Python module."""

    model: ExportedModel
    dialect: Dialect

    @cached_property
    def names(self) -> dict[str, str]:
        """The fields of the structure of constants."""
        return identifiers((p.name.lstrip("_") for p in self.model.parameters), KEYWORDS)

    def text(self) -> str:
        """The whole module."""
        lines = [
            *self._comment(),
            "",
            "from typing import NamedTuple",
            "",
            *self._imports(),
            "",
            *self._parameters(),
        ]
        if self.dialect is not CASADI:
            lines += ["", "", *_ARRAY.format(alias=self.dialect.alias).splitlines()]
        if self.model.tables:
            check_format("casadi" if self.dialect is CASADI else "numpy", self.model.tables)
            lines += ["", "", *python_tables(self.model.tables, self.dialect.alias)]
        for f in self.model.functions:
            lines += ["", "", *self._function(f)]
        if self.model.has_projection:
            lines += [
                "",
                "",
                *self.model.projection_code(
                    _PROJECT[self.dialect.package], fixed=_FIXED_ITERATIONS
                ),
            ]
        if self.dialect is CASADI:
            lines += ["", "", *_CASADI_FUNCTION.format(**self._sizes()).splitlines()]
        return "\n".join([*lines, ""])

    def _sizes(self) -> dict[str, int]:
        return {"n_x": len(self.model.states), "n_w": len(self.model.inputs)}

    def _imports(self) -> Iterator[str]:
        if self.dialect.before:
            yield from self.dialect.before
            yield ""
        yield f"import {self.dialect.package} as {self.dialect.alias}"

    def _comment(self) -> Iterator[str]:
        yield '"""' + "\n".join(
            line.rstrip() for line in header_lines(self.model, self.names)
        ).replace("\\", "/").replace('"""', "'''")
        yield ""
        yield (
            "rates(t, x, w, p) and the other functions take arrays whose last index counts the "
            "entries."
        )
        yield '"""'

    def _parameters(self) -> Iterator[str]:
        m = self.model
        yield f"STATES = {tuple(x.name for x in m.states)!r}"
        yield f"INPUTS = {tuple(w.name for w in m.inputs)!r}"
        yield f"OUTPUTS = {tuple(y.name for y in m.outputs)!r}"
        yield f"FUNCTIONS = {tuple(f.name for f in m.public_functions)!r}"
        start = [x.value if x.value is not None else 0.0 for x in m.states]
        yield f"START = {tuple(start)!r}"
        yield ""
        yield ""
        yield "class Parameters(NamedTuple):"
        yield (
            '    """The constants, with the values of the description; those without one are '
            'NaN."""'
        )
        yield ""
        for p in m.parameters:
            number = 'float("nan")' if p.value is None else repr(p.value)
            yield f"    {self.names[p.name]}: float = {number}"
        if not m.parameters:
            yield "    pass"
        yield ""
        yield ""
        yield "DEFAULTS = Parameters()"

    # ---- functions ---------------------------------------------------------------------------

    def _function(self, f: ExportedFunction) -> Iterator[str]:
        model = self.model
        lines, entries = function_code(
            model, f, self.dialect.notation, model.leaves("x{}", "w{}", "p.{}", self.names)
        )
        yield f"def {f.name}(t, x, w=(), p=DEFAULTS):"
        yield f'    """{f.says}"""'
        used = symbols_of(model.tape, f.nodes)
        yield from self._unpack_lines("x", [x.node in used for x in model.states])
        yield from self._unpack_lines("w", [w.node in used for w in model.inputs])
        yield from lines
        yield f"    return {', '.join(self._result(r, entries[r.name]) for r in f.results)}"

    def _unpack_lines(self, array: str, used: list[bool]) -> Iterator[str]:
        index = "" if self.dialect is CASADI else "..., "
        if any(used):
            if self.dialect is not CASADI:
                yield f"    {array} = {self.dialect.alias}.asarray({array})"
            yield from (
                f"    {array}{k} = {array}[{index}{k}]" for k, wanted in enumerate(used) if wanted
            )

    def _result(self, r: Result, names: list[str]) -> str:
        if self.dialect is CASADI:
            if not r.shape:
                return names[0]
            if len(r.shape) == 1:
                return f"ca.vertcat({', '.join(names)})"
            width = r.shape[1]
            rows = (
                f"ca.horzcat({', '.join(names[k * width : (k + 1) * width])})"
                for k in range(r.shape[0])
            )
            return f"ca.vertcat({', '.join(rows)})"
        return f"_array([{', '.join(names)}], {r.shape}, x)"


_ARRAY: Final = '''\
def _array(entries, shape, x):
    """Entries, numbers or one for each state, as an array of that shape for each state."""
    batch = {alias}.shape(x)[:-1]
    stacked = {alias}.stack([{alias}.broadcast_to(e, batch) for e in entries], axis=-1)
    return stacked.reshape((*batch, *shape))
'''

_BEGIN: Final = '''\
def project(t, x, w=(), p=DEFAULTS):
    """x projected onto the constraint rows in the mass metric."""
'''
_END: Final = "    return x\n"
# by package: how positions and speeds are projected
_PROJECT: Final = {
    "numpy": ProjectionTemplate(
        _BEGIN,
        """\
    x = np.array(x, dtype=float)
    before, going = np.full(x.shape[:-1], np.inf), np.full(x.shape[:-1], True)
    for _ in range($rounds):
        q, residual = position_step(t, x, w, p)
        # as small as rounding allows where it no longer halves
        going = going & (residual < before / 2)
        if not np.any(going):
            break
        x[..., :$n_q] = np.where(going[..., None], q, x[..., :$n_q])
        before = np.where(going, residual, before)
""",
        """\
    x = np.array(x, dtype=float)
    for _ in range($speed_rounds):
        x[..., $n_q:] = speed_step(t, x, w, p)
""",
        _END,
    ),
    "jax.numpy": ProjectionTemplate(
        _BEGIN,
        """\
    def newton(_, carried):
        x, before, going = carried
        q, residual = position_step(t, x, w, p)
        # as small as rounding allows where it no longer halves
        going = going & (residual < before / 2)
        x = x.at[..., :$n_q].set(jnp.where(going[..., None], q, x[..., :$n_q]))
        return x, jnp.where(going, residual, before), going

    x = jnp.asarray(x, dtype=float)
    start = x, jnp.full(x.shape[:-1], jnp.inf), jnp.full(x.shape[:-1], True)
    x = jax.lax.fori_loop(0, $rounds, newton, start)[0]
""",
        """\
    x = jnp.asarray(x, dtype=float)
    for _ in range($speed_rounds):
        x = x.at[..., $n_q:].set(speed_step(t, x, w, p))
""",
        _END,
    ),
    "casadi": ProjectionTemplate(
        _BEGIN,
        """\
    for _ in range($fixed):
        q, residual = position_step(t, x, w, p)
        # at a residual of zero a step has no direction
        x = ca.vertcat(ca.if_else(residual > 0, q, x[:$n_q]), x[$n_q:])
""",
        """\
    for _ in range($speed_rounds):
        x = ca.vertcat(x[:$n_q], speed_step(t, x, w, p))
""",
        _END,
    ),
}

_CASADI_FUNCTION: Final = '''
def function(f, name=None):
    """f(t, x, w, p) as a casadi.Function of four vectors, with names and derivatives."""
    t, x = ca.SX.sym("t"), ca.SX.sym("x", {n_x})
    w, p = ca.SX.sym("w", {n_w}), ca.SX.sym("p", len(DEFAULTS))
    results = f(t, x, w, Parameters(*ca.vertsplit(p)) if len(DEFAULTS) else DEFAULTS)
    results = results if isinstance(results, tuple) else (results,)
    names = [f"y{{k}}" for k in range(len(results))] if len(results) > 1 else ["y"]
    outs = [ca.SX(r) for r in results]
    return ca.Function(name or f.__name__, [t, x, w, p], outs, ["t", "x", "w", "p"], names)
'''


def python_source(model: ExportedModel, dialect: str) -> str:
    """The module for numpy, jax or casadi."""
    return PythonSource(model, DIALECTS[dialect]).text()


def files(model: ExportedModel, name: str, dialect: str) -> dict[str, str]:
    """{name.py}"""
    return {f"{name}.py": python_source(model, dialect)}


# ---- in the running program ------------------------------------------------------------------


def to_jax(
    system: System,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    start: Mapping[Any, Any] | None = None,
    outputs: Sequence[Any] = (),
) -> ModuleType:
    """A module of JAX functions: m.rates(t, x, w, p), m.energies, m.project, …, with m.DEFAULTS and
    m.START; `jit`, `vmap`, `grad` work.

    JAX is switched to 64 bits, which it allows before its first use in the program.
    """
    import_optional("jax", "to_jax").config.update("jax_enable_x64", True)
    return _import_module(system, "jax", values, inputs, start, outputs)


def to_casadi(
    system: System,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    start: Mapping[Any, Any] | None = None,
    outputs: Sequence[Any] = (),
) -> dict[str, Any]:
    """{name: casadi.Function} of t, x, w and p: rates, mass_matrix, forcing, energies, …; each
    has its derivatives.
    """
    import_optional("casadi", "to_casadi")
    module = _import_module(system, "casadi", values, inputs, start, outputs)
    offered = [name for name in ("project", *module.FUNCTIONS) if hasattr(module, name)]
    return {name: module.function(getattr(module, name)) for name in sorted(offered)}


def _import_module(
    system: System, dialect: str, values: Any, inputs: Any, start: Any, outputs: Sequence[Any]
) -> ModuleType:
    if not isinstance(system, System):
        msg = f"to_{dialect}: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    wanted = export_model.ExportRequest(
        values=values or {}, inputs=inputs or {}, start=start or {}, outputs=outputs
    )
    module = ModuleType(f"dalembert_{dialect}")
    # our own text: names are letters, digits and underscores, numbers are numbers
    exec(  # noqa: S102
        compile(
            python_source(export_model.exported_model(system, wanted), dialect),
            f"<{system.name}>",
            "exec",
        ),
        module.__dict__,
    )
    return module
