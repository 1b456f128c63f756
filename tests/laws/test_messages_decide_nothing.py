"""Every message replaced by random letters: the same methods, retries, causes, study results and
exit codes follow.
"""

import random
import re
import string
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from cli.running import run as command
from dalembert import errors
from dalembert.runtime.ode import failure_diagnosis
from dalembert.runtime.ode.failures import BadStart, Cause, RunStopped, stop_message
from dalembert.runtime.ode.solution import Solution

LETTERS = random.Random(20)


def letters(*_):
    return "".join(LETTERS.choices(string.ascii_letters + " ", k=60))


def kinds(of):
    yield of
    for each in of.__subclasses__():
        yield from kinds(each)


def scramble(monkeypatch):
    """Texts of all errors, of warnings and of solutions, and the parts that errors keep of their
    texts.
    """
    for kind in {*kinds(errors.DalembertError), *kinds(errors.DalembertWarning)}:
        monkeypatch.setattr(kind, "__str__", letters)
    anything = property(letters, lambda *_: None)
    for kind, names in (
        (errors.BadExpression, ("sentence", "what", "remedy")),
        (errors.Unwritable, ("what",)),
        (Solution, ("message",)),
    ):
        for name in names:
            # a field without a default is no attribute of its class
            monkeypatch.setattr(kind, name, anything, raising=kind is not Solution)
    monkeypatch.setattr(BadStart, "sentence", anything, raising=False)


@pytest.fixture(autouse=True)
def _fewer_steps(monkeypatch):
    monkeypatch.setattr(failure_diagnosis, "STALL_STEPS", 10_000)
    monkeypatch.setattr(failure_diagnosis, "MIN_PROGRESS", 1e-4)


def mass(force):
    s = da.System("a mass")
    x = s.coordinate("x")
    P = s.O.offset(x * s.N.x, "P")
    s.particle("P", 1, P)
    s.force(force(x, s.t) * s.N.x, at=P)
    return s


