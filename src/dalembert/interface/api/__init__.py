"""Where principles meet native code, runs and integrals: what a user calls on a whole system.

`simulate` is one run, `ensemble` many, `fit` compares runs with measurements. `agreement` adds the
compiled route to the table of principles. `energy_integrals` and `reactions` give expressions and
numbers of a state; `load` opens files. `bifurcation_diagram` shows what runs settle to. Options are
read here and checked once; the chapters below get objects.
"""
