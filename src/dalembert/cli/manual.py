r"""What `--help` says. A line with \b alone keeps the lines below it as they are."""

from __future__ import annotations

from typing import Final

DALEMBERT: Final = """Equations of motion by every classical principle, and the proof that they agree.

\b
dalembert gallery                      solved systems to try
dalembert derive rolling-disk          its equations of motion
dalembert derive rolling-disk --steps teach   how they come about, and why
dalembert agree rolling-disk           every principle, compared exactly
dalembert compare rolling-disk         what each principle costs
dalembert report rolling-disk          one page that shows everything
dalembert view rolling-disk            the same, opened in the browser
dalembert constraints rolling-disk     what its constraints leave free
dalembert hybrid beam-on-ball-joint    equations of flexible members
dalembert member cantilever            modes, statics, buckling of one
dalembert simulate rolling-disk        its motion
dalembert export rolling-disk --to c -o disk   its equations for other tools
dalembert equilibrium bead-on-hoop     where it rests, and whether that is stable
dalembert modes whipple-bicycle        its eigenvalues near a steady motion
dalembert new pendulum > model.toml    a model file to begin with
dalembert check model.toml             whether it is one, with units and rows

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
or a description is refused, 3 if a question of proof stays undecided (the reason is printed).
"""

GALLERY: Final = """List the solved systems.

\b
dalembert gallery
dalembert gallery | grep pendulum
"""

DERIVE: Final = """Derive the equations of motion.

Without --steps the equations alone. --steps brief shows every quantity of the principle with the formula it comes from, full begins
with the description and the kinematics and says what was eliminated and how, teach says why each step is taken. -o writes a document
that stands by itself, in the format that its ending names.

\b
dalembert derive rolling-disk
dalembert derive rolling-disk --by maggi --steps teach
dalembert derive vehicle --by boltzmann-hamel --steps teach -o vehicle.html
dalembert derive rolling-disk --by all --format markdown > disk.md
dalembert derive file.py:pendulum --format latex
"""

AGREE: Final = """Compare the principles exactly.

Every principle that applies is derived and compared with the first; the kinematics they share is audited. The exit code
is 1 if anything disagrees, 3 if something could not be decided.

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

REPORT: Final = """Write one page that shows everything.

An HTML file that opens in any browser and needs no network: description, equations of motion by every principle with their
derivations, agreement and audit, the motion in three dimensions with plots, energy, equilibria and linear modes, and how to make
it again. Without --start and --for a system of the gallery runs as the gallery proposes, any other for 10 s from zero.
--text prints description, equations, proofs and motion instead; --format and the endings .tex and .md write the same as LaTeX or Markdown.
--meshes draws a robot by its meshes (STL, OBJ, MSH) instead of bars; only those inside --root are opened.

\b
dalembert report rolling-disk
dalembert report double-pendulum --for 20 --start alpha=pi/2 -o swing.html --gif swing.gif
dalembert report rolling-disk --text
dalembert report file.py:pendulum -o pendulum.tex
dalembert report panda/urdf/panda.urdf --meshes --root panda
dalembert report --all -o gallery
"""

VIEW: Final = """Open the page of a system in the browser.

The page of `dalembert report`, written to the cache folder: take hold of the system there ("Try it").

\b
dalembert view rolling-disk
dalembert view double-pendulum --for 20 --start alpha=pi/2
"""

CONSTRAINTS: Final = """Say what the constraint rows leave free.

Freedoms of configuration and of velocity; rows that repeat others, by name; rows on velocities that are positions in
disguise, alone or together. Rows that contradict each other are refused with the residual. Some rows repeat others only
where all of them hold: --start and --guess say at (or near) which position that is looked at, --set gives constants.

\b
dalembert constraints rolling-disk
dalembert constraints two-wheeled-robot
dalembert constraints four-bar --start theta_1=1 --guess theta_3=1.5
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
--guess says near which value a coordinate is solved for, and so which way a linkage is assembled. --reactions writes the
wrench in every joint, the force of every row and the load behind every specified motion. --stop-when ends the run where an
expression crosses zero. --sensitivity m carries the derivatives of the motion with respect to m along, prints their largest values
and writes them with the motion. The exit code is 1 if the run stops before its end; what there is of it is written all the same.

