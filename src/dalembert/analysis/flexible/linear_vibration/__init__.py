"""The small motion of one member, its frame held: boundary problems, characteristic equations,
eigenvalues that are counted.
"""
