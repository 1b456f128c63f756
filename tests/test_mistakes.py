"""What a newcomer types: each line works, or is answered in one sentence. No bare error of Python,
NumPy or SymPy.

`works`: it does. `warns: …`: it does, with a word. Anything else: a part of the sentence that
refuses it.
"""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pytest
import sympy as sp

import dalembert as da

DESCRIBE = """
s = da.System("cart and rod", gravity=9.81)
theta, x = s.coordinates("theta x")
m, l, k = s.constants(m=1, l=2, k=3)
F = s.input("F")
B = s.N.rotated(theta, s.N.z, "B")
P = s.O.offset(x * s.N.x, "P")
G = P.offset(-l / 2 * B.y, "G", B)
rod = s.body("rod", m, G, B, da.rod_inertia(B.y, m, l))
s.particle("cart", 2, P)
s.force(F * s.N.x, at=P)
s.spring(k, P, s.O.offset(s.N.x), rest=1)
"""

SYSTEMS = {
    "da.System(3)": "a system needs a name",
    'da.System("a", gravity="g")': "'g' is no number with a unit",
    'da.System("a", gravity="9.81 m/s**2")': "works",
    'da.System("a", gravity="9.81 kg")': "is no acceleration",
    'da.System("a", '
    "gravity=-9.81)": "warns: gravity pulls along +N.y, which points up in most drawings",
    'da.System("a", gravity=(0, -9.81, 0))': "expected a number or an expression",
    'da.System("a", gravity=9.81, up="Y")': "give 'x', 'y' or 'z'",
    "s.gravity(9.81)": "downward gravity is -9.81*s.N.y, or da.System(…, gravity=9.81)",
    "s.gravity(9.81 * s.N.y)": "a system has one gravity field",
    "s.theta": "no attribute 'theta'; the symbol is s['theta']",
    's["nothing"]': "unknown name 'nothing'",
    's.coordinat("y")': "did you mean 'coordinate'?",
    "da.lagrang(s)": "did you mean 'lagrange'?",
    "da.Heaviside(s.t)": "write da.step(x)",
    "s.force((l,) * s.N.x, at=P)": "a tuple of one: unpack it, as in m, = s.constants(m=1)",
}
SYMBOLS = {
    's.coordinate("theta 1")': "use letters, digits and _",
    's.coordinate("1theta")': "use letters, digits and _",
    's.coordinate("θ")': "write 'theta', which prints as θ",
    "s.coordinate(3)": "a name is missing: got 3",
    's.coordinate("theta")': "'theta' is declared already, as a coordinate",
    's.coordinate("lambda")': "'lambda' is reserved",
    's.coordinates("a", "b")': "too many positional arguments; it is called coordinates(names)",
    's.coordinates(["a", "b"])': "works",
    's.coordinates("a, b")': "works",
    's.constants("m1=2")': "'m1=2' cannot be a name",
    's.constant("c", [1, 2])': "expected a number or an expression, got [1, 2]",
    's.constant("c", np.array([1.0, 2.0]))': "expected a number or an expression",
    's.constant("c", np.array(2.0))': "works",
    's.constant("c", np.float64(2))': "works",
    's.constant("c", sp.Rational(1, 3))': "works",
    's.constant("c", sp.Symbol("a"))': "expected a number or an expression, got a",
    's.constant("c", "two")': "'two' is no number with a unit",
    's.constant("c", float("nan"))': "nan is not a finite number",
    's.constant("c", 1j)': "is complex",
    's.input("tau", 3)': "works",
    's.specified("w", lambda t: t)': "give an expression in s.t, or a table to the run",
    's.specified("w", "sin(t)")': "works",
    's.specified("w", "sin(theta)")': "its motion contains theta",
    's.state("i", rate="nothing")': "unknown name 'nothing'",
    's.speed("u", x)': "contains no rate such as theta.dot",
    's.speed("u", x.dot**2)': "a speed must be linear in the rates",
    's.speeds("u v", x.dot, theta.dot)': "three names are needed, got 2",
}
FRAMES = {
    "s.N.rotated(theta)": "missing a required argument: 'axis'; it is called rotated(angle, axis, "
    "name=…)",
    's.N.rotated(theta, "z")': "works",
    "s.N.rotated(theta, [0, 0, 1])": "components are written 1*N.x + 2*N.y + 3*N.z",
    "s.N.rotated(theta, np.array([0, 0, 1]))": "components are written 1*N.x + 2*N.y + 3*N.z",
    "s.N.rotated(s.N.z, theta)": "expected a number or an expression, got N.z",
    "s.N.rotated(90, s.N.z)": 'warns: 90 is in radians, 14.3 turns; 90 degrees are written "90 '
    'deg"',
    's.N.rotated("90 deg", s.N.z)': "works",
    "s.N.rotated(theta, s.N.x + s.N.y)": "works",
    "s.N.rotated(theta, 0 * s.N.x)": "it is the zero vector",
    's.N.rotated("theta", s.N.z)': "works",
    "s.N.rotated(theta, s.N.z, B)": "frame: expected a name, got Frame('B')",
    's.N.rotations("xyz", theta)': "give one angle for each of the letters",
    "s.O.offset(x)": "expected a vector such as a*N.x, got x",
    "s.O.offset((1, 2, 3))": "components are written",
    "s.O.offset(P)": "expected a vector",
    's.O.offset("x*N.x")': "write it without quotes",
    "s.O.offset(x * s.N.x, s.N)": "the frame a point is attached to with frame=",
    "s.O + x * s.N.x": "is written O.offset(vector)",
    "P - s.O": "works",
    "P - 3": "subtract a point",
    "P + G": "points are not added",
    "P * 2": "a point has no multiples",
    "s.N.x + 1": "a vector is added to vectors alone",
    "1 + s.N.x": "a vector is added to vectors alone",
    "sum([s.N.x, s.N.y])": "works",
    "s.N.x * s.N.y": "is written a @ b (dot) or a.cross(b)",
    "s.N.x @ 3": "the dot product takes two vectors",
    "s.N.x.cross(3)": "cross: expected a vector",
    "abs(s.N.x)": "the length of a vector v is da.sqrt(v @ v)",
}
EXPRESSIONS = {
    "theta.dot()": "write a rate x.dot without brackets",
    "theta(s.t)": "a coordinate x instead of x(t)",
    "da.sampled(theta, 0.1)": "give a function of the time",
    "x ^ 2": "a power is written **",
    "x // 2": "write a division as /",
    "theta.ddot": "rates are x.dot and x.dot.dot",
    "theta.diff()": "rates are x.dot and x.dot.dot",
    "F.dot": "the rate of the input F is unknown",
    "np.sin(theta)": "works",
    "sp.sin(theta)": "works",
    "np.array([theta, x]) * 2": "works",
    "math.sin(theta)": "use those of dalembert",
    "float(theta)": "is an expression, not a number",
    "int(x)": "is an expression, not a number",
    "1 if theta > 0 else 2": "use da.step, da.maximum or an event",
    "max(theta, x)": "use da.step, da.maximum or an event",
    "theta and x": "neither true nor false",
    "x / 0": "division by zero",
    "da.log(0)": "a number for which it is defined",
    'da.sin("theta")': "give an expression of a system",
    "da.sin(s.N.x)": "give an expression of a system",
    's.expression("x +")': "a name or number should follow",
    's.expression("sin x")': "an operator is missing",
    's.expression("2x")': "a * is missing after the number",
    's.expression("x^2")': "write ** for a power",
    's.expression("__import__(1)")': "unknown function",
}
BODIES = {
    "s.particle(m, P)": "it is called particle(name, mass, at)",
    's.particle("p", P, m)': "expected a point, got m",
    's.particle("p", m, s.N)': "expected a point, got Frame('N')",
    's.particle("p", -1, P)': "a mass must be positive",
    's.particle("p", x, P)': "a mass must be constant",
    's.particle("rod", 1, P)': "a body named 'rod' is declared already",
    's.body("b", m, G, B, 1)': "expected its inertia",
    's.body("b", m, G, B, np.eye(3))': "expected its inertia",
    's.body("b", m, B, G, da.rod_inertia(B.y, m, l))': "expected a point",
    's.body("b", m, G, B)': "missing a required argument: 'inertia'",
    "da.inertia(B, 1, 1, 3)": "no body has the moments 1, 1, 3: none exceeds the sum of the other "
    "two",
    "da.inertia(B, 0, 0, 3)": "works",
    'da.rod_inertia("y", m, l)': "expected a unit vector such as B.z",
    's.rod("r", s.pin("a", s.O), 1, -2)': "positive",
    's.rod("r", s.pin("a", s.O), length=1)': "missing a required argument: 'mass'",
    's.rod("r", "O", 1, 1)': "give the object, without quotes",
    's.disk("d", G, B, 1, -1, B.z)': "positive",
    's.disk("d", G, B, 1, 1, "z")': "works",
    's.sphere("d", G, B, 1, 0)': "positive",
    's.box("d", G, B, 1, 1, 1, -1)': "positive",
    's.pin("a")': "it is called pin(name, at, axis=…)",
    's.pin("a", s.N)': "expected a point",
    's.pin("theta", s.O)': "declared already",
    "s.pin(theta, s.O)": "a name is missing",
    's.ball("a b", s.O)': "takes 3 angles",
    's.free("x y z")': "six names are needed",
}
LOADS = {
    "s.force(F, at=P)": "expected a vector such as a*N.x, got F",
    "s.force(F * s.N.x)": "missing a required argument: 'at'",
    "s.force(F * s.N.x, at=rod)": "its mass centre is .G",
    's.force(F * s.N.x, at="P")': "give the object, without quotes",
    's.force("F*N.x", at=P)': "write it without quotes",
    "s.force((1, 0, 0), at=P)": "components are written",
    "s.force(x.dot.dot * s.N.x, at=P)": "loads depend on positions, velocities and time",
    "s.torque(F, on=rod)": "expected a vector",
    "s.torque(F * s.N.z, at=P)": "missing a required argument: 'on'",
    "s.torque(F * s.N.z, on=P)": "it must act on a frame or on a rigid body",
    "s.spring(k, P)": "missing a required argument: 'Q'",
    "s.spring(k, P, P)": "at the same position",
    "s.spring(-5, P, s.O)": "warns: it pushes its ends apart",
    "s.spring(k, P, s.O, 1)": "too many positional arguments; it is called spring(k, P, Q, rest=…",
    "s.spring(k, P, s.O, rest=-1)": "a length is not negative",
    "s.damper(-1, P, s.O)": "warns: it feeds energy in",
    "s.potential(x.dot**2)": "V depends on positions and time only",
    "s.potential(k * x * s.N.x)": "expected a number or an expression",
    "s.potential(3)": "it has no effect",
    "s.dissipation(k * x**2)": "it dissipates nothing",
    "s.constrain(x == l)": "write the constraint as a difference",
    's.constrain("x = l")': "write a row as a difference, x - l for x = l",
    "s.constrain(x - l > 0)": "which is larger is known only along a run",
    "s.constrain(3)": "it does not depend on the motion",
    "s.constrain(0)": "it constrains nothing",
    "s.constrain(x.dot.dot - 1)": "constraints are on positions or velocities",
    "s.constrain([x - l, theta])": "expected a number or an expression",
    "s.constrain(F - x)": "it contains the input F",
    's.roll("rod", P)': "give a rigid body and the point of contact",
    "s.distance(P, s.O, -1)": "a distance is positive",
    "s.gear(theta, x, 0)": "nothing is coupled",
}
RUNS = {
    'da.simulate(s, "ten", inputs={F: 0})': "duration = 'ten' is not a number",
    "da.simulate(s, -1, inputs={F: 0})": "give a positive number of seconds",
    "da.simulate(10, s)": "give a System, not int",
    "da.simulate(s, 1, params={m: "
    "2})": "simulate: there is no option 'params'; did you mean 'values'?",
    "da.simulate(s, 1, tol=1e-6)": "did you mean 'rtol'?",
    "da.simulate(s, 1, strt={theta: 1})": "did you mean 'start'?",
    "da.linearize(s, {}, input={F: 0})": "did you mean 'inputs'?",
    "da.equilibrium(s, params={m: 2})": "did you mean 'values'?",
    "da.kane(s).M": "it is .equations.mass_matrix()",
    "da.kane(s).equation": "did you mean 'equations'?",
    "run.reaction_forces": "did you mean 'reactions'?",
    'da.simulate(s, 0.1, inputs={F: "Heaviside(t - 0.05) + Max(0, t)"})': "works",
    "da.simulate(s, 1)": "no value for the input F (inputs={'F': …})",
    "da.simulate(s, 1, start=[1, 0], inputs={F: 0})": "start: give names with their values",
    'da.simulate(s, 1, start={"thta": 1}, inputs={F: 0})': "did you mean 'theta'?",
    'da.simulate(s, 1, start={"theta_dot": 1}, inputs={F: 0})': "did you mean 'theta.dot'?",
    'da.simulate(s, 1, start={"theta": 90}, inputs={F: '
    "0})": "warns: start: theta = 90 is in radians",
    'da.simulate(s, 1, start={"theta": "90"}, inputs={F: '
    "0})": "warns: start: theta = 90 is in radians",
    'da.simulate(s, 0.1, start={"theta": "90 deg"}, inputs={F: 0})': "works",
    'da.simulate(s, 1, start={"theta": "fast"}, inputs={F: 0})': "unknown name 'fast'",
    "da.simulate(s, 1, start={theta: None}, inputs={F: 0})": "theta = None is not a number",
    "da.simulate(s, 1, start={theta: x}, inputs={F: "
    "0})": "to relate two quantities give their difference",
    "da.simulate(s, 1, start={theta: np.nan}, inputs={F: 0})": "is not finite",
    "da.simulate(s, 1, start={m: 1}, inputs={F: 0})": "m is a constant",
    "da.simulate(s, 1, inputs={F: lambda t: t}, events=[F - 0.5 + "
    "x])": "depends on F, a function that is evaluated only",
    "da.simulate(s, 1, inputs={F: lambda t: t}, events=[da.event(x - 9, reset={x: "
    "F})])": "da.sampled(…, every=…)",
    "da.simulate(s, 0.1, inputs={F: da.sampled(lambda t: t, every=0.05)}, events=[F - 0.5 + "
    "x])": "works",
    'da.simulate(s, 1, inputs={"F": "3*time"})': "unknown name 'time'",
    "da.simulate(s, 1, inputs={F: lambda: 3})": "it is called f(t), or f(t, now)",
    "da.simulate(s, 1, inputs={F: [1, 2]})": "F = [1, 2] is not a number",
    "da.simulate(s, 1, inputs=3)": "inputs: give names with their values",
    "da.simulate(s, 1, inputs={F: 0}, values={m: 0})": "a mass must be positive",
    'da.simulate(s, 1, inputs={F: 0}, values={"mass": 2})': "known are m, l",
    'da.simulate(s, 1, inputs={F: 0}, values={"F": 2})': "F is given twice",
    'da.simulate(s, 1, inputs={F: 0}, values={"theta": 2})': "give it with start=",
    "da.simulate(s, 1, inputs={F: 0}, at=5)": "t = 5 is outside the run",
    "da.simulate(s, 1, inputs={F: 0}, rtol=0)": "rtol = 0.0 is out of range",
    'da.simulate(s, 1, inputs={F: 0}, integrator="rk4")': "integrator 'rk4' is unknown",
    'da.simulate(s, 1, inputs={F: 0}, events="theta")': "events: give a list",
    "da.simulate(s, 1, inputs={F: 0}, events=[3])": "3 is no event",
    "da.simulate(s, 1, inputs={F: 0}, max_step=0)": "must be positive",
    'run["nothing"]': "unknown name 'nothing'",
    'run["theta_dot"]': "did you mean 'theta.dot'?",
    "run[P]": "give a vector, such as P - s.O",
    "run[0]": "expected a name such as 'theta.dot'",
    "run.at(2)": "t = 2 is outside the run",
    'run.plot("theta", path="a.xyz")': "the ending decides on the format",
    'run.write("a.xlsx")': "the ending decides on the format",
    'run.animate("a.xyz")': "the ending decides on the format",
    's.save("m.yaml")': "the ending decides on the format",
    'da.load("nowhere.toml")': "cannot be read",
    'da.write_report(s, "a.pdf", inputs={"F": 0})': "give a path that ends in .html",
    "da.kane(3)": "give a System, not int",
    'da.kane(da.System("empty"))': "has no coordinates",
    "da.kane(s).equations[0]": "works",
    "da.agreement(run)": "give a System, not Trajectory",
    "da.linearize(s, about=0)": "about: give names with their values",
    'da.linearize(s, outputs="theta")': "give a list of expressions",
    "da.linearize(s, {theta: 0.5}, equilibrium=True)": "not an equilibrium",
    "da.equilibrium(s, guess=[3])": "guess: give names with their values",
    "da.equilibrium(s, {theta: 1})": "no equilibrium found",
    "da.compile(s)(0, 0, F=1)": "give 2 coordinates and 2 speeds as lists or arrays",
    "da.compile(s)([0], [0, 0], F=1)": "expected 2 numbers",
    "da.compile(s)([0, 0], [0, 0], G=1)": "'G' is not a constant",
    'da.export(s, "python")': "unknown format 'python'; known are c",
    'da.evaluate(s, "m*nothing")': "unknown name 'nothing'",
}
FROM_OTHER_TOOLS = {
    "s.N.x**2": "the square of its length is v @ v",
    "s.N.x[0]": "the components of a vector along a frame are v.to(N)",
    "list(s.N.x)": "the components of a vector along a frame are v.to(N)",
    "s.N.x.dot(s.N.y)": "a · b is written a @ b",
    "G.v.magnitude()": "the length of v is da.sqrt(v @ v)",
    "G.v.norm": "the length of v is da.sqrt(v @ v)",
    "G.v.express(s.N)": "its components are v.to(N)",
    "G.v.dt(s.N)": "the velocity of P is P.v",
    "np.cross(s.N.x, s.N.y)": "products are a @ b and a.cross(b)",
    "np.dot(s.N.x, s.N.y)": "products are a @ b and a.cross(b)",
    "np.array(G.v)": "a vector is no array",
    "np.linalg.norm(G.v)": "a vector is no array",
    "np.float64(2) * s.N.x": "works",
    "s.N.x * np.float64(2)": "works",
    "np.array([1.0, 2.0]) * s.N.x": "expected a number or an expression",
    "s.N.x / s.N.y": "expected a number or an expression, got N.y",
    "s.N[0]": "the axes of a frame are N.x, N.y and N.z",
    "round(theta)": "it cannot be rounded",
    "x % 2": "no whole quotient or remainder",
    's.N.rotated("z", theta)': "the angle comes first, then the axis",
    's.expression("diff(theta, t)")': "rates are written theta.dot and theta.dot.dot",
    's.expression("Derivative(x, t)")': "rates are written theta.dot and theta.dot.dot",
    's.rod("r", s.pin("a", s.O), m, "50 cm")': "is the value of a constant, s.constants(a='50 cm')",
    's.potential("5 J")': "is the value of a constant",
    's.potential("3 * x**2")': "works",
    "s.gear(theta, theta, 2)": "is given twice; give two coordinates",
    "da.sqrt(2) * x": "works",
    "da.sin(0.3) + da.pi**2": "works",
    "da.sqrt(2) / 0": "division by zero",
    "da.sqrt(-2)": "a number for which it is defined",
    "np.sin(da.sqrt(2))": "works",
    "da.sqrt(2)**0.5": "works",
    "(-da.sqrt(2))**0.5": "is complex",
}
QUANTITIES = {
    "da.kinetic_energy(s)": "works",
    "da.kinetic_energy(rod)": "give a System, not Body",
    "da.kinetic_energy()": "missing 1 required positional argument",
    'da.kinetic_energy(s, of="wheel")': "not among rod, cart",
    "da.kinetic_energy(s, of=P)": "not among rod, cart",
    "da.kinetic_energy(s, of=[rod, 'cart'])": "works",
    'da.potential_energy(s, of="cart")': "works",
    'da.momentum(da.System("empty"))': "has no bodies yet",
    "da.angular_momentum(s, rod)": "its mass centre is .G",
    "da.angular_momentum(s, about=s.N)": "expected a point",
    "da.angular_momentum(s, P)": "works",
    "da.mass_centre(rod)": "give a System, not Body",
    "da.mass_centre(s).v": "works",
    "da.jacobian(P, s)": "the system comes first, da.jacobian(s, P)",
    "da.jacobian(s, rod)": "body.frame",
    'da.jacobian(s, "P")': "give the object, without quotes",
    "da.jacobian(s, G)[3, 0]": "J has 3 rows and 2 columns",
    "da.jacobian(s, G, along=G)": "expected a frame",
    "da.jacobian(s, B)": "works",
    "da.compile(s, P)": "is a point; give a vector",
    'da.compile(s, "phi")': "unknown name 'phi'",
    "da.compile(s, [x, G.v])([0, 0], [0, 0])": "works",
    "da.compile(s, x, speeds='all')": "leave out speeds=, or choose them with start={…}",
    "da.compile(da.kane(s), x)": "expressions are those of a System",
    "run[da.kinetic_energy(s)]": "can only be used in the system that made it",
    "run[0]": "expected a name such as 'theta.dot' or an expression",
    "run[P]": "is a point; give a vector",
    "s.attach(s, at=P)": "cannot be attached to itself",
    's.attach("tool", at=P)': "give a System and where it goes",
    's.attach(da.System("tool"))': "missing 1 required positional argument",
    's.attach(da.System("tool"), at=rod)': "its mass centre is .G",
    's.attach(da.System("tool"), at=P, prefix="2")': "give the beginning of a name",
    's.attach(da.System.from_energies(T="y.dot**2", q="y"), at=P)': "given by its energies",
    's.attach(da.System("tool"), at=P, shared="m")': "not a constant or input of both systems",
    'da.System("bare").attach(s, at=P)': "belongs to another system",
    "da.simulate(s, (0, 5), inputs={F: 0})": "give the length of the run, simulate(s, 5)",
    "da.simulate(s, np.linspace(0, 1), inputs={F: 0})": "at=… the times to keep",
    'da.simulate(s, 1, inputs={F: lambda t: "a"})': "one number is expected",
    "da.simulate(s, 0.1, inputs={F: lambda t: da.sin(t)})": "works",
    "da.compile(s)(0, 0, F=0)": "as lists or arrays",
    'da.compile(s)(["a", 0], [0, 0], F=0)': "must be numbers",
}
TABLES = {
    "systems": SYSTEMS,
    "symbols": SYMBOLS,
    "frames": FRAMES,
    "expressions": EXPRESSIONS,
    "bodies": BODIES,
    "loads": LOADS,
    "runs": RUNS,
    "from other tools": FROM_OTHER_TOOLS,
    "quantities": QUANTITIES,
}


