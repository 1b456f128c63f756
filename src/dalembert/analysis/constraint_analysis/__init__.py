"""What the constraint rows of a system say together: freedoms, redundancy, integrability.

`analysis` is the account that a user gets. `rows` takes the rows as they were declared,
`configurations` finds positions at which they hold and their ranks there, `integrability` tells by
Lie brackets which of them are on positions in disguise, and `hidden` writes those
positions out.
"""
