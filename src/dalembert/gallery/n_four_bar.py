"""N windows of a parallelogram linkage in a vertical plane: when the bars lie in one line every
window may fold on its own.

Source: MBS A02, after Bayo and Avello (1994). The motion on the branch of parallelograms has a
closed form, which is compared in
tests/truth.
"""

from __future__ import annotations

import dalembert as da
from dalembert.gallery.entry import Entry


def build(
    *, windows: int = 2, m: float | None = 1.0, l: float | None = 1.0, g: float | None = 9.81
) -> da.System:
    """N + 1 posts stand on the ground a length l apart; N bars join their tops, closed window by
    window.

    φ is the angle of a post from upright, clockwise; ψ that of a bar from the horizontal. All rods
    are uniform.
    """
    s = da.System(f"{windows} four-bar windows", source="MBS A02")
    m_, l_, g_ = s.constants(m=m, l=l, g=g)
    N = s.N
    tops = []
    for k in range(windows + 1):
        post = N.rotated(-s.coordinate(f"phi_{k}"), N.z, f"post {k}")
        foot = s.O.offset(k * l_ * N.x, f"foot {k}", N)
        s.body(
            post.name,
            m_,
            foot.offset(l_ / 2 * post.y, frame=post),
            post,
            da.rod_inertia(post.y, m_, l_),
        )
        tops.append(foot.offset(l_ * post.y, f"top {k}", post))
    for k in range(1, windows + 1):
        bar = N.rotated(s.coordinate(f"psi_{k}"), N.z, f"bar {k}")
        s.body(
            bar.name,
            m_,
            tops[k - 1].offset(l_ / 2 * bar.x, frame=bar),
            bar,
            da.rod_inertia(bar.x, m_, l_),
        )
        s.coincide(tops[k - 1].offset(l_ * bar.x, f"end of bar {k}", bar), tops[k], f"window {k}")
    s.gravity(-g_ * N.y)
    return s


ENTRY = Entry(
    name="n-four-bar",
    title="N-four-bar mechanism",
    source="MBS A02",
    description="Windows of a parallelogram linkage fall from upright through positions where all "
    "bars lie in one line.",
    build=build,
    start={"phi_0": 0.0, "phi_1": 0.0, "phi_2": 0.0, "psi_1": 0.0, "psi_2": 0.0, "phi_0'": 1.0},
)
