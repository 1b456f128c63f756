import dalembert as da

s = da.System("Rolling disk", gravity=9.81, up="z")
x, y, phi, theta, psi = s.coordinates("x y phi theta psi")
A, B, D = s.N.rotations("zxz", phi, theta, psi)  # heading, lean, spin: the intermediate frames
C = s.O.offset(x * s.N.x + y * s.N.y)  # point of contact
disk = s.disk("disk", C.offset(0.5 * B.y), D, mass=1, radius=0.5, axis=B.z)
s.roll(disk, C)  # rows come out as x' + r cos φ ψ', y' + r sin φ ψ'
da.simulate(s, 10, start={theta: 1.2, psi.dot: 6.0}).plot()
