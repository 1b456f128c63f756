import dalembert as da

s = da.System("Double pendulum", gravity=9.81)  # along -s.N.y
upper = s.rod("upper", s.pin("alpha", s.O), mass=1, length=1)  # hangs along -y of its own frame
lower = s.rod("lower", s.pin("beta", upper.tip), mass=1, length=1)
da.simulate(s, 10, start={"alpha": 1.0, "beta": 0.5}).plot()
