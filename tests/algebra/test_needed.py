"""What expressions are made of: from node to node, or by one sweep down the tape."""

import random

from dalembert.symbolic.algebra import expression_graph
from dalembert.symbolic.algebra.arithmetic import FloatArithmetic
from dalembert.symbolic.algebra.expression_graph import (
    dependencies,
    evaluate,
    evaluate_in_sections,
)
from dalembert.symbolic.algebra.tape import Tape


def test_the_sweep_finds_the_same_nodes(monkeypatch):
    rng, t = random.Random(4), Tape()
    nodes = [t.symbol(name) for name in "abcdefgh"] + [t.one, t.pi]
    for _ in range(400):
        a, b = rng.choice(nodes), rng.choice(nodes)
        nodes.append(
            rng.choice([t.add, t.mul, t.sub])(a, b)
            if rng.random() < 0.8
            else rng.choice([t.neg(a), t.call("sin", a)])
        )
    for count in (64, 65, 200):
        outs = rng.sample(nodes, count)
        swept = dependencies(t, outs)
        monkeypatch.setattr(expression_graph, "_MANY", 10**9)
        assert dependencies(t, outs) == swept
        monkeypatch.undo()
        assert set(outs) <= set(swept)


def test_values_in_sections_are_the_same_and_few_are_kept(monkeypatch):
    rng, t = random.Random(7), Tape()
    x = [t.symbol(name) for name in "abc"]
    nodes = list(x)
    for _ in range(3000):
        # mostly recent operands, as in a derivation
        a, b = rng.choice(nodes[-40:]), rng.choice(nodes if rng.random() < 0.05 else nodes[-40:])
        nodes.append(rng.choice([t.add, t.sub])(a, t.call("sin", b)))
    outs, numbers = (
        [nodes[-1], nodes[7], nodes[1500], x[0]],
        dict(zip(x, (0.3, -1.1, 2.7), strict=True)),
    )
    needed, most = len(dependencies(t, outs)), []

    def recorded(tape, wanted, symbol, arithmetic, given=None):
        most.append(len(wanted) + len(given))
        return evaluate(tape, wanted, symbol, arithmetic, given)

    expected = evaluate(t, outs, numbers.__getitem__, FloatArithmetic())
    monkeypatch.setattr(expression_graph, "_SECTION", 100)
    monkeypatch.setattr(expression_graph, "evaluate", recorded)
    assert expected == evaluate_in_sections(t, outs, numbers.__getitem__, FloatArithmetic())
    assert len(most) == -(-needed // 100)
    assert max(most) < needed / 4
