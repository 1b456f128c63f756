"""One HTML file that shows everything about a system and needs nothing but a browser.

`html_page` computes what a page shows and writes it from the `parts/`, all in the `markup` of one
page; `vibration` adds equilibria and modes, `bounded_forms` says what there is room for. A `scene`
is a system as things to draw: `geometry` gives their places along a motion, `shapes` their looks,
`view` where to look from, `dimension_lines` the letters. `sketch` draws it at one moment, `plots`
are curves over time, `film` and `run_view` animations. `embedding` is what scripts read, `live/`
the module that runs inside the page, `assets/` the script and style that travel with it.
`ensemble_page` shows a study, `index` leads to many pages.

Begin with `html_page`, then `scene`.
"""
