r"""What `--help` says. A line with \b alone keeps the lines below it as they are."""

from __future__ import annotations

from typing import Final

DALEMBERT: Final = """Equations of motion by every classical principle, and the proof that they agree.

\b
dalembert gallery                      solved systems to try
dalembert derive rolling-disk          its equations of motion
dalembert derive rolling-disk --steps  how they come about, step by step
dalembert agree rolling-disk           every principle, compared exactly
dalembert compare rolling-disk         what each principle costs
dalembert report rolling-disk          description, equations, proofs
dalembert simulate rolling-disk        its motion
dalembert equilibrium bead-on-hoop     where it rests, and whether that is stable
dalembert modes whipple-bicycle        its eigenvalues near a steady motion

For a system of your own write a function that returns it, say in file.py:

\b
    import dalembert as da

\b
    def pendulum():
        s = da.System("Pendulum", gravity=9.81)
        s.rod("rod", s.pin("theta", s.O), mass=1, length=2)
        return s

and name both:

\b
dalembert derive file.py:pendulum

The exit code is 0 if all is well, 1 if principles disagree or your program fails, 2 if something asked for is not there
or a description is refused.
"""

GALLERY: Final = """List the solved systems.

\b
dalembert gallery
dalembert gallery | grep pendulum
"""

DERIVE: Final = """Derive the equations of motion.

Without --steps the equations alone; with it every quantity on the way, with the formula it comes from.

\b
dalembert derive rolling-disk
dalembert derive rolling-disk --by lagrange --steps
dalembert derive rolling-disk --by all --format markdown > disk.md
dalembert derive file.py:pendulum --format latex
"""

AGREE: Final = """Compare the principles exactly.

Every principle that applies is derived and compared with the first; the kinematics they share is audited. The exit code
is 1 if anything disagrees.

\b
dalembert agree rolling-disk
dalembert agree file.py:pendulum --times
dalembert agree --all
"""

COMPARE: Final = """Compare what the principles cost.

Vector and scalar approaches, generalized velocities and generalized speeds: the table of Baruh (2000), for this system,
with the operations of the equations as each principle gives them and the CPU time of their derivation.

\b
dalembert compare rolling-disk
dalembert compare file.py:pendulum
"""

REPORT: Final = """Print the whole report.

Symbols, bodies, loads, constraints and freedoms; the equations of motion; the agreement of the principles and the audit
of the kinematics; the results a source prints, and whether they follow; the motion from the gallery's start (or for 10 s
from zero), and how well it keeps energy and constraints.

\b
dalembert report rolling-disk
dalembert report file.py:pendulum --format latex > pendulum.tex
"""

INTEGRALS: Final = """Decide which energy integrals are constant.

The six integrals of Mitiguy's chapter 34 in the speeds of the system: each is proved constant on every motion or shown not to
be, with the coefficients that would have to vanish. Constants count as arbitrary unless --set makes them zero.

\b
dalembert integrals positioning-device
dalembert integrals positioning-device --set b=0 --input Omega=4 --plot energies.png
"""

SIMULATE: Final = """Set a system in motion.

What --start does not name is zero where the constraints allow it, otherwise solved for. Without --start and --for a
system of the gallery runs as the gallery proposes. The summary is printed; -o writes times, coordinates and speeds.
The exit code is 1 if the run stops before its end; what there is of it is written all the same.

\b
dalembert simulate double-pendulum --for 10 --start alpha=pi/2 --plot swing.png
dalembert simulate rolling-disk --set m=2 --start theta=1.2 --start psi.dot=6 -o disk.csv
dalembert simulate cart-and-bar --input "F=2*sin(t)" --rtol 1e-12
"""

EQUILIBRIUM: Final = """Find where a system rests, or a steady motion.

By virtual work, and by stationary potential where every load has one. --at fixes coordinates, rates or speeds; a rate
that --near names is solved for; a rate that is not named is zero. --box searches all over a box of coordinates.

\b
dalembert equilibrium mass-on-incline
dalembert equilibrium bead-on-hoop --box theta=-0.1:3.2
dalembert equilibrium rolling-disk --at theta=pi/3 --at phi.dot=1 --near psi.dot=-5
"""

MODES: Final = """Linearize about a point: eigenvalues, damping, mode shapes.

What --about does not name is zero where the constraints allow it. --sweep follows the eigenvalues over a range of one
coordinate, rate, speed or constant, and shows where stability changes; --plot saves the same as an image.

\b
dalembert modes double-pendulum
dalembert modes whipple-bicycle --about v=5
dalembert modes whipple-bicycle --sweep v=0:10 --plot bicycle.png
dalembert modes rolling-disk --about theta=pi/2 --sweep psi.dot=1:4:61
"""
