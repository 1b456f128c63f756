"""Where principles meet native code, runs and integrals: what a user calls on a whole system.

`compile` chooses the equations that become native code, and every run here uses it; `simulate` is
one run, `ensemble` many, `fit` compares runs with measurements. `agreement` adds the compiled route
to the table of principles. `energy_integrals`, `reactions` and `native_functions` give expressions
and functions of a state; `robots` opens files. Options are read here and checked once; the chapters
below get objects.
"""
