"""Symbols that are looked up by the content of a tape are those that a walk finds."""

import pytest

import dalembert as da
from dalembert.runtime.numerics import object_cache
from dalembert.runtime.numerics.forward_dynamics import NativeDynamics
from dalembert.symbolic.algebra.expression_graph import symbols_of


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache of its own, in which the symbols of short tapes are kept too."""
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(object_cache, "_LONG", 1)
    return tmp_path / "kept"


def pendulum(**constants):
    s = da.System("pendulum", gravity=9.81)
    m, l, k = s.constants(**(constants or {"m": 2, "l": 0.5, "k": 3}))
    arm = s.rod("arm", s.pin("theta", s.O), m, l)
    s.spring(k, arm.tip, s.O.offset(s.N.x))
    return da.forward_dynamics(s), s


def outs(equations):
    return (*equations.qdot, *equations.udot)


def test_a_second_tape_of_the_same_content_is_not_walked_through(place, monkeypatch):
    first, _ = pendulum()
    found = object_cache.cached_symbols(first.tape, outs(first))
    assert tuple(symbols_of(first.tape, outs(first))) == found
    monkeypatch.setattr(object_cache, "symbols_of", None)
    again, _ = pendulum()
    assert found == object_cache.cached_symbols(again.tape, outs(again))
    assert 1 == len(list(place.iterdir()))


def test_other_expressions_and_other_tapes_have_their_own(place):
    first, _ = pendulum()
    other, _ = pendulum(m=1, L=2, k=3)
    asked = [
        (first.tape, outs(first)),
        (first.tape, first.qdot),
        (other.tape, outs(other)),
        (other.tape, other.qdot),
    ]
    for _ in range(2):
        for tape, expressions in asked:
            assert tuple(symbols_of(tape, expressions)) == object_cache.cached_symbols(
                tape, expressions
            )
    assert len(asked) == len(list(place.iterdir()))


def test_a_damaged_file_is_found_anew(place):
    first, _ = pendulum()
    found = object_cache.cached_symbols(first.tape, outs(first))
    (file,) = place.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"0")
    assert found == object_cache.cached_symbols(first.tape, outs(first))


def test_native_dynamics_hash_no_block_of_their_tape_twice(place, monkeypatch):
    monkeypatch.setattr(object_cache, "_BLOCK", 16)
    equations, s = pendulum()
    NativeDynamics(s, equations)
    hashed, honest = [], object_cache._extend_digest
    monkeypatch.setattr(
        object_cache,
        "_extend_digest",
        lambda before, written: hashed.append(len(written) // 3) or honest(before, written),
    )
    equations, s = pendulum()
    native = NativeDynamics(s, equations)
    # whole blocks once, and the rest once for the symbols and once for the code
    assert hashed.count(16) <= len(equations.tape) // 16
    assert 2 >= len(hashed) - hashed.count(16)
    assert {"m", "l", "k"} == {*native.parameter_names}
