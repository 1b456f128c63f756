"""A four-bar linkage whose second pivot on the ground moves as prescribed.

The result is our own, by Maggi's equation as in Bar00 (43): the equations along the three angles
with the pin open, contracted with the ratios of angular velocities that the closed loop allows. The
closure gives, along each of two bars, one relation of the rates.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    l_1: float | None = 0.2,
    l_2: float | None = 0.6,
    l_3: float | None = 0.5,
    d: float | None = 0.6,
    rho: float | None = 2.0,
    g: float | None = 9.81,
    w: str | None = "sin(3*t)/25",
) -> da.System:
    """l₁ e(θ₁) + l₂ e(θ₂) = (d + w) i + l₃ e(θ₃): crank and coupler meet the rocker, whose pivot
    moves by w(t).

    All angles are measured from the ground i; the bars are uniform with mass ρ per length. The
    speed is that of the crank.
    """
    s = da.System("Four-bar linkage with a moving pivot", source="our own")
    angles = s.coordinates("theta_1 theta_2 theta_3")
    *l, d_, rho_, g_ = s.constants(l_1=l_1, l_2=l_2, l_3=l_3, d=d, rho=rho, g=g)
    w_ = s.specified("w", None if w is None else s.expression(w))
    N = s.N
    D = s.O.offset((d_ + w_) * N.x, "pivot", N)
    pin = _add_bar(s, "crank", s.O, angles[0], l[0], rho_)
    gap = _add_bar(s, "coupler", pin, angles[1], l[1], rho_) - _add_bar(
        s, "rocker", D, angles[2], l[2], rho_
    )
    s.constrain(gap @ N.x, "closure along x")
    s.constrain(gap @ N.y, "closure along y")
    s.gravity(-g_ * N.y)
    s.speeds(omega=angles[0].dot)
    return s


def _add_bar(
    s: da.System, name: str, start: da.Point, theta: da.Scalar, l: da.Scalar, rho: da.Scalar
) -> da.Point:
    """A uniform bar from a point on; its far end."""
    B = s.N.rotated(theta, s.N.z, name)
    s.body(
        name,
        rho * l,
        start.offset(l / 2 * B.x, f"middle of {name}", B),
        B,
        da.rod_inertia(B.x, rho * l, l),
    )
    return start.offset(l * B.x, f"end of {name}", B)


_OPEN_LOOP_1 = (
    "(rho*l_1**2*(l_1/3 + l_2)*theta_1'' + rho*l_1*l_2**2/2*(theta_2''*cos(theta_1 - theta_2) + "
    "theta_2'**2*sin(theta_1 - theta_2))"
    " + rho*g*l_1*(l_1/2 + l_2)*cos(theta_1))"
)
_OPEN_2 = (
    "(rho*l_2**3/3*theta_2'' + rho*l_1*l_2**2/2*(theta_1''*cos(theta_1 - theta_2) - "
    "theta_1'**2*sin(theta_1 - theta_2))"
    " + rho*g*l_2**2/2*cos(theta_2))"
)
_OPEN_3 = "(rho*l_3**3/3*theta_3'' - rho*l_3**2/2*w''*sin(theta_3) + rho*g*l_3**2/2*cos(theta_3))"

ENTRY = Entry(
    name="four-bar",
    title="Four-bar linkage with a moving pivot",
    source="our own",
    description="Crank, coupler and rocker swing in a vertical plane; the pivot of the rocker "
    "moves along the ground as prescribed.",
    build=build,
    printed=(
        DerivedByHand(
            "closure across the coupler",
            "l_1*theta_1'*sin(theta_1 - theta_2) - l_3*theta_3'*sin(theta_3 - theta_2) + "
            "w'*cos(theta_2)",
        ),
        DerivedByHand(
            "closure across the rocker",
            "l_1*theta_1'*sin(theta_1 - theta_3) + l_2*theta_2'*sin(theta_2 - theta_3) + "
            "w'*cos(theta_3)",
        ),
        DerivedByHand(
            "along the loop, by Maggi",
            f"l_2*l_3*sin(theta_2 - theta_3)*{_OPEN_LOOP_1} + l_1*l_3*sin(theta_3 - "
            f"theta_1)*{_OPEN_2}"
            f" + l_1*l_2*sin(theta_2 - theta_1)*{_OPEN_3}",
            ((1, "l_2*l_3*sin(theta_2 - theta_3)"),),
        ),
    ),
    start={
        "theta_1": 1.0,
        "theta_2": 0.5856417730643091,
        "theta_3": 1.5546456692877553,
        "omega": 12.0,
    },
    duration=3.0,
)
