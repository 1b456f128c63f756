"""Many runs of one system: when, how likely, for which parameters.

members        which values each member of a study has: grids, lists, draws
"""
