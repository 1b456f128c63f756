"""A derivation to read: text, LaTeX, Markdown and HTML of the same blocks.

`document` puts a report together from `blocks`; `steps` shows the quantities a principle used, `tables` the description, `results` the
table of agreement, what a source prints, energies and a run. `writing` turns trees into one notation; `terminal` and `layouts` lay the
blocks out. Nothing is derived here.
"""
