"""M u̇ = f: the common form, and how each principle's own form is brought to it.

`form` is what a derivation ends in. `saddle` keeps the rows beside the equations and solves for q̈ and λ together, `explicit` holds
programs that give u̇ at once, `chetaev` treats rows that are not linear in the velocities, `regularity` refuses a mass matrix that is
singular in every state.
"""
