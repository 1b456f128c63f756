"""One HTML file that shows everything about a system and needs nothing but a browser.

`html_page` computes what a page shows and writes it from the `parts/`, all in the `markup` of one page; `scene`, `shapes` and `sketch` draw
bodies, `film` and `run_view` moving pictures; `assets/` holds the script and style that travel inside the file.
"""
