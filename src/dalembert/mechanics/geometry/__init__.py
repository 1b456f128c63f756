"""Frames, points, vectors, dyadics: R, r and, on demand, ω and v.

Frames are defined relative to frames and points relative to points, in the space of `point` that a
system owns. A `vector` is a sum over frames and stays so until a product needs one frame; a dyadic
is written in one. The motion of `frame` gives velocities and angular velocities by recursion from
the parent, in q̇ or in u. `rotation` knows simple rotations, quaternions and direction cosines;
`solid_inertia` the inertias of rods, disks and the like; `joint_constraints` what it means that two
points or axes coincide.

Begin with `frame` and `vector`.
"""
