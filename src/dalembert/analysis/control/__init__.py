"""w = w₀ − K (x − x₀): regulators, tracking, computed torque and Kalman filters on the independent
states of a system.

`state_model.py` has the equations and their slopes, `tangent_space.py` what constraints and
quaternions leave free.
"""
