"""Python: NumPy, where states may stand in rows; JAX, for jit, vmap and grad; CasADi, whose functions have derivatives.

One writer for the three: they differ in what the functions are called, how results are put together and how a loop is made.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dalembert.algebra.folds import symbols_of
from dalembert.exports.c import ROUNDS
from dalembert.exports.head import head
from dalembert.exports.model import POSITION_STEP, SPEED_STEP, ExportedFunction, Model, Result
from dalembert.exports.names import identifiers
from dalembert.exports.straight_line import ARITHMETIC, Notation, functions, written

KEYWORDS: Final = frozenset((*keyword.kwlist, *keyword.softkwlist, "count", "index"))
_CALLED: Final = ("sin", "cos", "exp", "log", "sqrt", "sinh", "cosh", "asin", "acos", "atan", "atan2", "abs", "sign")
_ARRAY_NAMES: Final = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
# Newton steps where a loop must have a fixed length
_FIXED_ROUNDS: Final = 6


@dataclass(frozen=True)
class Dialect:
    """What sets one library apart from another."""

    package: str
    alias: str
    before: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = tuple(_ARRAY_NAMES.items())

    @property
    def notation(self) -> Notation:
        table = {**ARITHMETIC, **functions(_CALLED, dict(self.renamed), f"{self.alias}.")}
        return Notation(table, "    {0} = {1}")


NUMPY: Final = Dialect("numpy", "np")
JAX: Final = Dialect(
    "jax.numpy",
    "jnp",
    (
        "import jax",
        "",
        'if not jax.config.read("jax_enable_x64"):',
        "    msg = \"this model is in 64 bits: call jax.config.update('jax_enable_x64', True) before jax is first used\"",
        "    raise RuntimeError(msg)",
    ),
)
CASADI: Final = Dialect("casadi", "ca", renamed=(("abs", "fabs"),))
DIALECTS: Final = {"numpy": NUMPY, "jax": JAX, "casadi": CASADI}


@dataclass(frozen=True)
class PythonSource:
    """A model as a Python module."""

    model: Model
    dialect: Dialect

    @cached_property
    def names(self) -> dict[str, str]:
        """The fields of the structure of constants."""
        return identifiers((p.name.lstrip("_") for p in self.model.parameters), KEYWORDS)

    def text(self) -> str:
        """The whole module."""
        lines = [*self._comment(), "", "from typing import NamedTuple", "", *self._imports(), "", *self._parameters()]
        if self.dialect is not CASADI:
            lines += ["", "", *_ARRAY.format(alias=self.dialect.alias).splitlines()]
        for f in self.model.functions:
            lines += ["", "", *self._function(f)]
        if self.model.projects:
            lines += ["", "", *self._project()]
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
        yield '"""' + "\n".join(line.rstrip() for line in head(self.model, self.names)).replace("\\", "/").replace('"""', "'''")
        yield ""
        yield "rates(t, x, w, p) and the other functions take arrays whose last index counts the entries."
        yield '"""'

    def _parameters(self) -> Iterator[str]:
        m = self.model
        yield f"STATES = {tuple(x.name for x in m.states)!r}"
        yield f"INPUTS = {tuple(w.name for w in m.inputs)!r}"
        yield f"OUTPUTS = {tuple(y.name for y in m.outputs)!r}"
        yield f"FUNCTIONS = {tuple(f.name for f in m.public)!r}"
        start = [x.value if x.value is not None else 0.0 for x in m.states]
        yield f"START = {tuple(start)!r}"
        yield ""
        yield ""
        yield "class Parameters(NamedTuple):"
        yield '    """The constants, with the values of the description; those without one are NaN."""'
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
        lines, entries = written(model, f, self.dialect.notation, model.leaves("x{}", "w{}", "p.{}", self.names))
        yield f"def {f.name}(t, x, w=(), p=DEFAULTS):"
        yield f'    """{f.says}"""'
        used = symbols_of(model.tape, f.nodes)
        yield from self._unpacked("x", [x.node in used for x in model.states])
        yield from self._unpacked("w", [w.node in used for w in model.inputs])
        yield from lines
        yield f"    return {', '.join(self._result(r, entries[r.name]) for r in f.results)}"

    def _unpacked(self, array: str, used: list[bool]) -> Iterator[str]:
        index = "" if self.dialect is CASADI else "..., "
        if any(used):
            if self.dialect is not CASADI:
                yield f"    {array} = {self.dialect.alias}.asarray({array})"
            yield from (f"    {array}{k} = {array}[{index}{k}]" for k, wanted in enumerate(used) if wanted)

    def _result(self, r: Result, names: list[str]) -> str:
        if self.dialect is CASADI:
            if not r.shape:
                return names[0]
            if len(r.shape) == 1:
                return f"ca.vertcat({', '.join(names)})"
            width = r.shape[1]
            rows = (f"ca.horzcat({', '.join(names[k * width : (k + 1) * width])})" for k in range(r.shape[0]))
            return f"ca.vertcat({', '.join(rows)})"
        return f"_array([{', '.join(names)}], {r.shape}, x)"

    def _project(self) -> Iterator[str]:
        named, n_q = self.model.named, len(self.model.q)
        positions, speeds = _PROJECT[self.dialect.package]
        numbers = {"n_q": n_q, "rounds": ROUNDS, "fixed": _FIXED_ROUNDS, "speed_rounds": self.model.speed_rounds}
        yield "def project(t, x, w=(), p=DEFAULTS):"
        yield '    """x carried back onto the constraint rows, the shortest way in the mass metric."""'
        if POSITION_STEP in named:
            yield from positions.format(**numbers).splitlines()
        if SPEED_STEP in named:
            yield from speeds.format(**numbers).splitlines()
        yield "    return x"


