"""What newcomers type beside the model of a pendulum in an elevator; what SymPy, MATLAB and MuJoCo
taught them included.

Read as `test_mistakes` is: `works`, `warns: …`, or a part of the sentence that refuses the line.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from test_mistakes import BARE

pd = pytest.importorskip("pandas")

MODEL = """
s = da.System("elevator and pendulum", gravity=9.81)
m, l, c, K = s.constants(m=0.4, l=0.6, c=0.1, K=30)
h = s.specified("h")
phi, q = s.coordinates("phi q")
tau = s.input("tau")
A = s.O.offset(h*s.N.y, "A")
R = s.N.rotated(phi, s.N.z, "R")
T = A.offset((l+q)*R.x, "T")
arm = s.body("arm", 1.5, A.offset(l/2*R.x, "G", R), R, da.rod_inertia(R.x, 1.5, l))
s.particle("bead", m, T)
s.spring(K, A, T, rest=l)
s.torque(tau*s.N.z, on=arm)
s.dissipation(c*q.dot**2/2)
t = s.t
"""

DESCRIBED = {
    's.rod("r2", s.pin("beta", A), mass="1.5 kg", '
    "length=1)": "a number with a unit is the value of a constant, s.constants(a='1.5 kg'), w",
    's.constants(mass="2 '
    'kilograms")': "once one has a unit, plain numbers (m, l, c, K) have none: give each its ow",
    's.constants(r="2 inches")': "once one has a unit, plain numbers (m, l, c, K) have none: give "
    "each its ow",
    's.constants(r="5 parsecs per '
    'fortnight")': "once one has a unit, plain numbers (m, l, c, K) have none: give each its ow",
    "s.constants(a=1, a2=None)": "works",
    's.constants({"a": 1})': "works",
    's.constants([("a", 1)])': "expected names such as \"x y theta\", got [('a', 1)]",
    's.constants("a b")': "works",
    's.constants("a", "b")': "it is called constants(names=…, name=value)",
    's.constant("a", value=2)': "works",
    's.constant("a", unit="kg")': "a unit belongs in a value, '2 kg', or in s.units(x='m'); it is "
    "called constant(",
    's.constant("a", default=2)': "did you mean 'value'? it is called constant(name, value=…, "
    "display=…)",
    's.coordinate("z", '
    'latex="zeta")': "did you mean 'display'? it is called coordinate(name, display=…)",
    's.constant("k_1.5", 2)': "use letters, digits and _, beginning with a letter (theta_1 prints "
    "as θ₁)",
    's.constant("Ω", 2)': "write 'Omega', which prints as Ω",
    's.constant("omega", 2)': "works",
    's.constant("g", "9.81 m/s²")': "once one has a unit, plain numbers (m, l, c, K) have none: "
    "give each its ow",
    's.constant("beta_max", math.radians(30))': "works",
    's.constant("ang", "30°")': "works",
    's.constant("ang", "30 deg")': "works",
    's.constant("n", True)': "expected a number or an expression, got True",
    's.constant("b", "1e3")': "works",
    's.constant("b", "1,5")': "decimals are written with a point, '1.5'",
    's.constant("b", (1,))': "unpack it, as in m, = s.constants(m=1)",
    's.constant("b", {1})': "expected a number or an expression, got {1}",
    's.constant("b", m)': "m is an expression, which stands for itself: b = m",
    's.constant("b", 2*m)': "2 m is an expression, which stands for itself: b = 2 m",
    's.coordinate("x", 0.3)': "it is called coordinate(name, display=…)",
    's.coordinate(name="z")': "works",
    's.coordinate("")': "got ''",
    's.coordinate("x y")': "several are declared by s.coordinates('x y')",
    's.coordinates("x", n=3)': "it is called coordinates(names)",
    's.coordinates(["x", 3])': "expected names such as \"x y theta\", got ['x', 3]",
    's.coordinates("x1:4")': "use letters, digits and _, beginning with a letter (theta_1 prints "
    "as θ₁)",
    "s.coordinates(3)": 'expected names such as "x y theta", got 3',
    's.coordinates("phi")': "names are used once in a system",
    's.coordinates("sin cos")': "choose another name",
    's.coordinate("x_dot")': "works",
    's.coordinate("x.dot")': "use letters, digits and _, beginning with a letter (theta_1 prints "
    "as θ₁)",
    's.coordinate("t")': "choose another name",
    's.specified("y", 3)': "works",
    's.specified("y", t**2)': "works",
    's.specified("y", np.sin)': "give an expression in s.t, or a table to the run, inputs={'y': "
    "da.",
    's.specified("y", "A*sin(w*t)")': "unknown name 'A' at column 1",
    's.specified("y", phi)': "only t and constants may enter",
    's.specified("y", [0,1,2])': "give an expression in s.t, or a table to the run, inputs={'y': "
    "da.",
    's.specified("y", '
    'da.table([0,1,2],[0,1,0],"cubic"))': "give an expression in s.t, or a table to the run, "
    "inputs={'y': da.",
    's.input("F", "N")': "its value is a number, not 'N'",
    's.input("F", lambda t: t)': "give an expression in s.t, or a function to the run: inputs={…}",
    's.input("F", unit="N")': "a unit belongs in a value, '2 kg', or in s.units(x='m'); it is "
    "called input(name",
    's.state("i", rate=3)': "works",
    's.state("i")': "works",
    's.state("i", "V - i")': "unknown name 'V' at column 1",
    's.state("i", rate="tau - i", start=2)': "it is called state(name, rate=…, value=…, display=…)",
    's.state("i", rate="tau - i", value="2 A")': "masses, lengths, times and angles are",
    's.state("i", rate=lambda: 3)': "it is called with the state, lambda i: …",
    's.state("i", rate=lambda i: tau - 2*i)': "works",
    's.state("i", rate="phi.dot.dot")': "rates depend on positions, velocities and time",
    's.state("i", rate=R.x)': "expected a number or an expression, got R.x",
    's.state("phi", rate=0)': "names are used once in a system",
    's.speed("w", phi.dot)': "works",
    's.speed("w", "phi.dot")': "works",
    's.speed("w", phi.dot*q)': "works",
    's.speed("w", phi)': "its definition contains no rate such as theta.dot",
    's.speed("w", 3)': "its definition contains no rate such as theta.dot",
    's.speeds("a b", phi.dot, '
    "q.dot)": "three names are needed, got 2; of expressions: s.speeds(u1=theta.dot, u2=…)",
    "s.speeds(phi.dot, q.dot)": "of expressions: s.speeds(u1=theta.dot, u2=…)",
    's.speeds("a", "b")': "of expressions: s.speeds(u1=theta.dot, u2=…)",
    's.N.rotated(30, "z")': "warns: rotated: an angle = 30 is in radians, 4.77 turns; 30 degrees "
    "are writt",
    's.N.rotated(math.pi/2, "z")': "works",
    's.N.rotated("phi", "x")': "works",
    's.N.rotated(phi, "w")': "write it without quotes",
    "s.N.rotated(phi, axis=[0,0,1])": "components are written 1*N.x + 2*N.y + 3*N.z",
    's.N.rotated(phi, s.N.z, name="R")': "works",
    "s.N.rotated(phi=phi)": "it is called rotated(angle, axis, name=…)",
    "s.N.rotated(phi, s.N)": "expected a vector such as a*N.x, got Frame('N')",
    "s.N.rotated(phi, A)": "expected a vector such as a*N.x, got Point('A')",
    "s.N.rotated(phi, 3)": "expected a vector such as a*N.x, got 3",
    's.N.rotated([phi, q], "zx")': "expected a number or an expression, got [φ, q]",
    's.N.rotations("zx", phi, q)': "works",
    's.N.rotations("313", phi, q, phi)': "1, 2, 3 are x, y, z: 'zxz'",
    's.N.rotations("zq", phi, q)': "got 2 angles",
    's.N.rotations(phi, q, "zx")': "got 2 angles",
    "s.N.orient(phi)": "a rotated frame is N.rotated(angle, N.z)",
    's.N.orientnew("B", "Axis", (phi, s.N.z))': "a rotated frame is N.rotated(angle, N.z)",
    'A.locatenew("B", 3*R.x)': "the point at a vector from P is P.offset(vector)",
    "A.pos_from(s.O)": "its position from Q is the vector P - Q, whose components are (P - Q)",
    "A.vel(s.N)": "velocities follow from positions: P.v, and P.v_in(B) as a frame sees it",
    "A.set_vel(s.N, 0)": "velocities follow from positions: P.v, and P.v_in(B) as a frame sees it",
    "A.v2pt_theory(s.O, s.N, R)": "velocities follow from positions: P.v, and P.v_in(B) as a frame "
    "sees it",
    "A.x": "its position from Q is the vector P - Q, whose components are (P - Q).to(N)",
    "A.position": "its position from Q is the vector P - Q, whose components are (P - Q).to(N)",
    "A.velocity": "velocities follow from positions: P.v, and P.v_in(B) as a frame sees it",
    "A.acc(s.N)": "accelerations follow from positions: P.a",
    "R.ang_vel_in(s.N)": "angular velocities follow from rotations: B.w",
    "R.omega": "angular velocities follow from rotations: B.w",
    "R.dcm(s.N)": "the components of its axes along N are B.x.to(N), B.y.to(N), B.z.to(N)",
    "R.w": "works",
    "R.x.diff(t, s.N)": "the velocity of P is P.v, the one that a frame sees P.v_in(B)",
    "R.X": "the axes of a frame are N.x, N.y and N.z",
    "R.i": "the axes of a frame are N.x, N.y and N.z",
    "s.O.offset(q*R.x + phi)": "a vector is added to vectors alone, such as 2*N.x",
    "s.O.offset(q, R.x)": "expected a vector such as a*N.x, got q",
    "s.O.offset([q, 0, 0])": "components are written 1*N.x + 2*N.y + 3*N.z",
    's.O.offset(q*R.x, frame="R")': "give the object, without quotes",
    "s.O.offset(q*R.x, frame=s)": "expected a frame, got System('elevator and pendulum': 2 "
    "coordinates, 2 bodi",
    "s.O.offset()": "it is called offset(r, name=…, frame=…)",
    "A.offset(3)": "expected a vector such as a*N.x, got 3",
    "A - T": "works",
    "(A - T).norm()": "the length of v is da.sqrt(v @ v)",
    "A.distance(T)": "the distance of P and Q is da.sqrt((P - Q) @ (P - Q))",
    "A + T": "the vector from one to another is A - Q",
    "T.offset(-T)": "its position from O is the vector T - s.O",
    "np.array([1,2,3]) @ s.N.x": "the dot product takes two vectors",
    "s.N.x @ s.N": "the dot product takes two vectors",
    "2 @ s.N.x": "the dot product takes two vectors",
    's.N.x * "2"': "works",
    's.N.x * "q"': "works",
    '"q" * s.N.x': "works",
    "s.N.x + 0": "a vector is added to vectors alone, such as 2*N.x",
    's.N.x - "y"': "a vector is added to vectors alone, such as 2*N.x",
    "s.N.x > s.N.y": "their lengths are da.sqrt(v @ v)",
    "bool(s.N.x)": "works",
    "len(s.N.x)": "its components along a frame are v.to(N), its length is da.sqrt(v @ v)",
    "s.N.x.x": "its components are v.to(N), or v @ N.x",
    's.N.z.cross("x")': "expected a vector such as a*N.x, got 'x'",
    "s.N.x.dot": "a · b is written a @ b, and d/dt of the position of P is P.v",
    "s.N.x.dot(R.x)": "a · b is written a @ b, and d/dt of the position of P is P.v",
    "da.cross(s.N.x, s.N.y)": "write a.cross(b)",
    "da.dot(s.N.x, s.N.y)": "write a @ b",
}
LOADED = {
    "s.force(3, at=T)": "expected a vector such as a*N.x, got 3",
    "s.force(3*R.x, T)": "works",
    "s.force(T, 3*R.x)": "expected a vector such as a*N.x, got Point('T')",
    's.force(3*R.x, at="T")': "give the object, without quotes",
    "s.force(3*R.x, at=arm)": "its mass centre is .G, the end of a rod .tip",
    "s.force(3*R.x, at=T, "
    'on="arm")': "name the body it acts on, such as on=rod (of two ends: on=(rod, cart), None",
    "s.force(3*R.x, at=T, on=R)": "name the body it acts on, such as on=rod (of two ends: on=(rod, "
    "cart), None",
    "s.force(3*R.x, at=[T, A])": "expected a point, got [Point('T'), Point('A')]",
    "s.force([3*R.x], at=T)": "expected a vector such as a*N.x, got [(3) R.x]",
    's.force(R.x*"sin(t)", at=T)': "works",
    's.force("sin(t)"*R.x, at=T)': "works",
    "s.force(lambda t: t, at=T)": "a function of the time goes to an input, s.input('F')*N.x, and "
    "inputs={'F':",
    "s.force((lambda t: t)*R.x, "
    "at=T)": "give an expression in s.t, or a function to the run: inputs={…}",
    "s.force(np.sin(t)*R.x, at=T)": "works",
    "s.force(np.sin(3.0)*R.x, at=T)": "works",
    's.force(sp.Symbol("phi")*R.x, at=T)': "works",
    's.force(sp.Symbol("nope")*R.x, at=T)': "unknown symbol 'nope' in a SymPy expression",
    's.force(sp.Function("phi")(sp.Symbol("t"))*R.x, at=T)': "works",
    "s.torque(3, on=arm)": "expected a vector such as a*N.x, got 3",
    's.torque(3*R.z, on="arm")': "it must act on a frame or on a rigid body, got 'arm'; give the "
    "object, without quotes",
    "s.torque(3*R.z, on=R)": "works",
    "s.torque(3*R.z, arm)": "works",
    "s.torque(3*R.z, on=s)": "it must act on a frame or on a rigid body",
    "s.torque(3*R.z, "
    "on=s.bodies[1])": "it must act on a frame or on a rigid body, got Particle('bead': mass m, at "
    "T), such as on=rod",
    's.spring("30 N/m", A, T)': "a number with a unit is the value of a constant, "
    "s.constants(a='30 N/m'), w",
    "s.spring(A, T, 30)": "expected a point, got 30",
    "s.spring(30, A, T, length=1)": "did you mean 'rest'? it is called spring(k, P, Q, rest=…, "
    "on=…, name=…)",
    "s.spring(30, arm, T)": "its mass centre is .G, the end of a rod .tip",
    's.spring(30, A, T, rest="1 '
    'm")': "an operator is missing before it; a number with a unit is the value of a constant",
    "s.spring(30, A, s.bodies[1])": "its mass centre is .G, the end of a rod .tip",
    "s.spring(phi, A, T)": "works",
    "s.spring(K*q, A, T)": "works",
    "s.damper(c, A, T, rest=1)": "it is called damper(c, P, Q, on=…, name=…)",
    "s.damper(c, T)": "it is called damper(c, P, Q, on=…, name=…)",
    "s.torsion_spring(3, phi)": "a spring on an angle is s.potential(k*theta**2/2)",
    "s.torsional_spring(3, phi)": "a spring on an angle is s.potential(k*theta**2/2)",
    "s.dissipation(c*phi.dot)": "warns: dissipation: D is linear in phi.dot, a constant load; "
    "Rayleigh's funct",
    's.dissipation("c*phi.dot**2/2")': "works",
    "s.dissipation(-c*phi.dot**2)": "warns: dissipation: D = −c φ̇² is never positive, so it feeds "
    "energy in",
    "s.dissipation(-c*(1 - q**2)*q.dot**2/2)": "works",
    "s.dissipation(c*phi.dot**2 - c*q.dot**2)": "works",
    "s.dissipation(-c*da.exp(-(phi.dot**2)))": "works",
    "s.potential(K*phi**2/2)": "works",
    "s.potential(K*phi.dot**2/2)": "V depends on positions and time only",
    "s.potential(t*phi)": "works",
    's.potential("K*phi^2")': "write ** for a power",
    "s.friction(phi.dot, 0.3)": "give normal=…, or declare the contact itself with "
    "s.contact(point, …, frict",
    "s.friction(phi, 0.3, normal=3)": "works",
    "s.friction(q.dot, -0.3, normal=3)": "a coefficient of friction is not negative",
    "s.contact(T)": "works",
    "s.contact(T, radius=-1)": "a radius is not negative",
    "s.contact(arm)": "its mass centre is .G, the end of a rod .tip",
    "s.contact(T, "
    "restitution=1.5)": "restitution = 1.5: it must lie between 0 (no rebound) and 1 (nothing "
    "lost)",
    "s.contact(T, mu=0.3)": "did you mean 'friction'? it is called contact(at, ground=…, "
    "through=…, ball",
    "s.stop(q, lower=1, upper=0)": "lower = 1 is above upper = 0; exchange them",
    "s.stop(q)": "give lower=…, upper=… or both",
    's.stop("q", upper=0.2)': "works",
    "s.stop(q.dot, upper=1)": "stop 1: it contains q'; a stop bounds positions",
    "s.gear(phi, q)": "it is called gear(driven, driver, ratio, offset=…, name=…)",
    's.gear("phi", "q", 2)': "works",
    's.gear(phi, q, "2")': "works",
    "s.gear(phi, q, ratio=2)": "works",
    "s.gear(phi, 3, 2)": "give two coordinates or expressions of them",
    "s.screw(phi, q, 0)": "its pitch is 0, so nothing is coupled",
    "s.rope([A, T], 3)": "it is called rope(P, Q, length, through=…",
    "s.distance(A, T, 1)": "works",
    "s.distance(A, T)": "it is called distance(P, Q, l, name=…, redundant=…)",
    "s.distance(T, 1)": "it is called distance(P, Q, l, name=…, redundant=…)",
    "s.distance(A, A, 1)": "give two points",
    's.distance(T, s.O, l="1 m")': "an operator is missing before it; a number with a unit is the "
    "value of a constant",
    "s.coincide(T, A)": "works",
    "s.join(T, s.O)": "a loop is closed by s.coincide(P, Q), or s.close(P, Q, joint)",
    "s.close(T, s.O)": "it is called close(P, Q, joint, axis=…, other=…, name=…, redundant=…)",
    "s.loop(T, s.O)": "a loop is closed by s.coincide(P, Q), or s.close(P, Q, joint)",
    "s.roll(arm, T)": "give the frame of the contact, seen=frame, whose axes lie along and across ",
    "s.roll(arm)": "it is called roll(body, at, name=…, along=…, on=…, seen=…, friction=…, stat",
    "s.roll(T, arm)": "give a rigid body and the point of contact, s.roll(disk, C), or s.roll(disk",
    "s.constrain(phi - q, phi.dot - "
    "q.dot)": "a constraint is named by a string, not φ̇ − q̇; another row has its own "
    "s.constrain(…)",
    "s.constrain(T - s.O)": "write its rows separately, v @ s.N.x, or s.coincide(P, Q), "
    "s.roll(body, P)",
    "s.constrain(T.v)": "write its rows separately, v @ s.N.x, or s.coincide(P, Q), s.roll(body, "
    "P)",
    's.constrain("phi = q")': "write a row as a difference, x - l for x = l",
    's.constrain("phi == q")': "pieces are selected by inequalities",
    's.constrain(sp.Eq(sp.Symbol("phi"), sp.Symbol("q")))': "works",
    's.constrain(sp.Symbol("phi") - sp.Symbol("q"))': "works",
    "s.constrain(phi, q)": "another row has its own s.constrain(…)",
    "s.constrain(phi.dot**2 - 1)": "works",
    "s.constrain(m - 1)": "it does not depend on the motion (no coordinate and no rate enters)",
    "s.constrain(phi - phi)": "it holds identically, so it constrains nothing",
    "s.constrain(t - 1)": "it does not depend on the motion (no coordinate and no rate enters)",
    "s.constrain(phi - t)": "works",
    "s.constrain(h - q)": "works",
    "s.constrain(lambda: phi)": "give an expression in s.t, or a function to the run: inputs={…}",
    "s.constrain(None)": "expected a number or an expression, got None",
    's.gravity("down")': "write it without quotes",
    "s.gravity(-9.81)": "downward gravity is -9.81*s.N.y, or da.System(…, gravity=9.81)",
    "s.gravity(s.N.y)": "a system has one gravity field",
    "s.gravity([0,-9.81,0])": "components are written 1*N.x + 2*N.y + 3*N.z",
    's.body("b2", 1, A, R, da.inertia(R, 1, 2, '
    "4))": "no body has the moments 1, 2, 4: none exceeds the sum of the other two (a t",
    's.body("b2", 1, A, R, da.inertia(s.N, 1, 2, 2))': "give it in the body's own frame R",
    's.body("b2", 1, A, R, '
    "[1,2,3])": "expected its inertia, such as da.inertia(B, 1, 1, 1) or da.rod_inertia(B.y,",
    's.body("b2", "1", A, R, da.rod_inertia(R.x, 1, 1))': "works",
    's.body("b2", 0, A, R, da.rod_inertia(R.x, 1, 1))': "a mass must be positive",
    's.body("b2", 1, A, R, da.rod_inertia(R.x + R.y, 1, 1))': "works",
    's.body("b2", 1, A, R, 0)': "expected its inertia, such as da.inertia(B, 1, 1, 1) or "
    "da.rod_inertia(B.y,",
    's.body("b2", 1, A, R, da.disk_inertia(R.z, 1, 0))': "works",
    's.body("arm", 1, A, R, da.rod_inertia(R.x, 1, 1))': "a body named 'arm' is declared already",
    's.body("", 1, A, R, da.rod_inertia(R.x, 1, 1))': "a body needs a name, got ''",
    "s.body(arm)": "it is called body(name, mass, G, frame, inertia, about=…, shape=…)",
    's.particle("p")': "it is called particle(name, mass, at)",
    's.particle("p", 1)': "it is called particle(name, mass, at)",
    's.particle("p", 1, s.N.x)': "expected a point, got N.x",
    's.particle("p", 1, (0,0,0))': "expected a point, got (0, 0, 0)",
    's.particle("p", 1, at=T, shape="ball")': "it is called particle(name, mass, at)",
    's.particle("p", mass=1, at=T)': "works",
    's.particle("ü", 1, T)': "works",
    's.particle("p", np.nan, T)': "nan is not a finite number",
    's.particle("p", np.inf, T)': "inf is not a finite number",
    's.particle("p", da.pi, T)': "works",
    's.pin("beta", T, axis="z")': "works",
    's.pin("beta", T, axis=(0,0,1))': "components are written 1*N.x + 2*N.y + 3*N.z",
    's.pin("beta", T, axis=T)': "expected a vector such as a*N.x, got Point('T')",
    's.pin("beta", T, "x")': "works",
    's.pin("beta gamma", T)': "several are declared by s.coordinates('x y')",
    's.pin("beta", arm)': "its mass centre is .G, the end of a rod .tip",
    's.pin("beta", arm.G)': "works",
    's.pin("beta", arm.tip)': "name the point yourself, P.offset(l*B.y)",
    's.slide("x", T, axis="x")': "works",
    's.slide("x", T)': "works",
    's.slider("x", T)': "a slider is s.slide(name, at, axis)",
    's.prismatic("x", T)': "a slider is s.slide(name, at, axis)",
    's.revolute("x", T)': "a hinge is s.pin(name, at)",
    's.hinge("x", T)': "a hinge is s.pin(name, at)",
    's.ball("a b c", T)': "names are used once in a system",
    's.ball("a", T)': "got the names 'a' for the axes 'zyx'",
    's.universal("a b", T)': "works",
    's.free("x y z a b c")': "names are used once in a system",
    's.free("x y z a b c", at=T)': "names are used once in a system",
    's.disk("d", A, R, 1, 0.1)': "it is called disk(name, G, frame, mass, radius, axis)",
    's.disk("d", A, R, mass=1, radius=0.1, axis="z")': "works",
    's.disk("d", A, R, mass=1, radius=0.1, '
    'axis="w")': "expected a unit vector such as B.z first, got 'w'",
    's.cylinder("d", A, R, 1, 1, 2, "z")': "works",
    's.disk("d", A, R, mass=1, radius=0.1, axis=R.z, '
    "thickness=3)": "it is called disk(name, G, frame, mass, radius, axis)",
    's.box("d", A, R, 1, 1, 1)': "it is called box(name, G, frame, mass, a, b, c)",
    's.cylinder("d", A, R, 1, 1, -1, R.z)': "a length must be positive",
    's.sphere("d", A, 1, 1)': "it is called sphere(name, G, frame, mass, radius)",
}
RUN = {
    "da.simulate(s, 1)": "…}) and the input tau (inputs={'tau': …})",
    'da.simulate(s, 1, inputs={"tau": 0})': "…})",
    'da.simulate(s, 1, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": 0, "h": "sin(t)"})': "works",
    'da.simulate(s, 1, inputs={"tau": 0, "h": lambda t: '
    "math.sin(t)})": "give an expression in s.t or da.table(…, kind='cubic')",
    'da.simulate(s, 1, inputs={"tau": 0, "h": '
    "np.sin})": "give an expression in s.t or da.table(…, kind='cubic')",
    'da.simulate(s, 1, inputs={"tau": np.sin, "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": math.sin, "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": (np.linspace(0,1,5), np.zeros(5)), "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": ([0,1],[0,1,2]), "h": '
    "0})": "give as many of one as of the other, and at least two",
    'da.simulate(s, 1, inputs={"tau": ([1,0],[0,1]), "h": '
    "0})": "the times must grow, but 0 follows 1",
    'da.simulate(s, 1, inputs={"tau": np.zeros(5), "h": '
    "0})": "values over time need their times: (times, values), or da.table(times, valu",
    'da.simulate(s, 1, inputs={"tau": pd.Series([0.,1.], index=[0.,1.]), "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": pd.Series([0.,1.]), "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": pd.DataFrame({"t":[0,1],"tau":[0,1]}), "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": "nofile.csv", "h": '
    "0})": "table: nofile.csv cannot be read: No such file or directory",
    'da.simulate(s, 2, inputs={"tau": da.table([0,1],[0,1]), "h": '
    "0})": "its table goes from t = 0 to 1, the run from 0 to 2",
    'da.simulate(s, 1, inputs={"tau": 0, "h": '
    "da.table([0,1],[0,1])})": "a prescribed motion needs da.table(…, kind='cubic')",
    'da.simulate(s, 1, inputs={"tau": 0, "h": '
    "([0,0.5,1],[0,1,0])})": "a prescribed motion needs da.table(…, kind='cubic')",
    'da.simulate(s, 1, inputs={"tau": [0]*5, "h": '
    "0})": "values over time need their times: (times, values), or da.table(times, valu",
    "da.simulate(s, 1, inputs=[0, "
    "0])": "give names with their values, as in inputs={'x': 1}, not list",
    'da.simulate(s, 1, inputs={"tau": None, "h": 0})': "tau = None is not a number",
    'da.simulate(s, 1, inputs={"Tau": 0, "h": 0})': "did you mean 'tau'?",
    'da.simulate(s, 1, inputs={"tau": 0, "h": 0, "x": 0})': "known are h, tau",
    'da.simulate(s, 1, inputs={"tau": 0, "h": 0, "phi": 0})': "give it with start={'phi': …}",
    'da.simulate(s, 1, inputs={"tau": 0, "h": 0, "m": 2})': "give it with values={'m': …}",
    'da.simulate(s, 1, inputs={"tau": "5 N*m", "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": "-c*phi\'", "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": "-c*phidot", "h": '
    "0})": "unknown name 'phidot' at column 4: did you mean 'phi.dot'?",
    'da.simulate(s, 1, inputs={"tau": phi.dot.dot, "h": '
    "0})": "give it in time, positions and velocities",
    'da.simulate(s, 1, inputs={"tau": sp.sin(sp.Symbol("t")), "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": sp.Piecewise((1, sp.Symbol("t")<0.5),(0,True)), "h": '
    "0})": "works",
    'da.simulate(s, 1, inputs={"tau": "Piecewise((1, t<0.5),(0,True))", "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": lambda t, q, u: 0, "h": '
    "0})": "it is called f(t), or f(t, now) with the state",
    'da.simulate(s, 1, inputs={"tau": lambda t, now: now["nope"], "h": '
    "0})": "tau: its function raised BadExpression at t = 0: unknown",
    'da.simulate(s, 1, inputs={"tau": lambda t: None, "h": 0})': "one number is expected",
    'da.simulate(s, 1, inputs={"tau": lambda t: [1], "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": lambda t: np.array([1.0]), "h": 0})': "works",
    'da.simulate(s, 1, inputs={"tau": lambda t: float("nan"), "h": '
    "0})": "its function returned nan at t = 0",
    'da.simulate(s, 1, inputs={"tau": da.sampled(lambda t: t, every=0), "h": '
    "0})": "give a positive interval of time",
    'da.simulate(s, 1, inputs={"tau": da.sampled(lambda t: t, 0.1), "h": 0})': "works",
    'da.simulate(s, "5 s", inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, "5", inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, t, inputs={"tau": 0, "h": 0})': "duration = t is not a number",
    'da.simulate(s, 1, start={"phi": "45deg"}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi": "45°"}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi": 45}, inputs={"tau": 0, "h": '
    "0})": "warns: start: phi = 45 is in radians, 7.16 turns; 45 degrees",
    'da.simulate(s, 1, start={"phi": math.radians(45)}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi": np.deg2rad(45)}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi": "30 degrees"}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi": "pi/4 rad"}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi\'": 1}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start={"phi_dot": 1}, inputs={"tau": 0, "h": '
    "0})": "no coordinate, rate or speed 'phi_dot'; did you mean",
    'da.simulate(s, 1, start={"dphi": 1}, inputs={"tau": 0, "h": '
    "0})": "no coordinate, rate or speed 'dphi'; did you mean",
    'da.simulate(s, 1, start={"phi.dot.dot": 1}, inputs={"tau": 0, "h": '
    "0})": "the equations of motion determine it, a start has pos",
    'da.simulate(s, 1, start={phi: 1, "phi": 2}, inputs={"tau": 0, "h": '
    "0})": "phi is given twice, as 1 and as 2",
    'da.simulate(s, 1, start={T: 1}, inputs={"tau": 0, "h": '
    "0})": "give a vector, such as T - s.O or its velocity, or one of ",
    'da.simulate(s, 1, start={h: 1}, inputs={"tau": 0, "h": '
    "0})": "a start gives coordinates, rates and speeds",
    'da.simulate(s, 1, start={"t": 1}, inputs={"tau": 0, "h": '
    "0})": "a start gives coordinates, rates and speeds",
    'da.simulate(s, 1, start={sp.Symbol("phi"): 1}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, start="phi=1", inputs={"tau": 0, "h": '
    "0})": "give names with their values, as in start={'x': 1}, not str",
    'da.simulate(s, 1, start={"phi=1"}, inputs={"tau": 0, "h": '
    "0})": "give names with their values, as in start={'x': 1}, not set",
    'da.simulate(s, 1, start=np.zeros(4), inputs={"tau": 0, "h": '
    "0})": "give names with their values, as in start={'x': 1}, not ndarray",
    'da.simulate(s, 1, start={"phi": np.array([1,2])}, inputs={"tau": 0, "h": '
    "0})": "phi = array([1, 2]) is not a number",
    'da.simulate(s, 1, start={"phi": 1j}, inputs={"tau": 0, "h": 0})': "phi = 1j is not a number",
    'da.simulate(s, 1, start={"q": -0.6}, inputs={"tau": 0, "h": '
    "0})": "the right-hand side is infinite or not a number already at t",
    'da.simulate(s, 1, values={"m": "2 kg"}, inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, values={"m": phi}, inputs={"tau": 0, "h": 0})': "m = φ is not a number",
    'da.simulate(s, 1, values={"m": None}, inputs={"tau": 0, "h": 0})': "m = None is not a number",
    'da.simulate(s, 1, values={"M": 1}, inputs={"tau": 0, "h": 0})': "did you mean 'm'?",
    'da.simulate(s, 1, values=[1], inputs={"tau": 0, "h": '
    "0})": "give names with their values, as in values={'x': 1}, not list",
    'da.simulate(s, 1, at=[0,0.5,1], inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, at="all", inputs={"tau": 0, "h": '
    "0})": "at = 'all' is not a time or a list of times",
    'da.simulate(s, 1, at=[1,0], inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, rtol="1e-6", inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, rtol=1, inputs={"tau": 0, "h": '
    "0})": "it must lie between 2.2e-15 and 1, which is excluded",
    'da.simulate(s, 1, events=["phi - 1"], inputs={"tau": 0, "h": 0})': "works",
    'da.simulate(s, 1, events=[phi > 1], inputs={"tau": 0, "h": '
    "0})": "use da.step, da.maximum or an event",
    'da.simulate(s, 1, events=["phi > 1"], inputs={"tau": 0, "h": '
    "0})": "an event is an expression that crosses zero, theta - 1 for ",
    'da.simulate(s, 1, events=["phi = 1"], inputs={"tau": 0, "h": '
    "0})": "an event is an expression that crosses zero, theta - 1 for ",
    'da.simulate(s, 1, events=[lambda t, y: y[0]], inputs={"tau": 0, "h": '
    "0})": "make one with da.event(expression) or da.impact(gap",
    'da.simulate(s, 1, events=da.event("phi"), inputs={"tau": 0, "h": '
    "0})": "give a list, such as events=[da.event('theta - 1', stop",
    'da.event("phi", direction=1)': "direction = 1 is unknown: choose 'up', 'down' or 'any'",
    'da.event("phi", '
    'direction="rising")': "direction = 'rising' is unknown: choose 'up', 'down' or 'any'",
    'da.event("phi", terminal=True)': "did you mean 'stop'?",
    'da.event("phi", reset={"nope": 1})': "works",
    "da.impact(q, 2)": "it lies between 0 (no rebound) and 1 (nothing lost)",
    "da.impact(q, restitution=0.5)": "works",
    "da.simulate(da.kane(s), 1)": "give a System, not Derivation",
    "da.simulate([s], 1)": "give a System, not list",
    "da.kane(s).simulate(1)": "da.simulate(s, …) takes the system",
    "s.simulate(1)": "it is da.simulate(s, 10, start={…})",
    "s.kane()": "it is da.kane(s, …)",
    "s.equations()": "da.kane(s), da.lagrange(s), … derive them",
    "s.lagrange()": "it is da.lagrange(s, …)",
    "s.plot()": "a run is plotted, da.simulate(s, 10).plot(); s.view() shows the system",
    "da.kane(s, s)": "it is called kane(system)",
    "da.kane(s).equations.solve()": "da.compile(s) is u̇ = f(q, u), da.simulate(s, 10) its motion",
    "da.kane(s).mass_matrix": "it is .equations.mass_matrix(), or .sympy().mass_matrix",
    "da.kane(s).forcing": "it is .equations.forcing(), or .sympy().forcing",
    "da.kane(s).rhs()": "da.compile(s) is u̇ = f(q, u), .sympy() has M and the forcing",
    "da.kane(s).latex()": "it is .equations.text() or .equations.latex()",
    "da.kane(s).sympy()": "works",
    "da.kane(s).equations.sympy()": "da.kane(s).sympy() has the matrices for SymPy",
    "da.Kane(s)": "did you mean 'kane'?",
    'da.lagrange(s, L="T-V")': "it has none",
    "da.newton(s)": "did you mean 'newton_euler'?",
    "da.euler_lagrange(s)": "did you mean 'lagrange'?",
    'da.agreement(s, by="kane")': "it has compiled, seed",
    'da.agreement(s, ["kane"])': "it is called agreement(system, compiled=…, seed=…, progress=…)",
    "da.compare(s)": "it is da.comparison(s), and da.agreement(s)",
    "da.compile(s)([0,0],[0,0])": "…}) and the input tau (inputs={'tau': …})",
    "da.compile(s)([0,0],[0,0],tau=0)": "…})",
    "da.compile(s)([0,0],[0,0],tau=0,h=0)": "works",
    'da.compile(s)({"phi":0},{"q":0},tau=0,h=0)': "give 2 coordinates and 2 speeds as lists or "
    "arrays, f([…], […])",
    "da.compile(s)(0,[0,0],[0,0])": "…}) and the input tau (inputs={'tau': …})",
    "da.compile(s)(np.zeros((5,2)),np.zeros((4,2)),tau=0,h=0)": "expected 5 rows of 2 numbers, as "
    "many as of the others, for part 2",
    'da.compile(s)([0,"a"],[0,0],tau=0,h=0)': "got [0, 'a']",
    'da.compile(s, "kinetic")': "unknown name 'kinetic' at column 1",
    'da.compile("s")': "give a System or a Derivation, not str",
    'da.linearize(s, {"phi": -math.pi/2})': "works",
    'da.linearize(s, {"phi": "-90 deg"}, outputs=["T"])': "unknown name 'T' at column 1",
    'da.linearize(s, {"phi": "-90 deg"}, '
    "outputs=[T])": "give a vector, such as T - s.O or its velocity, or one of its compon",
    'da.linearize(s, {"phi": "-90 deg"}, outputs=[phi, '
    "T.v])": "give one of its components, such as v @ s.N.x",
    'da.linearize(s, inputs={"tau": "5"})': "works",
    "da.linearize(s, u=[tau])": "did you mean 'inputs'?",
    'da.linearize(s).frequency_response([1], "F", "phi")': "there are tau, h.dot.dot",
    'da.linearize(s).frequency_response("1", "tau", "phi")': "works",
    "da.linearize(s).transfer_function()": "it is made of .control(), or .frequency_response(…)",
    "da.linearize(s).eigenvals": "did you mean 'eigenvalues'?",
    "da.linearize(s).poles": "they are .eigenvalues, and .modes()",
    "da.linearize(s).step()": "it is made of .control(), or .frequency_response(…)",
    "da.linearize(s).bode()": "it is made of .control(), or .frequency_response(…)",
    "da.modes(s)": "they are da.linearize(s, …).modes()",
    "da.energy(s)": "they are da.kinetic_energy(s) and da.potential_energy(s); of a run, run.ene",
    'da.evaluate(s, "phi")': "works",
    'da.evaluate(s, "phi", start={"phi": 1})': "did you mean 'at'?",
    "da.evaluate(s, T)": "give a vector, such as T - s.O or its velocity, or one of its compon",
    'da.evaluate(s, "T.v")': "the only attribute is .dot",
}
AND_MORE = {
    "s.friction(q.dot, 0.3, normal=-3)": "normal = -3; a normal force is not negative",
    "s.friction(q.dot, 0.3, normal=-K)": "normal = -30; a normal force is not negative",
    "da.compile(s)([0,0],[0,0],0,0)": "f(q, u, t): 4 arguments; constants and inputs are given by "
    "name, f(q, u, t, ",
    "da.compile(s, "
    "phi)([0,0],[0,0],0,0)": "f(q, u, t): 4 arguments; constants and inputs are given by name",
    "da.compile(da.kane(s), "
    "speeds='all')": "a derivation keeps its speeds; leave out start= and speeds=, or give the "
    "system in its place",
    "da.compile(da.kane(s), start={'phi': 1})": "a derivation keeps its speeds",
    "s.spring(K*q.dot, A, T)": "spring: it contains q'; V depends on positions and time only",
    'da.simulate(s, 1, inputs={"tau": lambda t: 1/t, "h": '
    "0})": "tau: its function raised ZeroDivisionError at t = 0: float",
    'da.simulate(s, "5 kg", inputs={"tau": 0, "h": '
    "0})": "duration: '5 kg' has [kg], but [s] is needed",
    's.potential(sp.Function("phi")(sp.Symbol("x")))': "a SymPy expression contains the unknown "
    "function 'phi'",
    's.coordinate("Ω")': "write 'Omega', which prints as Ω",
    's.coordinate("theta 1")': "use letters, digits and _, beginning with a letter (theta_1 prints "
    "as θ₁)",
    's.constant("b", "1,5 kg")': "decimals are written with a point, '1.5 kg'",
    's.constant("b", "2 kg")': "once one has a unit, plain numbers (m, l, c, K) have none: give "
    "each its ow",
    's.constant("b", "30 deg")': "works",
    's.constants({"a": 1, "b2": 2})': "works",
    "da.compile(s)([0,0],[0,0],tau=0,h_ddot=1)": "works",
    "s.dissipation(abs(phi.dot))": "works",
    "arm.tip": "name the point yourself, P.offset(l*B.y)",
    "da.linearize(s, outputs=[T.v])": "give one of its components, such as v @ s.N.x",
}
TABLES = {"described": DESCRIBED, "loaded": LOADED, "run": RUN, "and more": AND_MORE}


def said(code: str) -> str:
    """What is answered to a line; `works` where nothing is said."""
    names = {"da": da, "np": np, "sp": sp, "math": math, "pd": pd}
    exec(MODEL, names)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            eval(code, names)
        except (da.DalembertError, TypeError, AttributeError) as problem:
            return str(problem)
    return f"warns: {heard[0].message}" if heard else "works"


@pytest.mark.parametrize("table", TABLES)
def test_each_line_works_or_gets_its_sentence(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = []
    for code, expected in TABLES[table].items():
        answer = said(code)
        fits = (
            answer == "works"
            if expected == "works"
            else expected in answer
            and answer.startswith("warns: ") == expected.startswith("warns: ")
        )
        if BARE.search(answer) or not fits:
            wrong.append(f"{code}: expected {expected!r}, got {answer!r}")
    assert not wrong, "\n".join(wrong)
    assert not list(tmp_path.iterdir())


def test_there_are_at_least_as_many_as_were_tried():
    assert sum(map(len, TABLES.values())) >= 400


def test_a_row_that_holds_without_a_slope_says_so():
    s = da.System("bead on a root")
    x, y = s.coordinates("x y")
    s.particle("bead", 1, s.O.offset(x * s.N.x + y * s.N.y))
    s.constrain("sqrt(x) - y")
    with pytest.raises(
        da.DalembertError, match="holds at x = 0, y = 0 but has no finite slope there"
    ):
        da.simulate(s, 1)


def test_tables_of_pandas_are_those_of_numpy_and_a_number_holds_a_motion():
    names = {"da": da}
    exec(MODEL, names)
    s, times, values = names["s"], np.linspace(0, 1, 5), np.linspace(0, 2, 5) ** 2
    given = [
        (times, values),
        pd.Series(values, index=times),
        pd.DataFrame({"t": times, "tau": values}),
    ]
    ends = [da.simulate(s, 1, inputs={"tau": table, "h": 0})["phi"][-1] for table in given]
    assert ends[0] != 0
    assert ends == [ends[0]] * 3
    # f(q, u, h=0) is the acceleration of a run in which h stands still
    run = da.simulate(s, 0.1, start={"phi": 0.3}, inputs={"tau": 1, "h": 0})
    assert da.compile(s)([0.3, 0], [0, 0], tau=1, h=0)[0] == pytest.approx(
        run["phi.dot.dot"][0], rel=1e-12
    )


def test_an_axis_of_any_length_gives_the_inertia_of_its_direction():
    N = da.System("s").N
    assert str(da.rod_inertia((N.x + N.y) / da.sqrt(2), 1, 1)) == str(
        da.rod_inertia(3 * N.x + 3 * N.y, 1, 1)
    )


@pytest.mark.parametrize(
    "line", ["s.spring(K*(2 + q), A, T)", "s.spring(K, A, T, rest=l*(1 + phi/9))"]
)
def test_a_spring_that_changes_with_the_motion_has_the_loads_of_its_potential(line):
    names = {"da": da}
    exec(MODEL, names)
    eval(line, names)
    table = da.agreement(names["s"])
    assert table.agree
    # the same as its potential, written down
    other = {"da": da}
    exec(MODEL, other)
    written = (
        "s.potential(K*(2 + q)*(l + q)**2/2)"
        if "rest" not in line
        else "s.potential(K*(l + q - l*(1 + phi/9))**2/2)"
    )
    eval(written, other)
    state = ([0.3, 0.1], [0.2, -0.4])
    expected, actual = (da.compile(n["s"])(*state, tau=1, h=0) for n in (other, names))
    assert expected.tolist() == pytest.approx(actual.tolist(), rel=1e-12)


def test_what_sympy_calls_dynamicsymbols_is_read_by_name():
    from sympy.physics.mechanics import dynamicsymbols

    names = {"da": da}
    exec(MODEL, names)
    s, phi, q = (names[n] for n in ("s", "phi", "q"))
    e = q + (sp.sin(dynamicsymbols("phi")) * dynamicsymbols("q", 1) + dynamicsymbols("phi", 2))
    assert 0 == da.evaluate(
        s,
        e - (q + da.sin(phi) * q.dot + phi.dot.dot),
        at={"phi": 0.3, "q.dot": 0.7},
        inputs={"tau": 1, "h": 0},
    )


def test_an_error_in_an_input_function_is_named_and_kept_as_its_cause():
    names = {"da": da}
    exec(MODEL, names)
    with pytest.raises(
        da.BadValue, match="tau: its function raised IndexError at t = 0: list index"
    ) as raised:
        da.simulate(names["s"], 1, inputs={"h": 0, "tau": da.sampled(lambda t: [][int(t)], 0.1)})
    assert isinstance(raised.value.__cause__, IndexError)
