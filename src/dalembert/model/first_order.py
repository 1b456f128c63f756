"""ẋ = f(q, q̇, x, w, t): quantities with a rate of their own beside the motion, such as a motor's current or a controller's integral."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.algebra.scalar import Scalar, is_program
from dalembert.errors import BadDescription
from dalembert.model.elements import DeclaredSymbol
from dalembert.model.names import checked
from dalembert.model.registry import Registry, refuse_accelerations, scalar
from dalembert.model.symbols import named, number_of, shown_as


def state(s: Registry, name: str, rate: Any = None, *, value: Any = None, display: str | None = None) -> Scalar:
    """A state x with ẋ = rate: s.state("i", rate="(V - R*i - k*theta.dot)/L").

    The rate is a text, in which the state itself is known, or a function of the state, `rate=lambda i: (V - R*i)/L`, or is given
    afterwards by `s.rate(i, …)`. Loads may contain the state, as they may contain an input. `value` is where a run begins, zero
    unless told otherwise.
    """
    number = number_of(s, name, value)
    shown_as(s, checked(name, s.taken), display)
    tape = s.space.tape
    i = tape.symbol(named(s, name, "state"))
    # for positions, rows and potentials a state is like an input: what it does to them is not known from q and t
    tape.inputs.add(i)
    tape.states.add(i)
    x = Scalar(tape, i)
    s.symbols[name] = DeclaredSymbol(name, "state", x, number)
    if rate is not None:
        try:
            _give_rate(s, name, _of_state(name, rate, x) if is_program(rate) else rate)
        except BaseException:
            # refused whole: the name is free again
            del s.symbols[name], s.taken[name]
            tape.displays.pop(name, None)
            tape.inputs.discard(i)
            tape.states.discard(i)
            raise
    return x


def _of_state(name: str, rate: Callable[..., Any], x: Scalar) -> Any:
    """rate(x) of a function of the state itself."""
    if (code := getattr(rate, "__code__", None)) is not None and code.co_argcount != 1:
        msg = f"rate of {name}: its function takes {code.co_argcount or 'no'} arguments; it is called with the state, lambda {name}: …"
        raise BadDescription(msg)
    return rate(x)


def rate(s: Registry, x: Any, rate: Any) -> None:
    """ẋ = rate of a state that was declared without one: s.rate(i, (V - R*i)/L)."""
    name = str(x.name if isinstance(x, Scalar) else x)
    symbol = s.symbols.get(name)
    if symbol is None or symbol.kind != "state":
        what = "no symbol of this system" if symbol is None else f"a {symbol.kind}"
        msg = f"rate: {name} is {what}; only a state has a rate of its own, declared by s.state({name!r})"
        raise BadDescription(msg)
    if name in s.state_rates:
        msg = f"rate: {name} has a rate already, {s.state_rates[name]}"
        raise BadDescription(msg)
    _give_rate(s, name, rate)


def _give_rate(s: Registry, name: str, rate: Any) -> None:
    e = _read(s, rate) if isinstance(rate, str) else scalar(s, rate)
    refuse_accelerations(s, f"rate of {name}", (e.i,))
    s.state_rates[name] = e


def _read(s: Registry, text: str) -> Scalar:
    from dalembert.algebra.parser import parse

    return parse(text, {n: x.scalar for n, x in s.symbols.items()} | {"t": s.t}, s.space.tape)
