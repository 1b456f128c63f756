"""One HTML file that shows everything about a system and needs nothing but a browser.

`report_page` computes what a page shows and writes it from the `parts/`, all in the `html_elements`
of one page; `mode_shapes` adds equilibria and modes, `formula_budget` says what there is room for.
A `scene` is a system as things to draw: `kinematics_arrays` gives their places along a motion,
`body_shapes` their looks, `camera` where to look from, `sketch_dimensions` the letters.
`svg_drawing` draws it at one moment, `time_plots` are curves over time, `image_export` and
`run_viewer` animations. `data_blocks` is what scripts read, `simulator/` the module that runs
inside the page, `assets/` the script and style that travel with it. `ensemble_page` shows a study,
`index` leads to many pages.

Begin with `report_page`, then `scene`.
"""
