"""Contacts, friction, branches and events in C and in FMUs, against our own runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from exports.switched_cases import CASES, bouncing_ball

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
MAIN = Path(__file__).with_name("switched_main.c")
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")
# fourth-order steps of 0.5 ms: (ω h)⁴/120 ω t = 3e-10 in the piecewise spring, ω = 11 rad/s
CLOSE = 1e-9


@cache
def motion(case):
    """(system, initial state, events, run) of a case."""
    build, duration = CASES[case]
    s, start, *events = build()
    given = events[0] if events else []
    run = da.simulate(
        s, duration, start=start, events=given, rtol=1e-12, atol=1e-12, progress=False
    )
    return s, start, given, run


def times_of(run, apart):
    """When modes and events of a run change, without bounces that follow one another sooner."""
    times = [e.t for e in run.events]
    return [t for k, t in enumerate(times) if k == 0 or t - times[k - 1] > apart]


def compiled(folder, source=None, **given):
    """The example loop of the header as a program."""
    given.setdefault("name", "m")
    s = given.pop("system")
    for name, text in da.export(s, "c", **given).files.items():
        (folder / name).write_text(text if source is None or name != "m.c" else source(text))
    command = ["cc", *STRICT, "-I.", "-o", "moves", str(MAIN), "m.c", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "moves"


def moved(program, run, duration):
    """Event times and codes, the last time and state."""
    first = [repr(float(run[name][0])) for name in run.names]
    done = subprocess.run(
        [str(program), repr(duration), *first], capture_output=True, text=True, check=False
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    events = [(float(line[1]), int(line[2])) for line in lines if line[0] == "E"]
    last = [list(map(float, line[1:])) for line in lines if line[0] == "X"]
    return events, last[-1] if last else None


def difference(program, case):
    """By how much the program and the run differ in the last state; infinite where it stops."""
    run = motion(case)[-1]
    _, last = moved(program, run, CASES[case][1])
    if last is None:
        return np.inf
    t, *x = last
    assert t == pytest.approx(run.t[-1], abs=1e-9)
    return max(abs(a - run[name][-1]) for a, name in zip(x, run.names, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_c_changes_modes_as_a_run_does(case, tmp_path):
    s, start, given, run = motion(case)
    program = compiled(tmp_path, system=s, start=start, events=given)
    assert difference(program, case) < CLOSE
    expected, found = times_of(run, 1e-5), [t for t, _ in moved(program, run, CASES[case][1])[0]]
    for t in expected:
        assert min(abs(t - other) for other in found) < CLOSE


def test_the_comparison_sees_a_guard_with_a_wrong_sign(tmp_path):
    s, start, _, _ = motion("block on a belt")

    def planted(text):
        head, body = text.split("void m_guards", 1)
        wrong, count = re.subn(r"z\[1\] = (\w+);", r"z[1] = 2 - \1;", body, count=1)
        assert count == 1
        return f"{head}void m_guards{wrong}"

    program = compiled(tmp_path, planted, system=s, start=start)
    assert difference(program, "block on a belt") > 1e-3


def test_a_bounce_below_the_least_height_ends(tmp_path):
    s, start = bouncing_ball()
    run = da.simulate(s, 5.0, start=start, progress=False)
    events, (_, y, v) = moved(compiled(tmp_path, system=s, start=start), run, 5.0)
    assert (y, v) == (0.0, 0.0)
    # t₁ (1 + e)/(1 − e), t₁ = √(2 h/g)
    assert events[-1][0] == pytest.approx((2 / 9.81) ** 0.5 * 9, abs=1e-5)


def test_a_contact_that_begins_inside_the_ground_is_named(tmp_path):
    s, start = bouncing_ball()
    program = compiled(tmp_path, system=s, start=start)
    done = subprocess.run([str(program), "1.0", "-0.1", "0.0"], capture_output=True, check=False)
    assert done.stdout.split() == [b"begin", b"-2"]


# ---- FMU ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")

    @cache
    def written(case, version):
        s, start, given, _ = motion(case)
        file = folder / f"{case.replace(' ', '_')}_{version}.fmu"
        da.export(s, "fmu", file, start=start, events=given, version=version, name="m")
        return str(file)

    return written


# CVode's BDF at 1e-10 keeps about 1e-7 in a run of this length; its steps are restarted at each of
# up to 20 impacts. Co-simulation has steps of order 5 with a tolerance of 1e-10
LIMITS = {"ModelExchange": 2e-6, "CoSimulation": 1e-8}


@pytest.mark.each_time(2)
@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("case", CASES)
def test_an_fmu_changes_modes_as_a_run_does(fmus, case, version, kind):
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed (extra: test)")
    run, duration = motion(case)[-1], CASES[case][1]
    found = fmpy.simulate_fmu(
        fmus(case, version),
        fmi_type=kind,
        stop_time=duration,
        output_interval=duration / 100,
        solver="CVode",
        relative_tolerance=1e-10,
        output=list(run.names),
        record_events=True,
    )
    t = found["time"]
    if kind == "ModelExchange":
        # recorded before and after each event, and where the motion ends
        changed = t[np.append(np.diff(t) == 0.0, True)]
        happened = [np.abs(changed - x).min() for x in times_of(run, 1e-3)]
        assert max(happened, default=0.0) < LIMITS[kind]
    # beside an event the two may be on different sides of it
    apart = [min((abs(x - e.t) for e in run.events), default=1.0) > 1e-4 for x in t]
    kept = np.array(apart) & (t <= run.t[-1])
    ours = run.at(t[kept])
    for name in run.names:
        assert np.abs(found[name][kept] - ours[name]).max() < LIMITS[kind]
    assert t[-1] == pytest.approx(run.t[-1], abs=duration / 100)


def test_an_fmu_lists_its_indicators_and_modes(tmp_path, fmus):
    fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed (extra: test)")
    for version in ("2.0", "3.0"):
        described = fmpy.read_model_description(fmus("block on a belt", version))
        names = [v.name for v in described.modelVariables]
        assert "mode(belt)" in names
        assert names[-3:] == ["slip of belt", "cone of belt 1", "cone of belt 2"]
        count = (
            described.numberOfEventIndicators
            if version == "2.0"
            else len(described.eventIndicators)
        )
        assert count == 3


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "language", ["matlab", "modelica", "numpy", "javascript", "object", "wasm"]
)
def test_other_formats_name_what_to_use(language):
    s, start = bouncing_ball()
    with pytest.raises(da.NotExportable, match=r"contact 'floor' has modes.*choose 'c' or 'fmu'"):
        da.export(s, language, start=start)


def test_single_precision_is_refused():
    s, start = bouncing_ball()
    with pytest.raises(da.NotExportable, match="'c' in single precision cannot change"):
        da.export(s, "c", start=start, real="float")


def plane():
    s = da.System("puck", gravity=9.81, up="z")
    x, y, z = s.coordinates("x y z")
    P = s.O.offset(x * s.N.x + y * s.N.y + z * s.N.z)
    s.particle("puck", 1, P)
    s.contact(P, s.N.z, friction=0.3, name="ice")
    return s


def guide():
    s = da.System("slider", gravity=9.81)
    x, y = s.coordinates("x y")
    P = s.O.offset(x * s.N.x + y * s.N.y)
    s.particle("slider", 1, P)
    s.contact(P, two_sided=True, friction=0.3, name="ice")
    return s


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (plane, r"friction in a plane \(ice\)"),
        (guide, r"a guide with two sides \(ice\)"),
    ],
)
@pytest.mark.parametrize("language", ["c", "fmu"])
def test_what_only_a_run_decides_is_refused(build, named, language):
    with pytest.raises(da.NotApplicable, match=named):
        da.export(build(), language)


def test_an_impact_event_is_refused():
    s = da.System("ball", gravity=9.81)
    y = s.coordinate("y")
    s.particle("ball", 1, s.O.offset(y * s.N.y))
    with pytest.raises(da.NotApplicable, match=r"event 'y' \(impact\) is not exported"):
        da.export(s, "fmu", start={"y": 1}, events=[da.impact("y", 0.5)])


def test_forces_given_as_inputs_need_no_modes():
    s, start = bouncing_ball()
    files = da.export(s, "c", start=start, inputs={"N_floor": "0"}).files
    assert "_transition" not in files["bouncing_ball.c"]
