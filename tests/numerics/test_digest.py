"""The hash of a tape, block by block."""

import pickle
from fractions import Fraction
from random import Random

from dalembert.runtime.numerics import object_cache
from dalembert.runtime.numerics.object_cache import tape_digest
from dalembert.symbolic.algebra.tape import Tape


def grown(seed: int, length: int) -> Tape:
    tape, draw = Tape(), Random(seed)
    x = [tape.symbol(name) for name in "abc"]
    while len(tape) < length:
        a, b = draw.choice(x), draw.choice(x)
        x.append(
            draw.choice((tape.mul, tape.add))(
                a, tape.add(b, tape.const(Fraction(draw.randrange(1, 99), 7)))
            )
        )
    return tape


def test_a_digest_depends_on_every_node_before_its_length_and_on_nothing_else(monkeypatch):
    monkeypatch.setattr(object_cache, "_BLOCK", 16)
    tape = grown(1, 200)
    at_once = {n: tape_digest(grown(1, 200), n).digest() for n in (0, 1, 15, 16, 17, 100, 160, 200)}
    assert len(at_once) == len({*at_once.values()})
    # in any order, and after the tape has grown
    for n in (200, 17, 0, 160, 16, 1, 100, 15):
        assert at_once[n] == tape_digest(tape, n).digest()
    for i in range(600):
        changed = grown(1, 200)
        changed.serialize()[i] = "other"
        assert at_once[200] != tape_digest(changed, 200).digest()


def test_what_is_hashed_are_the_nodes():
    tape = grown(3, 200)
    fractions = [n for n in tape.nodes if n[0] == "const" and isinstance(n[1], Fraction)]
    assert fractions
    expected = [
        x
        for op, a, b in tape.nodes
        for x in ((op, a.numerator, a.denominator) if (op, a, b) in fractions else (op, a, b))
    ]
    for other in (tape, tape.fork(), pickle.loads(pickle.dumps(tape))):
        assert expected == other.serialize()
    short = tape.fork(100)
    assert expected[:300] == short.serialize()
    a = short.mul(short.names["a"], short.const(Fraction(1, 1234567)))
    assert ["const", 1, 1234567, "mul", *short.nodes[a][1:]] == short.serialize()[300:]


def test_nothing_is_hashed_twice_on_a_tape_and_its_forks(monkeypatch):
    monkeypatch.setattr(object_cache, "_BLOCK", 16)
    hashed = []
    honest = object_cache._extend_digest
    monkeypatch.setattr(
        object_cache,
        "_extend_digest",
        lambda before, written: hashed.append(len(written) // 3) or honest(before, written),
    )
    tape = grown(2, 200)
    tape_digest(tape, 200)
    assert [16] * 12 + [200 % 16] == hashed
    hashed.clear()
    fork = tape.fork()
    tape_digest(fork, 200), tape_digest(tape, 100), tape_digest(tape, 200)
    assert all(n < 16 for n in hashed)
