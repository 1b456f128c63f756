"""The description of a mechanical system: the only object that grows.

`system` is what a user builds. `declarations` holds symbols and speeds, `constraints` and `closures` the rows, `loads` masses and
forces, `joints` the shorthand that builds frames and coordinates, `members` strings and beams; `elements` says what is kept of each.
`material_points` says on which body a load acts. A description knows no method: nothing here is for one principle only.

Mistakes are refused at the line that makes them.
"""
