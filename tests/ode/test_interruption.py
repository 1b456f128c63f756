"""Ctrl-C is noted, acted upon or raised, but never lost."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

from callback import RightHandSide, integrate_function
from dalembert.runtime.ode.initial_value_problem import InitialValueProblem
from dalembert.runtime.ode.integration import Integrator, integrate
from dalembert.runtime.ode.keyboard_interrupt import defer_keyboard_interrupt


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def test_what_is_acted_upon_is_not_raised() -> None:
    with defer_keyboard_interrupt() as interruption:
        press()
        assert interruption.should_stop()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_nobody_acts_upon_is_raised_at_the_end() -> None:
    reached: list[int] = []

    def run() -> None:
        with defer_keyboard_interrupt():
            press()
            reached.append(1)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert reached
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_pressed_twice_means_at_once() -> None:
    def run() -> None:
        with defer_keyboard_interrupt():
            press()
            press()
            pytest.fail("the second one must be raised")

    with pytest.raises(KeyboardInterrupt):
        run()


def test_an_inner_run_shares_the_note_of_the_outer() -> None:
    with defer_keyboard_interrupt() as outer:
        with defer_keyboard_interrupt() as inner:
            press()
        assert inner is outer
        assert outer.should_stop()


def test_elsewhere_nothing_is_changed() -> None:
    seen: list[object] = []

    def other_thread() -> None:
        with defer_keyboard_interrupt() as interruption:
            seen.extend((interruption.should_stop(), signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert seen == [False, signal.default_int_handler]


def test_pressed_inside_a_python_right_hand_side() -> None:
    """Whatever the moment, the points so far are kept."""
    moments = iter(range(10**6))

    def rates(_t: float, y: np.ndarray) -> list[float]:
        if next(moments) == 500:
            press()
        return [y[1], -y[0]]

    solution = integrate_function(rates, [1.0, 0.0], 0.0, 1e6)
    assert solution.is_interrupted
    assert 10 < solution.steps < 50
    assert np.cos(solution.t) == pytest.approx(solution.y[:, 0], abs=1e-7)


def test_pressed_inside_the_progress_report() -> None:
    solution = integrate_function(
        lambda _t, y: [y[1], -y[0]], [1.0, 0.0], 0.0, 1e6, on_progress=lambda _t, _steps: press()
    )
    assert solution.is_interrupted
    assert solution.message.startswith("interrupted at t = ")


@pytest.mark.parametrize(("attempts", "finished"), [(1000, True), (3, False)])
def test_in_the_first_slice_it_ends_the_run_or_is_raised(monkeypatch, attempts, finished) -> None:
    """A short run that is done cannot be ended any more: whoever made it hears of the key."""
    advance = Integrator.advance

    def pressed(self, _attempts=None):
        advance(self, attempts)
        press()
        return self.finished

    monkeypatch.setattr(Integrator, "advance", pressed)
    rhs = RightHandSide(lambda t, y: -y, 1)
    problem = InitialValueProblem(rhs=rhs.address, y0=[1.0], t0=0.0, t1=5.0)
    if finished:
        with pytest.raises(KeyboardInterrupt):
            integrate(problem)
        return
    solution = integrate(problem)
    assert solution.is_interrupted
    assert 0.0 < solution.t[-1] < 5.0
