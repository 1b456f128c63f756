# A crane: a trolley on a rail, a rope that is hauled in, a load; the trolley moves as its drive is
# told.
import dalembert as da

s = da.System("Crane", gravity=9.81)
M, m, c = s.constants(M=500, m=2000, c=20)
rope = s.specified("l")
x, theta = s.coordinates("x theta")
F = s.input("F")
trolley = s.O.offset(x * s.N.x, "trolley", s.N)
B = s.N.rotated(theta, s.N.z, "B")
load = trolley.offset(-rope * B.y, "load")
s.particle("trolley", M, trolley)
s.particle("load", m, load)
s.force(F * s.N.x, at=trolley)
s.force(-c * load.v, at=load, name="air")

target = 10 * da.saturate(s.t / 8, 0, 1)
drive = 4000 * (target - x) - 6000 * x.dot + 9000 * da.sin(theta)
l = 8 - 1.5 * (1 + da.tanh((s.t - 10) / 3))  # hauled in by three metres, gently
run = da.simulate(s, 25, start={"theta": "2 deg"}, inputs={rope: l, F: drive})
run.plot("x", "theta", "l", path="crane.png")
da.write_report(s, "crane.html", duration=25, start={"theta": "2 deg"}, inputs={"l": l, "F": drive})
