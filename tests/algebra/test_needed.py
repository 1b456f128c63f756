"""What expressions are made of: from node to node, or by one sweep down the tape."""

import random

from dalembert.symbolic.algebra import expression_graph
from dalembert.symbolic.algebra.expression_graph import dependencies
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
