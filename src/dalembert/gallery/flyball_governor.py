"""A flyball governor whose arms are held by stiff springs with dampers.

Source: MBS A05. The motion is compared in tests/truth.
"""

from __future__ import annotations

from collections.abc import Mapping

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *,
    rho: float | None = 3000.0,
    m: float | None = 5.0,
    w: float | None = 0.01,
    a: float | None = 0.1,
    l: float | None = 1.0,
    K: float | None = 8e5,
    C: float | None = 4e4,
    l_0: float | None = 0.5,
    g: float | None = 9.81,
) -> da.System:
    """A shaft turns by ψ; a slider (cube of side a) is at height s on it; two arms hang by α below
    the horizontal.

    Shaft and arms are rods l × w × w of density ρ; the arms are hinged at ±a/2 from the axis at
    height l and carry a ball m each. Spring and damper join the slider at ±a/2 with the middle of
    each arm.
    """
    s = da.System("Flyball governor", source="MBS A05")
    psi, height, alpha = s.coordinates("psi s alpha")
    constants = s.constants(rho=rho, m=m, w=w, a=a, l=l, K=K, C=C, l_0=l_0, g=g)
    p = dict(zip(["rho", "m", "w", "a", "l", "K", "C", "l_0", "g"], constants, strict=True))
    N = s.N
    A = N.rotated(psi, N.z, "A")
    m_r, thin, wide = _rod(p)
    m_s = p["rho"] * p["a"] ** 3
    s.body(
        "shaft",
        m_r,
        s.O.offset(p["l"] / 2 * N.z, "middle of the shaft", A),
        A,
        da.inertia(A, wide, wide, thin),
    )
    slider = s.O.offset(height * N.z, "middle of the slider", A)
    s.box("slider", slider, A, m_s, p["a"], p["a"], p["a"])
    for side, sign in (("right", 1), ("left", -1)):
        arm = A.rotated(sign * alpha, A.y, f"{side} arm")
        _add_arm(s, p, side, sign, (A, arm), slider)
    s.gravity(-p["g"] * N.z)
    return s


def _rod(p: Mapping[str, da.Scalar]) -> tuple[da.Scalar, da.Scalar, da.Scalar]:
    """The mass of a rod l × w × w, and its moments along and across."""
    m_r = p["rho"] * p["l"] * p["w"] ** 2
    return m_r, m_r * p["w"] ** 2 / 6, m_r * (p["l"] ** 2 + p["w"] ** 2) / 12


def _add_arm(
    s: da.System,
    p: Mapping[str, da.Scalar],
    side: str,
    sign: int,
    frames: tuple[da.Frame, da.Frame],
    slider: da.Point,
) -> None:
    """An arm with its ball, and the spring and damper from its middle to the slider."""
    (A, arm), (m_r, thin, wide) = frames, _rod(p)
    hinge = s.O.offset(sign * p["a"] / 2 * A.x + p["l"] * A.z, f"{side} hinge", A)
    middle = hinge.offset(sign * p["l"] / 2 * arm.x, f"middle of the {side} arm", arm)
    s.body(f"{side} arm", m_r, middle, arm, da.inertia(arm, thin, wide, wide))
    s.particle(f"{side} ball", p["m"], hinge.offset(sign * p["l"] * arm.x, f"{side} ball", arm))
    foot = slider.offset(sign * p["a"] / 2 * A.x, f"{side} foot", A)
    s.spring(p["K"], middle, foot, rest=p["l_0"], name=f"{side} spring")
    s.damper(p["C"], middle, foot, name=f"{side} damper")


_RODS = "rho*l*w**2"
_WIDE = f"({_RODS}*(l**2 + w**2)/12)"
_THIN = f"({_RODS}*w**2/6)"
_J = (
    f"({_THIN} + rho*a**5/6 + 2*({_RODS}*(a/2 + l/2*cos(alpha))**2 + m*(a/2 + l*cos(alpha))**2"
    f" + {_THIN}*sin(alpha)**2 + {_WIDE}*cos(alpha)**2))"
)
_HALF_DJ_DALPHA = (
    f"(-2*{_RODS}*(a/2 + l/2*cos(alpha))*l/2*sin(alpha) - 2*m*(a/2 + l*cos(alpha))*l*sin(alpha)"
    f" + 2*({_THIN} - {_WIDE})*sin(alpha)*cos(alpha))"
)

ENTRY = Entry(
    name="flyball-governor",
    title="Flyball governor",
    source="MBS A05",
    description="Two arms with balls swing out on a turning shaft and lift a slider through stiff "
    "springs with dampers.",
    build=build,
    printed=(
        DerivedByHand(
            "J ψ̇ is constant", f"{_J}*psi'' + 2*{_HALF_DJ_DALPHA}*alpha'*psi'", ((1, "1"),)
        ),
    ),
    start={"s": 0.5, "alpha": 0.5235987755982988, "psi'": 6.283185307179586},
    duration=1.0,
)
