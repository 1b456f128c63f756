"""Every format by name: what it writes, and the options of its own that it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from typing import Any, Final

from dalembert.errors import Unknown
from dalembert.exchange.exports.exported_model import ExportedModel
from dalembert.foundation.deferred_dataclass import dataclass
from dalembert.foundation.suggestions import suggest_name

Files = Mapping[str, str | bytes]


@dataclass(frozen=True)
class Format:
    """What a format is, the module whose `files(model, name, **options)` writes it, and its
    options with their values.
    """

    says: str
    module: str
    fixed_options: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    # whether it changes modes of contacts and branches, and carries events
    switches: bool = False

    def files(self, model: ExportedModel, name: str, options: Mapping[str, Any]) -> Files:
        """{file name: contents}"""
        write: Callable[..., Files] = import_module(
            f"dalembert.exchange.exports.{self.module}"
        ).files
        return write(model, name, **self.fixed_options, **options)


FORMATS: Final[dict[str, Format]] = {
    "c": Format(
        "C99, header and source", "c", options={"real": ("double", "float")}, switches=True
    ),
    "object": Format(
        "an object file for any processor, and its C header",
        "llvm_object",
        options={"target": (), "real": ("double", "float"), "cpu": (), "features": ()},
    ),
    "numpy": Format("a Python module for NumPy, states in rows", "python", {"dialect": "numpy"}),
    "jax": Format("a Python module for JAX: jit, vmap, grad", "python", {"dialect": "jax"}),
    "fmu": Format(
        "FMU 2.0 or 3.0, model exchange and co-simulation",
        "fmu",
        options={
            "version": ("2.0", "3.0"),
            "binary": ("auto", "yes", "no"),
            "directional": ("no", "yes"),
        },
        switches=True,
    ),
    "javascript": Format("a JavaScript module", "javascript"),
    "wasm": Format("a WebAssembly module and the JavaScript that loads it", "webassembly"),
    "matlab": Format("MATLAB and Octave: a function file and a script that integrates", "matlab"),
    "modelica": Format("one flat Modelica model", "modelica"),
    "casadi": Format(
        "a Python module that builds CasADi functions", "python", {"dialect": "casadi"}
    ),
}


def find_format(name: str) -> Format:
    """The format of that name, or an error that lists them all."""
    if not isinstance(name, str) or name not in FORMATS:
        hint = suggest_name(str(name), FORMATS)
        msg = f"unknown format {name!r:.40}; {hint or 'known are ' + ', '.join(FORMATS)}"
        raise Unknown(msg)
    return FORMATS[name]


def check_options(name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options as given, or an error that says which there are."""
    known = FORMATS[name].options
    for option, value in given.items():
        if option not in known:
            has = ", ".join(known) or "none"
            msg = f"export: the format {name!r} has no option {option!r}; its options: {has}"
            raise Unknown(msg)
        if known[option] and value not in known[option]:
            msg = (
                f"export: {option}={value!r:.40}; choose one of "
                f"{', '.join(map(repr, known[option]))}"
            )
            raise Unknown(msg)
    return given
