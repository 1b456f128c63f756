"""Every system of the gallery: S against extrapolated differences of native runs, events
included.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import build, entry, names
from dalembert.runtime.ode.failures import BadStart, RunStopped

TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "audit": False, "progress": False}
OWN_ERROR = 1e-7
AGREED = 1e-6
FAST = ("bouncing-ball", "slider-crank", "appell-hamel")


class Varied:
    """A system as the gallery proposes it, with coordinates that a loop determines as guesses,
    and runs with one number moved.
    """

    def __init__(self, name: str) -> None:
        self.system, shown = build(name), entry(name)
        self.start, self.guess = dict(shown.start), {}
        self.times = np.linspace(0.0, min(shown.duration, 1.0), 9)
        self.fixed = {"inputs": shown.inputs, "events": shown.events, **TIGHT}
        constants = [n for n, x in self.system.symbols.items() if x.kind == "constant" and x.value]
        started = [n for n, x in self.start.items() if isinstance(x, float | int) and x]
        self.numbers = [*constants[:1], *constants[-1:], *started[:1]]

    def run(self, **more: Any) -> Any:
        return da.simulate(
            self.system,
            float(self.times[-1]),
            at=self.times,
            **{"start": self.start, "guess": self.guess, **self.fixed, **more},
        )

    def sensitivities(self) -> Any:
        """The run; coordinates that cannot follow are left to the constraints."""
        while True:
            try:
                return self.run(sensitivities=list(dict.fromkeys(self.numbers)))
            except BadStart as refused:
                if "cannot follow" not in str(refused):
                    raise
                # the last coordinate, or the last rate of those that contradict one another
                given = [k for k in self.start if k in {q.name for q in self.system.q}]
                given = given or [
                    k for k in self.start if f"{k.replace(chr(39), '.dot')} = " in str(refused)
                ]
                self.guess[given[-1]] = self.start.pop(given[-1])
                self.numbers = [n for n in self.numbers if n not in self.guess]
            except RunStopped:
                self.times = self.times / 2

    def moved(self, name: str, h: float) -> Any:
        if name in self.system.symbols and self.system.symbols[name].kind == "constant":
            return self.run(values={name: float(self.system.symbols[name].value) + h}).y
        return self.run(start={**self.start, name: self.start[name] + h}).y

    def differences(self, name: str) -> tuple[Any, Any]:
        """Of order eight by Richardson's extrapolation, and how far the last two columns of the
        table are apart.
        """
        symbol = self.system.symbols.get(name)
        value = float(
            self.start[name] if symbol is None or symbol.kind != "constant" else symbol.value
        )
        h = 4e-3 * abs(value)
        rows = [
            [(self.moved(name, h / 2**k) - self.moved(name, -h / 2**k)) / (2 * h / 2**k)]
            for k in range(4)
        ]
        for j in range(1, 4):
            for k in range(3, j - 1, -1):
                rows[k].append(rows[k][j - 1] + (rows[k][j - 1] - rows[k - 1][j - 1]) / (4**j - 1))
        return rows[3][3], np.abs(rows[3][3] - rows[3][2])


def check(name: str) -> None:
    varied = Varied(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = varied.sensitivities()
        for number in dict.fromkeys(varied.numbers):
            expected, own = varied.differences(number)
            found = run.sensitivities.columns(number)
            size = max(float(np.abs(expected).max()), float(np.abs(found).max()))
            # cut where the differences do not know themselves; what is zero is so within rounding
            # of the state over the step
            exact = np.maximum.accumulate(own.max(axis=1)) <= OWN_ERROR * size
            floor = (
                1e-9 * float(np.abs(run.y).max()) / abs(float(varied.start.get(number, 0.0)) or 1.0)
            )
            if size <= floor:
                continue
            last = len(exact) if exact.all() else int(np.argmin(exact))
            assert last >= 2, (name, number, own.max(axis=1) / size)
            assert np.abs(expected - found)[:last].max() <= AGREED * size, (name, number)


@pytest.mark.parametrize("name", FAST)
def test_three_systems_vary_as_differences_say(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in names() if n not in FAST])
def test_every_system_varies_as_differences_say(name: str) -> None:
    check(name)