def outcome(make):
    """What a caller can act on: the end of the motion, or the data of the failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = make()
        except RunStopped as failure:
            likely = None if failure.likely is None else failure.likely.cause
            return (
                type(failure),
                failure.cause,
                failure.component,
                failure.code,
                likely,
                failure.energy_limited,
            )
        except errors.DalembertError as problem:
            return (type(problem),)
    return run.solution.outcome, run.solution.ended_by, run.solution.steps, run.y[-1].tobytes()


def stiff_by_auto():
    # the rates settle 10⁹ times in a unit of time: only another method reaches the end
    s = mass(lambda x, t: -(10**9) * x.dot - 10**9 * (x - da.cos(t)))
    return da.simulate(
        s, 20, start={"x": 1.0}, integrator="auto", audit=False, rtol=1e-4, atol=1e-6
    )


def chattering():
    return da.simulate(mass(lambda x, _: -x - da.sign(x.dot) / 2), 20, start={"x": 2.0})


def chattering_by_auto():
    return da.simulate(
        mass(lambda x, _: -x - da.sign(x.dot) / 2),
        20,
        start={"x": 2.0},
        integrator="auto",
        audit=False,
    )


def blow_up():
    return da.simulate(mass(lambda x, _: x**2), 30, start={"x": 5.0})


def not_finite_at_start():
    return da.simulate(mass(lambda x, _: 1 / x), 3, start={"x": 0.0})


def accumulating_events():
    return da.simulate(mass(lambda _x, _t: -10), 20, start={"x": 1.0}, events=[da.impact("x", 0.5)])


def terminal_event():
    return da.simulate(
        mass(lambda x, _: -x), 20, start={"x": 1.0}, events=[da.event("x", stop=True)]
    )


def pendulum():
    s = da.System("pendulum in x and y", gravity=9.81)
    x, y = s.coordinates("x y")
    s.particle("P", 1, s.O.offset(x * s.N.x + y * s.N.y, "P", s.N))
    s.constrain(x**2 + y**2 - 1, name="rod")
    return s


def reset_off_the_constraint():
    return da.simulate(
        pendulum(), 5, start={"x": 1.0, "y": 0.0}, events=[da.event("x - 1/2", reset={"x": 2.0})]
    )


def contradicting_start():
    return da.simulate(pendulum(), 5, start={"x": 1.0, "y": 1.0})


RUNS = (
    (stiff_by_auto, None),
    (chattering, Cause.CHATTERING),
    (chattering_by_auto, Cause.CHATTERING),
    (blow_up, Cause.BLOW_UP),
    (not_finite_at_start, Cause.NOT_FINITE_AT_START),
    (accumulating_events, Cause.ACCUMULATING_EVENTS),
    (terminal_event, None),
    (reset_off_the_constraint, None),
    (contradicting_start, None),
)


@pytest.mark.parametrize(("make", "cause"), RUNS, ids=[make.__name__ for make, _ in RUNS])
def test_runs(make, cause, monkeypatch):
    plain = outcome(make)
    if cause is not None:
        assert cause is plain[1]
    scramble(monkeypatch)
    assert plain == outcome(make)


def test_a_stiff_run_is_repeated_by_the_stiff_method(monkeypatch):
    scramble(monkeypatch)
    with pytest.warns(da.DalembertWarning):
        run = stiff_by_auto()
    assert 20 == run.t[-1]
    assert run.solution.steps < 10_000


def test_study_results(monkeypatch):
    s = da.System("pole")
    x, k = s.coordinate("x"), s.constant("k", 1)
    s.particle("P", 1, s.O.offset(x * s.N.x, "P", s.N))
    s.force((x**2 + k / x) * s.N.x, s.bodies[0].G)
    asked = {"over": {"x": [1.0, 0.0, 5.0, 0.5], "k": [0.0, 1.0]}, "audit": False}

    def results():
        study = da.ensemble(s, 3, **asked)
        counts = [
            line.partition(": ")[0]
            for line in str(study).splitlines()
            if " × " in line and "over" not in line
        ]
        return study.outcomes, study["cause"].values.tolist(), counts

    plain = results()
    assert {Cause.NONE, Cause.BLOW_UP, Cause.NOT_FINITE_AT_START} == set(np.ravel(plain[1]))
    assert any(line.endswith("blow up") for line in plain[2])
    scramble(monkeypatch)
    assert plain == results()


def test_exit_codes(monkeypatch, tmp_path):
    commands = (
        (1, ("simulate", "bouncing-ball", "--input", "Y=0*t", "--for", "20")),
        (
            0,
            (
                "simulate",
                "double-pendulum",
                "--for",
                "1",
                "--stop-when",
                "alpha - 3/2",
                "--start",
                "alpha=2",
            ),
        ),
        (2, ("simulate", "double-pendulum", "--for", "1", "--start", "thta=2")),
        (
            1,
            (
                "simulate",
                "double-pendulum",
                "--for",
                "1",
                "-o",
                str(tmp_path / "nowhere" / "out.csv"),
            ),
        ),
    )
    assert [code for code, _ in commands] == [command(*words).exit_code for _, words in commands]
    scramble(monkeypatch)
    assert [code for code, _ in commands] == [command(*words).exit_code for _, words in commands]


def test_the_letters_are_what_is_printed(monkeypatch):
    scramble(monkeypatch)
    with pytest.raises(RunStopped) as stopped:
        blow_up()
    assert "stopped" not in str(stopped.value)
    assert str(stopped.value) != str(stopped.value)
    # the one writer of messages has all it needs
    assert stop_message(stopped.value).startswith("stopped at t = ")


def test_no_source_reads_a_message_back():
    """Nothing takes apart the text of an error, of a reason or of a message."""
    texts = r"(?:reason|message|str\((?:problem|failure|error|reason)\))"
    parts = re.compile(
        texts
        + r"\.(?:partition|rpartition|removeprefix|removesuffix|startswith|endswith)\("
        + r"|re\.sub\([^\n]*reason\)|in self\.reason\b"
    )
    source = Path(da.__file__).parent
    assert [] == [
        str(path)
        for path in sorted(source.rglob("*.py"))
        if parts.search(path.read_text(encoding="utf-8"))
    ]
