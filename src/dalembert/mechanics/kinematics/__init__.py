"""q̇ = W u + X, A q̇ + b = 0: speeds, rows, partial velocities and accelerations of a described
system.

`system_kinematics` is what every principle starts from; it freezes a description on a tape of its
own and can be forked. `constraint_rows` reads constraint rows, `generalized_speeds` chooses the
independent speeds, along edges where these divide by nothing, and solves for the rates. `jacobian`
is v = J u + v_t of one point or frame. `kinematic_tree` finds out whether the bodies form an open
tree. `position_kinematics` takes the other way, by differentiating r and R alone: an independent
check of the rest.
"""
