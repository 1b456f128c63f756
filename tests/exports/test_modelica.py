"""Modelica by rumoca: every function of every system at random states, a run with its rows held,
against our own numbers.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.exchange.exports.modelica import ModelicaSource
from exports.cases import CLOSE, COUNT, SYSTEMS, case, off

rumoca = pytest.importorskip("rumoca", reason="rumoca is not installed (extra: export)")


def sampled(one, centre, reach):
    """Every function along a path through random states: one run, since a run compiles anew. The
    states are those that it reports.

    x_k = c_k + reach sin(a_k t + b_k)
    """
    m, source, rng = one.model, ModelicaSource(one.model, "M"), np.random.default_rng(7)

    def path(centres, reach):
        waves = zip(
            centres,
            rng.uniform(50, 500, len(centres)),
            rng.uniform(0, 6, len(centres)),
            strict=True,
        )
        return (
            ", ".join(
                f"{float(c)!r} + {reach}*sin({float(a)!r}*time + {float(b)!r})" for c, a, b in waves
            )
            or "0.0"
        )

    calls = [
        (f.name, [(f"{f.name}_{r.name}", r.shape) for r in f.results]) for f in m.public_functions
    ]
    lines = ["model M", *(line for f in m.functions for line in source._function(f))]
    if m.has_projection:
        calls.append(("project", [("project_y", (len(m.states),))]))
        lines += source._project()
    p = ", ".join(repr(float(one.p[v.name])) for v in m.parameters) or "0.0"
    lines += [
        "  Real clock(start = 0, fixed = true);",
        f"  Real x_[{len(m.states)}];",
        f"  Real w_[{max(1, len(m.inputs))}];",
    ]
    lines += [f"  parameter Real p_[{max(1, len(m.parameters))}] = {{{p}}};"]
    lines += [
        f"  Real {name}{list(shape) if shape else ''};"
        for _, results in calls
        for name, shape in results
    ]
    lines += [
        "equation",
        "  der(clock) = 1;",
        f"  x_ = {{{path(centre, reach)}}};",
        f"  w_ = {{{path(np.zeros(len(m.inputs)), 1.0)}}};",
    ]
    lines += [
        f"  ({', '.join(name for name, _ in results)}) = {function}(time, x_, w_, p_);"
        for function, results in calls
    ]
    model = rumoca.Session().loads("\n".join([*lines, "end M;", ""]), model="M")
    run = model.simulate(t=(0.0, 1.0), dt=1 / (COUNT - 1)).to_dataframe()
    t, x, w = (
        np.array(run.index),
        entries(run, "x_", (len(m.states),)),
        entries(run, "w_", (max(1, len(m.inputs)),)),
    )
    assert len(t) == COUNT
    found = {
        function: np.hstack([entries(run, name, shape) for name, shape in results])
        for function, results in calls
    }
    return dataclasses.replace(one, t=t, x=x, w=w[:, : len(m.inputs)], found={}), found


def entries(run, name, shape):
    """An array of the run, one row for each moment."""
    names = (
        [f"{name}[{','.join(str(k + 1) for k in place)}]" for place in np.ndindex(*shape)]
        if shape
        else [name]
    )
    return np.array([run[column] for column in names], dtype=float).T


@pytest.mark.parametrize(
    "name",
    [
        "double-pendulum",
        *(pytest.param(n, marks=pytest.mark.slow) for n in SYSTEMS if n != "double-pendulum"),
    ],
)
def test_every_function_gives_our_numbers(name):
    one = case(name)
    there, found = sampled(one, [v.value or 0.0 for v in one.model.states], 0.2)
    for f in one.model.public_functions:
        assert off(found[f.name], there.expected(f.name)) < CLOSE, f.name
    if one.model.has_projection:
        there, found = sampled(one, one.projected(one.x)[0], 1e-3)
        assert off(found["project"], there.projected(there.x)) < CLOSE


def test_a_run_holds_its_rows():
    """A closed loop as in our run, its rows held by the model itself."""
    s, start = gallery.build("slider-crank"), gallery.entry("slider-crank").start
    text = da.export(s, "modelica", start=start, name="crank").files["Crank.mo"]
    assert rumoca.validate_source(text) == []
    model = rumoca.Session().loads(text, model="Crank")
    run = model.simulate(
        t=(0.0, 5.0), dt=0.01, config=rumoca.SimConfig(rtol=1e-9, atol=1e-9)
    ).to_dataframe()
    ours = da.simulate(
        s, 5.0, start=start, inputs={"M": 0}, rtol=1e-11, atol=1e-11, progress=False
    ).at(np.array(run.index))
    assert run["drift"].max() < 1e-8
    for x in s.q:
        assert np.abs(run[x.name].to_numpy() - ours[x.name]).max() < 1e-5
