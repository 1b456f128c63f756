"""Fields by name: v_xx for v″, v_tt for v̈, v_xx_L for v″(L), and integrals as they are printed."""

from dalembert.symbolic.algebra.exact.zero_test import provably_zero
from dalembert.symbolic.algebra.parser import parse
from dalembert.symbolic.algebra.scalar import Scalar


def names(h, integrals=None):
    """The symbols of hybrid equations by names that can be typed; `integrals` maps names to
    integrals as printed.
    """
    tape = h.tape
    found = {name: Scalar(tape, i) for name, i in tape.names.items() if name.isidentifier()}
    for mark, rate in (("_t", "'"), ("_tt", "''")):
        found |= {
            n + mark: Scalar(tape, tape.names[n + rate])
            for n in list(tape.names)
            if n.isidentifier() and n + rate in tape.names
        }
    for c in h.continua.values():
        found["x"] = Scalar(tape, c.fields.x)
        for field in c.fields.names:
            for i in range(5):
                for j in range(3):
                    mark = field + ("_" + "x" * i + "t" * j if i + j else "")
                    for place, label in zip(("", "_0", "_L"), c.stations, strict=True):
                        found[mark + place] = Scalar(
                            tape, c.fields.symbol(field, i, j, label.label)
                        )
    for name, text in (integrals or {}).items():
        found[name] = Scalar(tape, h.integrals[text].symbol)
    return found


def says(h, residual, text, integrals=None):
    """Whether a residual is exactly the expression in the text, term by term or not."""
    expected = parse(text, names(h, integrals), h.tape)
    return provably_zero(h.tape, [h.tape.sub(residual, expected.i)])[0]


def conditions(h, member=None):
    """{(end, field, order): (kind, residual)}"""
    return {
        (b.end, b.field, b.order): (b.kind, b.residual)
        for b in h.boundary
        if member in (None, b.member)
    }
