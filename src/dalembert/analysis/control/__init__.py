"""w = w₀ − K (x − x₀): regulators, tracking, computed torque and Kalman filters.

All work on the independent states of a system; `state_model.py` has its equations, their slopes and
the basis of admissible changes.
"""
