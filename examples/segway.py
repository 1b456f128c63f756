# A Segway: two wheels as one, rolling, with an inverted pendulum on its axle; the motor acts
# between them.
import control
import numpy as np

import dalembert as da

s = da.System("Segway", gravity=9.81)
m, r, M, l, I = s.constants(m=2, r=0.2, M=60, l=0.9, I=10)
phi, theta = s.coordinates("phi theta")
tau = s.input("tau")
W, B = s.N.rotated(-phi, s.N.z, "W"), s.N.rotated(-theta, s.N.z, "B")
axle = s.O.offset(r * phi * s.N.x + r * s.N.y, "axle", W)
wheel = s.disk("wheel", axle, W, m, r, W.z)
rider = s.body("rider", M, axle.offset(l * B.y, "G", B), B, da.inertia(B, I, I, I))
s.torque(-tau * s.N.z, on=wheel, reaction=rider)

model = da.linearize(s)
K = control.lqr(model.A, model.B, np.diag([0.1, 10, 1, 1]), [[0.01]])[0][0]
law = -sum(float(gain) * s[name] for gain, name in zip(K, model.states, strict=True))
run = da.simulate(s, 6, start={"theta": "10 deg"}, inputs={tau: law})
run.plot("theta", "r*phi", "tau", path="segway.png")
da.write_report(s, "segway.html", duration=6, start={"theta": "10 deg"}, inputs={"tau": law})
