"""The FMU itself: an archive of description, sources and the binary of this machine."""

from __future__ import annotations

import hashlib
import io
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Final

from dalembert.errors import DalembertError
from dalembert.exchange.exports.c import CSource
from dalembert.exchange.exports.exported_model import (
    DIRECTIONAL,
    HELD,
    ExportedFunction,
    ExportedModel,
    Result,
    Variable,
)
from dalembert.exchange.exports.fmu.model_description import build_description, model_description
from dalembert.foundation.atomic_write import write_text
from dalembert.symbolic.algebra.expression_graph import Derivative

COMPILERS: Final = ("cc", "gcc", "clang")
# a fixed date, so that the same model gives the same bytes
_DATE: Final = (1980, 1, 1, 0, 0, 0)


class MissingTool(DalembertError):
    """A program that is not installed."""


class NoStart(DalembertError):
    """An export that needs complete initial values, where none could be found."""


def files(
    model: ExportedModel,
    name: str,
    version: str = "2.0",
    binary: str = "auto",
    directional: str = "no",
) -> dict[str, bytes]:
    """{name.fmu}; `binary` is auto, yes or no, `directional` whether there are derivatives along
    directions.
    """
    missing = [v.name for v in (*model.parameters, *model.states) if v.value is None]
    if missing:
        why = "; ".join(model.notes) or f"no value for {', '.join(missing)}"
        msg = f"an FMU needs complete initial values: {why}; give values= and start="
        raise NoStart(msg)
    if directional == "yes":
        model = _with_directional_derivatives(model)
    sources = _sources(model, name, version)
    token = "{" + hashlib.sha256("".join(sources.values()).encode()).hexdigest()[:32] + "}"
    sources["fmu_model.h"] = sources["fmu_model.h"].replace("@TOKEN@", token)
    compiled = [file for file in sources if file.endswith(".c")]
    content: dict[str, bytes] = {
        "modelDescription.xml": model_description(model, name, version, token, compiled)
    }
    content |= {f"sources/{file}": text.encode() for file, text in sources.items()}
    if version == "3.0":
        content["sources/buildDescription.xml"] = build_description(name, compiled)
    library = None if binary == "no" else _binary(name, sources, required=binary == "yes")
    if library is not None:
        content[f"binaries/{_platform(version)}/{name}{_library_suffix()}"] = library
    return {f"{name}.fmu": _zip_archive(content)}


def _sources(model: ExportedModel, name: str, version: str) -> dict[str, str]:
    source = CSource(model, name)
    interface = f"fmi{version[0]}.c"
    ours = {
        file: resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
        for file in ("instance.h", interface)
    }
    return {
        f"{name}.c": source.source(),
        interface: ours[interface],
        f"{name}.h": source.header(),
        "instance.h": ours["instance.h"],
    } | {"fmu_model.h": _model_header(model, name)}


def _model_header(model: ExportedModel, name: str) -> str:
    """Which model it is: sizes, start, and the functions whose arguments differ from model to
    model.
    """
    head = f"(double t, const double *x, const double *w, const {name}_parameters *p"
    call = (
        f"    {name}_outputs(t, x, w, p, y);"
        if model.outputs
        else "    (void)t; (void)x; (void)w; (void)p; (void)y;"
    )
    lines = [
        "#ifndef FMU_MODEL_H",
        "#define FMU_MODEL_H",
        "",
        f'#include "{name}.h"',
        "",
        f"#define MODEL(f) {name}_##f",
        *_model_constants(model),
        *(f"static void outputs_of{head}, double *y)", "{", call, "}"),
    ]
    if model.has_projection:
        lines += [
            "",
            "/* the largest of |phi| and |e| */",
            f"static double rows_off{head})",
            "{",
            *_constraint_violation_code(model, name),
            "}",
        ]
    return "\n".join([*lines, "", "#endif", ""])


