# A disk with backspin is thrown onto a floor: it slides, loses its spin to friction, grips, and
# rolls home.
import dalembert as da

s = da.System("Disk that slides, then rolls", gravity=9.81)
m, r, mu = s.constants(m=1, r=0.3, mu=0.2)
x, y, phi = s.coordinates("x y phi")
B = s.N.rotated(-phi, s.N.z, "B")
G = s.O.offset(x * s.N.x + y * s.N.y, "G", B)
disk = s.disk("disk", G, B, m, r, B.z)
s.contact(G, radius=r, on=disk, friction=mu, name="floor")

v, spin = 2, -20
start = {"x.dot": v, "phi.dot": spin, "y": 0.3}
run = da.simulate(s, 3, start=start)
run.plot("x.dot", "r*phi.dot", "T_floor", path="sliding-disk.png")
# m v̇ = −μ m g and ½ m r² φ̈ = μ m g r until v = r φ̇
grips = next(e.t for e in run.events if e.action == "sticks")
print(f"grips at {grips:.10f}, closed form {(v - 0.3 * spin) / (3 * 0.2 * 9.81):.10f}")
print(f"rolls with {run['x.dot'][-1]:.10f}, closed form {(2 * v + 0.3 * spin) / 3:.10f}")
da.write_report(s, "sliding-disk.html", duration=3, start=start)
