"""One file per principle, none of which imports another.

Each takes a kinematics and returns a `Derivation` (in `derivation`): the principle, the quantities
it used as steps, and its equations. A principle is its formula: read the function that bears its
name. Eleven independent routes are evidence; eleven wrappers of one would be none.
`articulated_body` is the route of native code for open trees, and its decorator caches derivations.
"""
