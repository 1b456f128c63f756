"""A derivation to read: text, LaTeX, Markdown and HTML of the same blocks.

`document` puts a report together from `blocks`; `steps` shows the quantities a principle used, `tables` the description, `comparison` the
table of agreement and what a source prints. `writing` turns trees into one notation; `terminal`, `latex`, `markdown` and `html` lay
the blocks out. Nothing is derived here.
"""
