"""Loads for a given motion: inverse dynamics, values at a state, and the regressor of inertial
parameters.

required_loads   M u̇ − f along every speed, link by link on an open tree or by Kane
native           expressions as one native function of q, u, u̇, t
drives           which loads make the motion: one per speed, inputs, joints; least norm where they
                 are redundant
at_state         any expression, M and f at one state, without a run
regressor        τ = Y(q, u, u̇) π, and which combinations of π matter, decided exactly
"""
