"""Every principle on one system, compared exactly, and the audit of the kinematics that they share.

`agreement_table` takes u̇ from one principle and puts it into the others, at random points of prime
fields, and holds ω, v, a and α against derivatives of rotations and positions; `comparison` is the
effort of each route, `principle_registry` the list of principles. What is not shown is called
undecided.
"""
