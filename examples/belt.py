# Stick and slip: a block on a belt, held by a spring; it sticks until the spring wins, slips back,
# and is caught again.
from math import atan, pi, sqrt

import dalembert as da

s = da.System("Block on a belt", gravity=9.81)
m, k, v, mu, mu_s, a = s.constants(m=2, k=50, v=0.3, mu=0.2, mu_s=0.5, a=0.1)
x, y = s.coordinates("x y")
block = s.box("block", s.O.offset(x * s.N.x + y * s.N.y, "G"), s.N, m, 2 * a, a, a)
foot = block.G.offset(-a / 2 * s.N.y, "foot")
s.spring(k, block.G, s.O.offset(-1 * s.N.x + a / 2 * s.N.y, "wall"), rest=1)
s.contact(foot, friction=mu, static=mu_s, speed=v, name="belt")

start = {"x.dot": 0.3, "y": 0.05}
run = da.simulate(s, 8, start=start)
run.plot("x", "T_belt", path="belt.png")
slips = [e.t for e in run.events if e.action.startswith("slips")]
w, D = sqrt(50 / 2), (0.5 - 0.2) * 2 * 9.81 / 50
print(
    f"period {slips[2] - slips[1]:.9f}; closed form "
    f"{2 * D / 0.3 + 2 / w * (pi - atan(w * D / 0.3)):.9f}"
)
da.write_report(s, "belt.html", duration=8, start=start)
