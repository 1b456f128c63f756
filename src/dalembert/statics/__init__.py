"""Equilibrium: virtual work, stationary potential, relative rest, stability and continuation.

`principles` gives the equations, `solutions` solves one of them as a formula and says whether that is all, `balance` and `newton` solve
them by numbers, `stability` judges what was found, `continuation` follows it while a parameter changes.
"""
