"""T, V, Q, F, S, H: quantities that principles share, never derivations that they share.

`quantity` makes a formula and its value in one stroke, `system_quantities` names those of the
books, each made on demand; `quasi_velocities` are those with all n speeds. `spatial_fields` are
values over points and frames, `energy_and_momentum` and `generalized_forces` sums of them as
expressions. `rigid_groups` cuts a system into rigid groups, `free_bodies` books every load on the
group it acts on, `reactions` and `constraint_actions` give what joints and rows exert, `balance`
weighs any part about any point. `articulated_inertia` and `recursive_newton_euler` go from link to
link of a tree. Quantities of forces never read a potential energy, those of
energies never read the forces of potentials: otherwise several routes would be one.
"""
