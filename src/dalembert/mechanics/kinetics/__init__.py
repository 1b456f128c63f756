"""T, V, Q, F, S, H: quantities that principles share, never derivations that they share.

`quantity` makes a formula and its value in one stroke, `quantities` names those of the books, each
made on demand; `quasi_velocities` are those with all n speeds. `fields` are values over points and
frames, `body_sums` and `generalized_forces` sums of them as expressions. `joints` cuts a system
into rigid groups, `free_bodies` books every load on the group it acts on, `reactions` and
`row_actions` give what joints and rows exert, `balance` weighs any part about any point. Quantities
of forces never read a potential energy, those of energies never read the forces of potentials:
otherwise several routes would be one.
"""
