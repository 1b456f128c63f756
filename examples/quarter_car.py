# A quarter car on a measured road, and the transfer function from road to body.
import numpy as np

import dalembert as da

s = da.System("Quarter car")
M, m, k, c, kt = s.constants(M="300 kg", m="40 kg", k="16 kN/m", c="1200 N*s/m", kt="160 kN/m")
zb, zw = s.coordinates("z_b z_w")
road = s.specified("z")
s.units(z_b="m", z_w="m", z="m")
up = s.N.y
body, wheel = s.O.offset(zb * up, "body"), s.O.offset(zw * up, "wheel")
s.particle("body", M, body)
s.particle("wheel", m, wheel)
s.force(-(k * (zb - zw) + c * (zb.dot - zw.dot)) * up, at=body, reaction=wheel, name="suspension")
s.force(-kt * (zw - road) * up, at=wheel, name="tyre")

x = np.linspace(0, 5, 501)  # a survey of the road: a bump, a pothole, and what the grader left
z = 0.05 * np.exp(-40 * (x - 1) ** 2) - 0.04 * np.exp(-60 * (x - 2.5) ** 2) + 0.004 * np.sin(25 * x)
run = da.simulate(s, 5, inputs={road: da.table(x, z, kind="cubic")})
run.plot(("z", "z_w", "z_b"), path="quarter-car.png")
w = 2 * np.pi * np.geomspace(0.3, 30, 200)
print(
    f"amplified most at "
    f"{w[abs(da.linearize(s).frequency_response(w, 'z', 'z_b')).argmax()] / 2 / np.pi:.2f} Hz"
)
da.write_report(s, "quarter-car.html", duration=5, inputs={"z": "0.02*sin(6*t)"})