\b
dalembert simulate double-pendulum --for 10 --start alpha=pi/2 --plot swing.png
dalembert simulate rolling-disk --set m=2 --start theta=1.2 --start psi.dot=6 -o disk.csv
dalembert simulate cart-and-bar --input "F=2*sin(t)" --rtol 1e-12
dalembert simulate four-bar --start theta_1=1 --guess theta_3=1.5 --reactions forces.csv
dalembert simulate double-pendulum --stop-when "alpha + 1/2"
dalembert simulate double-pendulum --sensitivity l_1 --sensitivity alpha -o swing.csv
"""

STUDY: Final = """Run a system many times.

--over says what varies: constants, start values of coordinates and speeds, inputs; ranges and lists make a grid, distributions
(normal, uniform, lognormal, or any of scipy.stats) are drawn --n times at every point of it. --keep says what is kept of every
member: an expression (at the times --at, or at the end), its max, min or mean, or the first time at which it crosses zero.
-o keeps it in a file chunk by chunk; the same line goes on with a file that was begun. The exit code is 1 if no member came
to its end.

\b
dalembert study double-pendulum --over alpha=0:3:40 --over beta=0:3:40 --keep "time(beta - pi, up)" --for 10 -o flips.zarr
dalembert study cart-and-bar --over "theta~normal(0.5, 0.1)" --n 10000 --keep "max(x)" --workers 4 -o study.zarr
dalembert report study.zarr
"""

FIT: Final = """Find constants and start values from measured columns.

The file has a line of names, t and expressions of the system (theta, l*sin(theta)), and numbers below; an empty cell is a gap.
--unknown names what is to be found, with a first guess where there is a better one than the declared value. Values, standard
errors, and what cannot be told apart are printed. The exit code is 1 if the best values were not reached.

\b
dalembert fit simple-pendulum swing.csv --unknown l --unknown phi
dalembert fit cart-and-bar run.csv --unknown k=8,m --start theta=0.5 --input F=0 --plot residuals.png
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

HYBRID: Final = """Derive hybrid equations: rigid bodies with strings, bars, shafts and beams.

By Hamilton's extended principle: ordinary differential equations for the rigid variables with integrals over the members, partial ones
for the fields v(x, t), …, and every boundary condition, marked geometric (the support says so) or natural (the variation is free).
Where bending shortens a member, s is how far it is drawn in and N the axial force. --along coordinates writes the ordinary
equations in coordinates and their rates, --along speeds in the declared speeds. A system of the gallery is taken before its
members are expanded in functions.

\b
dalembert hybrid beam-on-ball-joint --steps
dalembert hybrid beam-with-tip-mass
dalembert hybrid file.py:build --along coordinates -o beam.tex
"""

MEMBER: Final = """Modes, static shape and buckling of a string, bar, shaft or beam.

Its frame is held where it is, or moves as specified. Uniform members: the characteristic equation as a book prints it, its roots
enclosed to all digits, none missed. Others: polynomials, whose degree grows until the digits stand. The error is printed
with every result. --set changes constants; --plot saves the shapes.

\b
dalembert member cantilever
dalembert member beam-with-tip-mass --modes 4 --set m=2
dalembert member pinned-beam --buckling 3 --plot buckled.png
dalembert member rotating-beam --set Omega=5
dalembert member file.py:build --static
"""

EXPORT: Final = """Write the equations for another tool.

The files compute rates, mass matrix and forcing, constraint rows and their projection, energies and outputs; constants stay
parameters. The order of the state stands at their head.

\b
dalembert export double-pendulum --to c -o pendulum
dalembert export rolling-disk --to numpy -o disk.py --linear
dalembert export cart-and-bar --to c -o cart --set M=3 --option real=float
"""

CHECK: Final = """Check a model file.

Keys and names (with the nearest one that is known), dimensions where units are given, symbols that are used nowhere, freedoms,
rows that repeat others, and the agreement of all principles. Every fault is told with file, line and column.

\b
dalembert check model.toml
dalembert check chain.toml --set n=20
"""

NEW: Final = """Print a model file to begin with, with comments.

\b
dalembert new pendulum > model.toml
dalembert new robot-arm > arm.toml
"""

CONVERT: Final = """Write a system as a model file, from wherever it comes.

\b
dalembert convert rolling-disk disk.toml
dalembert convert file.py:pendulum pendulum.json
dalembert convert model.toml json
"""

SCHEMA: Final = """Print the JSON Schema of model files, by which editors complete and check them.

\b
dalembert schema > dalembert.schema.json
"""
