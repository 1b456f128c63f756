"""A ball bounces on a table that is shaken up and down; between impacts it flies freely.

Source: Hol82 §2; printed result: free flight under gravity between impacts, at which the velocity
relative to the table is reversed and multiplied by α, V − Ẇ = −α (U − Ẇ). In the height h above the
table the flight is ḧ = −g − Ÿ and the impact is ḣ⁺ = −α ḣ⁻ at h = 0.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import DerivedByHand, Entry


def build(
    *, m: float | None = 1.0, g: float | None = 9.81, Y: str | None = "sin(20*t)/20"
) -> da.System:
    """r = (Y(t) + h) k: h is the height of the ball above the table, which is at Y."""
    s = da.System("Ball on a moving table", source="Hol82 §2")
    h = s.coordinate("h")
    m_, g_ = s.constants(m=m, g=g)
    Y_ = s.specified("Y", None if Y is None else s.expression(Y))
    s.particle("ball", m_, s.O.offset((Y_ + h) * s.N.z, "P"))
    s.gravity(-g_ * s.N.z)
    return s


ENTRY = Entry(
    name="bouncing-ball",
    title="Ball on a moving table",
    source="Hol82 §2",
    description="A ball bounces on a table that is shaken up and down; between impacts it flies "
    "freely.",
    build=build,
    printed=(DerivedByHand("flight", "h'' + Y'' + g", ((1, "1/m"),)),),
    start={"h": 0.3},
    events=(da.impact("h", 0.8, name="table"),),
)
