# A Furuta pendulum on a direct-current motor, held upright by LQR on the linear model.
import control
import numpy as np

import dalembert as da

s = da.System("Furuta pendulum", gravity=9.81, up="z")
J, r, m, l, k, R, L = s.constants(J=0.002, r=0.2, m=0.1, l=0.3, k=0.05, R=1.2, L=0.001)
V = s.input("V")
hub = s.pin("phi", s.O)
arm = s.body("arm", 0.2, hub, hub.frame, da.inertia(hub.frame, J, J, J))
tip = s.pin("theta", hub.offset(r * hub.frame.x), hub.frame.x)
s.body("rod", m, tip.offset(l / 2 * tip.frame.z), tip.frame, da.rod_inertia(tip.frame.z, m, l))
i = s.state("i", rate="(V - R*i - k*phi.dot)/L")
s.torque(k * i * s.N.z, on=arm)

model = da.linearize(s)
K = control.lqr(model.A, model.B, np.diag([1, 10, 0.001, 0.1, 0.1]), [[0.1]])[0][0]

controller = da.sampled(
    lambda _, now: np.clip(-K @ [now[name] for name in model.states], -12, 12), every=0.005
)
run = da.simulate(s, 3, start={"theta": "15 deg"}, inputs={V: controller})
run.plot("theta", "phi", "V", path="furuta-pendulum.png")
da.write_report(s, "furuta-pendulum.html", duration=1, start={"theta": "15 deg"}, inputs={"V": 0})
