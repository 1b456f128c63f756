"""Object files: on this machine by the loader, for other processors under qemu, against our own
numbers.
"""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.exchange.exports.llvm_object import files
from exports.cases import CLOSE, COUNT, SYSTEMS, back_on_rows, case, near_rows, off

# (target, compiler whose linker and C library are used, emulator)
ELSEWHERE = {
    "aarch64-linux-gnu": ("aarch64-linux-gnu-gcc", "qemu-aarch64"),
    "riscv64-linux-gnu": ("riscv64-linux-gnu-gcc", "qemu-riscv64"),
    "arm-linux-gnueabi": ("arm-linux-gnueabi-gcc", "qemu-arm"),
}
FEW = ("double-pendulum", "four-bar", "rolling-disk", "spin-up-beam")


def program(one):
    """Reads constants and, for each state, t, x, w and a state near the rows; writes every
    result in turn.
    """
    m, me = one.model, "m"
    room = max(sum(len(r.nodes) for r in f.results) for f in m.functions)
    lines = [
        '#include "m.h"',
        "#include <stdio.h>",
        'static double next(void) { double v; return scanf("%lf", &v) == 1 ? v : 0.0/0.0; }',
    ]
    lines += [
        (
            f"int main(void) {{ m_parameters p; double x[{len(m.states)}], near[{len(m.states)}], "
            f"w[{len(m.inputs) + 1}], t, y[{room}];"
        )
    ]
    lines += ["int k, n; double *c = (double *)&p; m_defaults(&p);"]
    lines += [f"for (k = 0; k < {len(m.parameters)}; ++k) c[k] = next();", "m_prepare(&p);"]
    lines += [
        f"for (n = 0; n < {COUNT}; ++n) {{ t = next(); for (k = 0; k < m_n_x; ++k) x[k] = next();"
    ]
    lines += [
        "for (k = 0; k < m_n_w; ++k) w[k] = next(); for (k = 0; k < m_n_x; ++k) near[k] = next();"
    ]
    for f in m.public_functions:
        places, at = [], 0
        for r in f.results:
            places.append(f"y + {at}")
            at += len(r.nodes)
        lines.append(
            f"{me}_{f.name}(t, x, w, &p, {', '.join(places)}); for (k = 0; k < {at}; ++k) "
            f'printf("%.17g ", y[k]);'
        )
    if m.has_projection:
        lines.append(
            'm_project(t, near, w, &p); for (k = 0; k < m_n_x; ++k) printf("%.17g ", near[k]);'
        )
    return "\n".join([*lines, 'printf("\\n"); } return 0; }', ""])


def check(one, target, compiler, run, folder):
    for file, content in files(one.model, "m", target).items():
        (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "main.c").write_text(program(one))
    subprocess.run(
        [compiler, "-o", "main", "main.c", "m.o", "-lm", "-static"], cwd=folder, check=True
    )
    near = near_rows(one) if one.model.has_projection else one.x
    given = [
        *(one.p[v.name] for v in one.model.parameters),
        *np.hstack([one.t[:, None], one.x, one.w, near]).ravel(),
    ]
    done = subprocess.run(
        [*run, "./main"],
        cwd=folder,
        input=" ".join(map(repr, map(float, given))),
        capture_output=True,
        text=True,
        check=True,
    )
    found = np.array([[float(v) for v in line.split()] for line in done.stdout.splitlines()])
    at = 0
    for f in one.model.public_functions:
        expected = one.expected(f.name)
        part = found[:, at : at + expected.shape[1]]
        assert off(part, expected) < CLOSE, f.name
        if f.name == "rates":
            assert off(part, one.rates) < CLOSE
        at += expected.shape[1]
    if one.model.has_projection:
        assert off(found[:, at:], back_on_rows(one)) < CLOSE
    else:
        assert at == found.shape[1]


def needed(*programs):
    for name in programs:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")


def test_an_object_file_for_this_machine_gives_our_numbers(tmp_path):
    needed("gcc")
    check(case("four-bar"), "", "gcc", (), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "name"),
    [(t, n) for t in ELSEWHERE for n in (SYSTEMS if t.startswith("aarch64") else FEW)],
)
def test_other_processors_give_our_numbers(target, name, tmp_path):
    compiler, emulator = ELSEWHERE[target]
    needed(compiler, emulator)
    check(case(name), target, compiler, (emulator,), tmp_path)


def test_long_functions_are_written_in_pieces(tmp_path, monkeypatch):
    needed("gcc")
    monkeypatch.setattr("dalembert.exchange.exports.llvm_object.CHUNK", 40)
    check(case("four-bar"), "", "gcc", (), tmp_path)


@pytest.mark.parametrize(
    ("target", "machine"),
    [
        ("aarch64-linux-gnu", 183),
        ("riscv64-linux-gnu", 243),
        ("thumbv7em-none-eabi", 40),
        ("x86_64-linux-gnu", 62),
    ],
)
def test_the_processor_stands_in_the_file(target, machine):
    made = da.export(gallery.build("simple-pendulum"), "object", target=target, real="float")
    image = made.files["simple_pendulum.o"]
    assert (image[:4], int.from_bytes(image[18:20], "little")) == (b"\x7fELF", machine)
    assert "typedef float simple_pendulum_real;" in made.files["simple_pendulum.h"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("pdp11", "cannot write code for pdp11.*such as aarch64"),
        ("arm-linux-gnueabihf", "take that target"),
    ],
)
def test_processors_that_are_not_known_are_refused(target, says):
    with pytest.raises(da.DalembertError, match=says):
        da.export(gallery.build("simple-pendulum"), "object", target=target)
