"""y' = f(t, y): the native Runge–Kutta 8(5,3) loop, its control and dense output, event search, constrained linear algebra.

Nothing here knows any mechanics: functions come as addresses, states as rows of numbers.
"""
