"""A derivation to read: text, LaTeX, Markdown and HTML of the same blocks.

`document` puts a report together from `blocks`; `steps` shows the quantities a principle used,
`tables` the description, `results` the table of agreement, what a source prints, energies and a
run. `hybrid` writes the equations of continua. `writing` turns trees into one notation; `terminal`
and `layouts` lay the blocks out, `plain` where there is no Unicode, `notebook` in a cell; `as_json`
is for programs. Nothing is derived here.
"""
