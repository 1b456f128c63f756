"""A derivation to read: text, LaTeX, Markdown and HTML of the same blocks.

`system_report` puts a report together from `document_blocks`; `derivation_steps` shows the
quantities a principle used, `system_tables` the description, `result_blocks` the table of
agreement, what a source prints, energies and a run. `hybrid_report` writes the equations of
continua. `formula_writer` turns trees into one notation; `terminal_renderer` and `renderers` lay
the blocks out, `ascii_fallback` where there is no Unicode, `notebook_display` in a cell;
`json_output` is for programs. Nothing is derived here.
"""
