"""The description of a mechanical system: the only object that grows.

`system` is what a user builds: a `registry` of declared elements (`elements` says what is kept of
each) and the verbs. A verb is a function of the registry, in the file of its kind: `symbols` holds
coordinates, constants and speeds, `bodies` masses and shapes, `joints` the shorthand that builds
frames and coordinates, `loads` forces, springs and potentials, `constraints` and `loop_constraints`
the rows, `member_verbs` strings and beams. `force_reduction` says on which body a load acts. A
description is independent of the method: nothing here is for one principle only.

Mistakes are refused at the line that makes them.
"""
