"""Files to begin with, each with comments; `dalembert new KIND` prints one."""

from __future__ import annotations

from typing import Final

TEMPLATES: Final[dict[str, str]] = {
    "pendulum": """\
# a rod that swings from a fixed hinge; check it with: dalembert check FILE
name = "Pendulum"
gravity = "g"                      # along -y; or a vector such as "-g*N.z"
constants = { m = "1 kg", l = "1 m", g = "9.81 m/s**2" }

pin.theta = "O"                    # a hinge at O; theta is its angle, frame and moving point
rod.bar = { at = "theta", mass = "m", length = "l" }

run = { duration = "10 s", start = { theta = "60 deg" } }
""",
    "cart": """\
# a cart on a spring carries a bar, a force pushes
name = "Cart and bar"
gravity = "g"
inputs = "F"                       # known only when it runs
constants = { M = "2 kg", m = "1 kg", l = "1 m", k = "10 N/m", g = "9.81 m/s**2" }

slide.x = "O"                      # along N.x
particle.cart = { mass = "M", at = "x" }
pin.theta = "x"
rod.bar = { at = "theta", mass = "m", length = "l" }
potential.spring = "k*x**2/2"
force.push = { F = "F*N.x", at = "x" }

[run]
duration = "10 s"
start = { theta = "30 deg" }
inputs = { F = "2*sin(t)" }
""",
    "rolling": """\
# a disk rolls on a plane: heading phi, lean theta, spin psi; (x, y) is the point of contact
name = "Rolling disk"
coordinates = "x y phi theta psi"
gravity = "-g*N.z"
constants = { m = "1 kg", r = "50 cm", g = "9.81 m/s**2" }

frame.D = { axes = "zxz", angles = ["phi", "theta", "psi"], through = "A B" }
point.C = "x*N.x + y*N.y"
point.G = { of = "C", offset = "r*B.y" }
disk.disk = { G = "G", frame = "D", mass = "m", radius = "r", axis = "B.z" }
roll.disk = "C"                    # its point at C is at rest

run = { duration = "10 s", start = { theta = 1.2, "psi'" = "6 rad/s" } }
""",
    "robot-arm": """\
# an arm of n links in a vertical plane; dalembert simulate FILE --set n=6
name = "Arm"
gravity = "g"
constants = { m = "1 kg", l = "40 cm", g = "9.81 m/s**2" }

pin.q_1 = "O"
rod.link_1 = { at = "q_1", mass = "m", length = "l" }

[[repeat]]                         # {i} counts from 2 to n
from = 2
n = 3
pin."q_{i}" = "link_{i-1}.tip"
rod."link_{i}" = { at = "q_{i}", mass = "m", length = "l" }

[run]
duration = "5 s"
start = { q_1 = "90 deg" }
""",
    "loop": """\
# a four-bar linkage: two bars in a chain, a third from another pivot, and a loop that closes
name = "Four-bar linkage"
gravity = "g"
constants = { m = "1 kg", a = "20 cm", b = "60 cm", c = "50 cm", d = "60 cm", g = "9.81 m/s**2" }

pin.crank = "O"
rod.first = { at = "crank", mass = "m", length = "a" }
pin.coupler = "first.tip"
rod.second = { at = "coupler", mass = "m", length = "b" }
point.ground = "d*N.x"
pin.rocker = "ground"
rod.third = { at = "rocker", mass = "m", length = "c" }
coincide.loop = { P = "second.tip", Q = "third.tip" }

[run]
duration = "5 s"
start = { crank = "60 deg" }
guess = { coupler = "60 deg", rocker = "30 deg" }
""",
    "beam": """\
# a cantilever that bends, in four functions
name = "Cantilever"
constants = { EI = "200 N*m**2", mu = "1.5 kg/m", L = "2 m" }

[beam.beam]
at = "O"
along = "N.x"
bending = "N.y"
length = "L"
stiffness = "EI"
density = "mu"

[discretise]
beam = 4

[run]
duration = "2 s"
start = { v_1 = "1 cm" }
""",
}
