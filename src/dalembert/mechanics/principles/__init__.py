"""One file per principle, none of which imports another.

Each takes a kinematics and returns a `Derivation` (in `derivation`): the principle, the quantities
it used as steps, and its equations. A principle is its formula: read the function that bears its
name. What it says, and what its steps are called, cite and explain, is in `texts`. Eleven
independent routes are evidence; eleven wrappers of one would be none.
"""