# Python's own words for what it cannot do, and addresses of objects
BARE = re.compile(
    r"unsupported operand|object is not|positional argument but|has no len|NoneType|at 0x|bad "
    r"operand|index out of range"
)


def said(code: str) -> str:
    """What is answered to a line, with `warns: ` before a warning; `works` where nothing is
    said.
    """
    names = {"da": da, "np": np, "sp": sp, "math": math}
    exec(DESCRIBE, names)
    if "run" in code.partition("(")[0] or "(run" in code:
        names["run"] = RUN
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            eval(code, names)
        except (da.DalembertError, TypeError, AttributeError) as problem:
            return str(problem)
    return f"warns: {heard[0].message}" if heard else "works"


@pytest.fixture(scope="module", autouse=True)
def run():
    global RUN  # noqa: PLW0603 - one run for all that ask one
    names = {"da": da}
    exec(DESCRIBE, names)
    RUN = da.simulate(names["s"], 0.1, inputs={"F": 0}, start={"theta": 0.3})


@pytest.mark.parametrize("table", TABLES)
def test_each_line_works_or_gets_its_sentence(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = []
    for code, expected in TABLES[table].items():
        answer = said(code)
        kind, _, part = (
            expected.partition(": ") if expected.startswith("warns: ") else ("", "", expected)
        )
        if BARE.search(answer) or not (
            answer == "works" if expected == "works" else answer.startswith(kind) and part in answer
        ):
            wrong.append(f"{code}: expected {expected!r}, got {answer!r}")
    assert not wrong, "\n".join(wrong)
    assert not list(tmp_path.iterdir())


def test_there_are_at_least_as_many_as_were_tried():
    assert sum(map(len, TABLES.values())) >= 270
