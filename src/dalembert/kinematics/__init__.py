"""q̇ = W u + X, A q̇ + b = 0: speeds, rows, partial velocities and accelerations of a described system.

`system_kinematics` is what every principle starts from; it freezes a description on a tape of its own and can be forked. `rows` reads
constraint rows, `speeds` the definitions of speeds, `elimination` chooses independent rates, `full_speeds` keeps all n of them. `tree`
finds out whether the bodies form an open tree, `unused` refuses symbols that matter to nothing.
"""
