"""All constraint rows of a system together: degrees of freedom, redundancy, integrability.

`analysis` is the account that a user gets. `declared_rows` takes the rows as they were declared,
`redundant_constraints` finds positions at which they hold and their ranks there, `integrability`
decides by Lie brackets which of them are on positions in disguise, and `pfaffian_integrals` writes
those positions out.
"""
