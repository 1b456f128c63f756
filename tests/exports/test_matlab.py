"""MATLAB files, run by Octave, against our own numbers; the example integrates."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

from dalembert.exchange.exports.matlab import MatlabSource, files
from exports.cases import CLOSE, SYSTEMS, back_on_rows, case, near_rows, off

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("octave-cli") is None, reason="Octave is not installed"),
]


def octave(folder, program):
    (folder / "main_.m").write_text(program)
    done = subprocess.run(
        ["octave-cli", "--quiet", "main_.m"],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("octave")
    program = ["1;"]
    for name in SYSTEMS:
        one = case(name)
        for file, text in files(one.model, one.identifier).items():
            (folder / file).write_text(text)
        for file, table in (
            ("x", one.x),
            ("near", near_rows(one) if one.model.has_projection else one.x),
            ("w", one.w),
            ("t", one.t[:, None]),
        ):
            np.savetxt(folder / f"{one.identifier}_{file}.txt", table, fmt="%.17g")
        source = MatlabSource(one.model, one.identifier)
        program.append(
            f"m = {one.identifier}(); p = m.parameters(); X = load('{one.identifier}_x.txt'); t = "
            f"load('{one.identifier}_t.txt');"
        )
        program.append(
            f"W = load('{one.identifier}_w.txt');"
            if one.model.inputs
            else "W = zeros(numel(t), 0);"
        )
        program += [f"p.{source.names[v.name]} = {one.p[v.name]!r};" for v in one.model.parameters]
        calls = [(f.name, "X", [r.name for r in f.results]) for f in one.model.public_functions]
        if one.model.has_projection:
            program.append(f"N = load('{one.identifier}_near.txt');")
            calls.append(("project", "N", ["x"]))
        for function, array, results in calls:
            outs = ", ".join(f"r{k}" for k in range(len(results)))
            # Octave keeps matrices by columns
            flat = "; ".join(f"reshape(r{k}.', [], 1)" for k in range(len(results)))
            program.append(
                f"Y = []; for k = 1:numel(t) [{outs}] = m.{function}(t(k), {array}(k, :).', W(k, "
                f":).', p); Y(k, :) = [{flat}].'; end;"
                f"f = fopen('{one.identifier}_{function}.out', 'w'); fprintf(f, [repmat('%.17g ', "
                f"1, columns(Y)) '\\n'], Y.'); fclose(f);"
            )
    octave(folder, "\n".join(program))
    return folder


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_function_gives_our_numbers(found, name):
    one = case(name)

    def values(function):
        return np.loadtxt(found / f"{one.identifier}_{function}.out", ndmin=2)

    for f in one.model.public_functions:
        assert off(values(f.name), one.expected(f.name)) < CLOSE, f.name
    assert off(values("rates"), one.rates) < CLOSE
    if one.model.has_projection:
        assert off(values("project"), back_on_rows(one)) < CLOSE


def test_the_example_integrates_and_keeps_the_energy(tmp_path):
    for name in ("double-pendulum", "slider-crank"):
        one = case(name)
        for file, text in files(one.model, one.identifier).items():
            (tmp_path / file).write_text(text)
    said = octave(tmp_path, "double_pendulum_example; slider_crank_example;")
    lines = [line.split() for line in said.splitlines() if "steps" in line]
    assert len(lines) == 2
    for words in lines:
        assert abs(float(words[4]) - float(words[6])) < 1e-5 * max(1.0, abs(float(words[4])))