def _model_constants(model: ExportedModel) -> list[str]:
    """What the model can do, its sizes, and its start."""
    switching = model.switching
    sizes = {
        "N_X": model.states,
        "N_W": model.inputs,
        "N_P": model.parameters,
        "N_Y": model.outputs,
        "N_Z": switching.guards if switching else (),
        "N_MODES": switching.contacts if switching else (),
    }
    start, inputs = (
        ", ".join(repr(v.value or 0.0) for v in variables) or "0.0"
        for variables in (model.states, model.inputs)
    )
    return [
        '#define TOKEN "@TOKEN@"',
        f"#define PROJECTS {int(model.has_projection)}",
        f"#define DIRECTIONAL {int(bool(model.seeds))}",
        f"#define SWITCHES {int(switching is not None)}",
        *(f"#define {size} {len(variables)}" for size, variables in sizes.items()),
        "",
        f"static const double START[] = {{{start}}};",
        f"static const double INPUTS[] = {{{inputs}}};",
        "",
    ]


def _constraint_violation_code(model: ExportedModel, name: str) -> list[str]:
    functions = [model.named[f] for f in ("constraints", HELD) if f in model.named]
    arrays = [r for f in functions for r in f.results]
    lines = [
        f"    double off = 0, {', '.join(f'{r.name}[{len(r.nodes)}]' for r in arrays)};",
        "    int k;",
    ]
    lines += [
        f"    {name}_{f.name}(t, x, w, p, {', '.join(r.name for r in f.results)});"
        for f in functions
    ]
    for r in arrays:
        if r.name != "A":
            # a NaN is the largest of all
            lines += [
                f"    for (k = 0; k < {len(r.nodes)}; ++k)",
                f"        if (!(fabs({r.name}[k]) <= off))",
            ]
            lines += [f"            off = fabs({r.name}[k]);"]
    return [*lines, "    return off;"]


def _binary(name: str, sources: dict[str, str], *, required: bool) -> bytes | None:
    compiler = next((compiler_path for c in COMPILERS if (compiler_path := shutil.which(c))), None)
    if compiler is None:
        if required:
            msg = (
                f"no C compiler was found ({', '.join(COMPILERS)}); install one, or leave out "
                f"binary='yes' to have the sources alone"
            )
            raise MissingTool(msg)
        return None
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for file, text in sources.items():
            write_text(place / file, text)
        compiled = [file for file in sources if file.endswith(".c")]
        command = [
            compiler,
            "-std=c99",
            "-O2",
            "-shared",
            "-fPIC",
            "-fvisibility=hidden",
            "-o",
            name + _library_suffix(),
            *compiled,
            "-lm",
        ]
        # the compiler that was found
        done = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            msg = (
                f"{compiler} cannot compile the sources of {name}: {done.stderr.strip()[:500]}; "
                f"binary='no' leaves the binary out"
            )
            raise MissingTool(msg)
        return (place / (name + _library_suffix())).read_bytes()


def _library_suffix() -> str:
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def _platform(version: str) -> str:
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    if version == "3.0":
        return f"{machine}-{system}"
    return {"windows": "win", "darwin": "darwin", "linux": "linux"}[system] + (
        "64" if sys.maxsize > 2**32 else "32"
    )


def _zip_archive(content: dict[str, bytes]) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)
    return memory.getvalue()


def _with_directional_derivatives(model: ExportedModel) -> ExportedModel:
    """δẋ = Σ ∂ẋ/∂v δv, v = (t, x, w, p): the model with the changes of rates, outputs and energies
    along a change of t, x, w and p.

    One pass over the operations: about three for each one, however many variables there are.
    """
    tape, named = model.tape.fork(), model.named
    known = [model.time, *(v.node for v in (*model.states, *model.inputs, *model.parameters))]
    seeds = {i: tape.private_symbol(f"seed_{k}") for k, i in enumerate(known)}
    change = Derivative(tape, seeds.get)
    wanted = [
        i for name in ("rates", "outputs", "energies") if name in named for i in named[name].nodes
    ]
    result = Result("change", tuple(map(change, wanted)), (len(wanted),))
    says = "the change of (dx/dt, y, T, V) along a change `seed` of (t, x, w, constants)"
    functions = (*model.functions, ExportedFunction(DIRECTIONAL, says, (result,)))
    return replace(
        model,
        tape=tape,
        functions=functions,
        seeds=tuple(Variable(i, f"seed_{k}") for k, i in enumerate(seeds.values())),
    )
