"""One HTML file that shows everything about a system and needs nothing but a browser.

`study` computes what a page shows, `html_page` writes it from the `parts/`; `scene`, `shapes` and `sketch` draw bodies, `film` and
`animation` moving pictures; `assets/` holds the script and style that travel inside the file.
"""
