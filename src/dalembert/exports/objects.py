"""da.to_jax(s), da.to_casadi(s): the exported functions as objects of a library, in the running program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from dalembert.errors import NotASystem
from dalembert.exports.contents import Contents, model
from dalembert.exports.python import text
from dalembert.model.system import System
from dalembert.ode.optional_packages import optional_package


def to_jax(
    system: System,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    start: Mapping[Any, Any] | None = None,
    outputs: Sequence[Any] = (),
) -> ModuleType:
    """A module of JAX functions: m.rates(t, x, w, p), m.energies, m.project, …, with m.DEFAULTS and m.START; `jit`, `vmap`, `grad` work.

    JAX is switched to 64 bits, which it allows before its first use in the program.
    """
    optional_package("jax", "to_jax").config.update("jax_enable_x64", True)
    return _module(system, "jax", Contents(values=values or {}, inputs=inputs or {}, start=start or {}, outputs=outputs))


def to_casadi(
    system: System,
    *,
    values: Mapping[Any, Any] | None = None,
    inputs: Mapping[Any, Any] | None = None,
    start: Mapping[Any, Any] | None = None,
    outputs: Sequence[Any] = (),
) -> dict[str, Any]:
    """{name: casadi.Function} of t, x, w and p: rates, mass_matrix, forcing, energies, …; each has its derivatives."""
    optional_package("casadi", "to_casadi")
    wanted = Contents(values=values or {}, inputs=inputs or {}, start=start or {}, outputs=outputs)
    module = _module(system, "casadi", wanted)
    offered = [name for name in ("project", *module.FUNCTIONS) if hasattr(module, name)]
    return {name: module.function(getattr(module, name)) for name in sorted(offered)}


def _module(system: System, dialect: str, wanted: Contents) -> ModuleType:
    if not isinstance(system, System):
        msg = f"to_{dialect}: give a System, not {type(system).__name__}"
        raise NotASystem(msg)
    module = ModuleType(f"dalembert_{dialect}")
    # our own text: names are letters, digits and underscores, numbers are numbers
    exec(compile(text(model(system, wanted), dialect), f"<{system.name}>", "exec"), module.__dict__)  # noqa: S102
    return module
