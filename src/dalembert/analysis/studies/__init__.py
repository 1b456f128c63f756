"""Many runs of one system: when, how likely, for which parameters.

members        which values each member of a study has: grids, lists, draws
plan           a study as data, and what is kept of every member
starts         initial states of all members; infeasible ones are marked
side_by_side   members in lanes and threads
one_by_one     members as runs of their own, for what lanes cannot do
running        chunk after chunk, here or on other machines
store          chunks in a file
result, plotting   what was kept, with names, and pictures of it
lyapunov       how fast neighbours of a motion part from it
fit            constants and start values from measured columns; fit_identifiability says which are
               not separately identifiable
"""
