# A Furuta pendulum: optimal swing-up, tracked, then held upright, by noisy angles alone.
import numpy as np

import dalembert as da

s = da.System("Furuta pendulum", gravity=9.81, up="z")
J, r, m, l = s.constants(J=0.002, r=0.2, m=0.1, l=0.3)
tau = s.input("tau")
hub = s.pin("phi", s.O)
arm = s.body("arm", 0.2, hub, hub.frame, da.inertia(hub.frame, J, J, J))
tip = s.pin("theta", hub.offset(r * hub.frame.x), hub.frame.x)
s.body("rod", m, tip.offset(l / 2 * tip.frame.z), tip.frame, da.rod_inertia(tip.frame.z, m, l))
s.torque(tau * s.N.z, on=arm)

hanging = {"phi": 0, "theta": np.pi, "phi.dot": 0, "theta.dot": 0}
upright, limits = dict.fromkeys(hanging, 0), {"tau": 0.2}
best = da.optimize(s, 2, minimize="tau**2", start=hanging, end=upright, bounds=limits, intervals=40)
weights = {"Q": {"theta": 10, "phi.dot": 0.1, "theta.dot": 0.1}, "R": 100}
hold = da.lqr(s, **weights)
follow = da.track(best.replay, final=hold, **weights)
shaken = {"phi.dot": 0.01, "theta.dot": 0.01}
estimate = da.kalman(
    s, ["phi", "theta"], 0.005, noise=1e-5, process=shaken, covariance=1e-4, start=hanging
)
random = np.random.default_rng(1)


def control(t: float, now: da.RunState) -> float:
    """The torque for the next 5 ms."""
    estimate.update([now["phi"], now["theta"]] + 0.003 * random.normal(size=2))
    wanted = follow(t, estimate.x) if t < best.duration else hold(estimate.x)
    torque = np.clip(wanted, -0.2, 0.2)
    estimate.predict(torque)
    return float(torque[0])


run = da.simulate(s, 4, start={"theta": 3.0}, inputs={tau: da.sampled(control, 0.005)})
run.plot("theta", "phi", "tau", path="furuta-swing-up.png")
