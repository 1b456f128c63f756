# A gyroscope in two gimbals: a fast rotor, a weight on the inner gimbal, slow precession and fast
# nutation.
import dalembert as da

s = da.System("Gyroscope in gimbals", gravity=9.81, up="z")
Io, Ii, m, d = s.constants(Io=0.01, Ii=0.005, m=0.1, d=0.15)
outer = s.pin("alpha", s.O, s.N.z)
inner = s.pin("beta", outer, outer.frame.x)
rotor = s.pin("gamma", inner, inner.frame.y)
s.body("outer gimbal", 0.5, outer, outer.frame, da.inertia(outer.frame, Io, Io, Io))
s.body("inner gimbal", 0.3, inner, inner.frame, da.inertia(inner.frame, Ii, Ii, Ii))
s.disk("rotor", rotor, rotor.frame, 1, 0.09, rotor.frame.y)
s.particle("weight", m, inner.offset(d * inner.frame.y))

spin = 200
run = da.simulate(s, 4, start={"gamma.dot": spin})
run.plot("alpha", "beta", path="gyroscope.png")
rate = (run["alpha"][-1] - run["alpha"][0]) / 4
print(
    f"precession {rate:.4f} rad/s; m g d / (J spin) = "
    f"{0.1 * 9.81 * 0.15 / (0.5 * 0.09**2 * spin):.4f}"
)
da.write_report(s, "gyroscope.html", duration=1, start={"gamma.dot": spin})