_ARRAY: Final = '''\
def _array(entries, shape, x):
    """Entries, numbers or one for each state, as an array of that shape for each state."""
    batch = {alias}.shape(x)[:-1]
    stacked = {alias}.stack([{alias}.broadcast_to(e, batch) for e in entries], axis=-1)
    return stacked.reshape((*batch, *shape))
'''

# by package: how positions are carried back, and how speeds are
_PROJECT: Final = {
    "numpy": (
        """\
    x = np.array(x, dtype=float)
    before, going = np.full(x.shape[:-1], np.inf), np.full(x.shape[:-1], True)
    for _ in range({rounds}):
        q, residual = position_step(t, x, w, p)
        # as small as rounding allows where it no longer halves
        going = going & (residual < before / 2)
        if not np.any(going):
            break
        x[..., :{n_q}] = np.where(going[..., None], q, x[..., :{n_q}])
        before = np.where(going, residual, before)
""",
        """\
    x = np.array(x, dtype=float)
    for _ in range({speed_rounds}):
        x[..., {n_q}:] = speed_step(t, x, w, p)
""",
    ),
    "jax.numpy": (
        """\
    def newton(_, carried):
        x, before, going = carried
        q, residual = position_step(t, x, w, p)
        # as small as rounding allows where it no longer halves
        going = going & (residual < before / 2)
        x = x.at[..., :{n_q}].set(jnp.where(going[..., None], q, x[..., :{n_q}]))
        return x, jnp.where(going, residual, before), going

    x = jnp.asarray(x, dtype=float)
    start = x, jnp.full(x.shape[:-1], jnp.inf), jnp.full(x.shape[:-1], True)
    x = jax.lax.fori_loop(0, {rounds}, newton, start)[0]
""",
        """\
    x = jnp.asarray(x, dtype=float)
    for _ in range({speed_rounds}):
        x = x.at[..., {n_q}:].set(speed_step(t, x, w, p))
""",
    ),
    "casadi": (
        """\
    for _ in range({fixed}):
        q, residual = position_step(t, x, w, p)
        # where nothing is left of the rows a step has no direction
        x = ca.vertcat(ca.if_else(residual > 0, q, x[:{n_q}]), x[{n_q}:])
""",
        """\
    for _ in range({speed_rounds}):
        x = ca.vertcat(x[:{n_q}], speed_step(t, x, w, p))
""",
    ),
}

_CASADI_FUNCTION: Final = '''
def function(f, name=None):
    """f(t, x, w, p) as a casadi.Function of four vectors, with names and derivatives."""
    t, x, w, p = ca.SX.sym("t"), ca.SX.sym("x", {n_x}), ca.SX.sym("w", {n_w}), ca.SX.sym("p", len(DEFAULTS))
    results = f(t, x, w, Parameters(*ca.vertsplit(p)) if len(DEFAULTS) else DEFAULTS)
    results = results if isinstance(results, tuple) else (results,)
    names = [f"y{{k}}" for k in range(len(results))] if len(results) > 1 else ["y"]
    return ca.Function(name or f.__name__, [t, x, w, p], [ca.SX(r) for r in results], ["t", "x", "w", "p"], names)
'''


def text(model: Model, dialect: str) -> str:
    """The module for numpy, jax or casadi."""
    return PythonSource(model, DIALECTS[dialect]).text()


def files(model: Model, name: str, dialect: str) -> dict[str, str]:
    """{name.py}"""
    return {f"{name}.py": text(model, dialect)}
