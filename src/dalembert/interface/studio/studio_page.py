"""The page of the studio: editor on the left, what the model means on the right. It fetches
nothing but from its own server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import Any, Final

from dalembert.interface.page.data_blocks import data_block
from dalembert.interface.page.html_elements import SCRIPTS, asset, bracket_style
from dalembert.interface.page.interactive_panel import engine_block
from dalembert.interface.studio.vocabulary import vocabulary

_OWN: Final = ("editor.js", "completion.js", "studio.js")
_EARLY: Final = (
    "{const d=document.documentElement;let "
    't=null;try{t=localStorage.getItem("dalembert-theme")}catch{}'
    'd.dataset.theme=t||(matchMedia("(prefers-color-scheme: dark)").matches?"dark":"light")}'
)


@cache
def own_asset(name: str) -> str:
    """A file of the studio's page."""
    return (
        resources.files("dalembert.interface.studio")
        .joinpath("assets", name)
        .read_text(encoding="utf-8")
    )


def studio_page(nonce: str, gallery: Sequence[str]) -> tuple[str, str]:
    """The page, and the policy that lets only its own scripts run."""
    known = vocabulary(gallery)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}' 'wasm-unsafe-eval'; worker-src blob:; "
        f"style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; connect-src 'self'; form-action 'none'; base-uri "
        "'none'; frame-ancestors 'none'"
    )
    code = "\n".join([*map(asset, SCRIPTS), *map(own_asset, _OWN)])
    style = f"{asset('page.css')}{bracket_style()}{own_asset('studio.css')}"
    engine = engine_block()
    text = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" '
        'href="data:,">\n'
        f"<title>Studio · dalembert</title>\n<style>{style}</style>\n<script "
        f'nonce="{nonce}">{_EARLY}</script>\n</head>\n'
        f"<body "
        f'class="studio">\n{_bar(known)}\n{_BODY}\n{data_block("vocabulary", known)}\n{engine}\n'
        f'<script nonce="{nonce}">{code}</script>\n</body>\n</html>\n'
    )
    return text, policy


def _choice(name: str, title: str, groups: dict[str, dict[str, str]]) -> str:
    """A menu: {title of a group: {value: words}}; the first entry is its own name."""
    inside = "".join(
        f'<optgroup label="{escape(label)}">'
        + "".join(
            f'<option value="{escape(v)}">{escape(words)}</option>' for v, words in entries.items()
        )
        + "</optgroup>"
        for label, entries in groups.items()
    )
    return (
        f'<select class="{name}" aria-label="{escape(title)}"><option '
        f'value="">{escape(title)}</option>{inside}</select>'
    )


def _bar(known: Mapping[str, Any]) -> str:
    new = _choice(
        "new",
        "New",
        {
            "Templates": {k: k for k in known["templates"]},
            "Gallery": {k: k for k in known["gallery"]},
        },
    )
    insert = _choice("insert", "Insert", {"Elements": {name: name for name in known["kinds"]}})
    export = _choice("export", "Export", {"Formats": {k: k for k in known["formats"]}})
    return (
        '<header class="bar"><div><b class="file"></b><span class="unsaved" hidden title="not '
        'saved">●</span>'
        f'{new}<select class="open" aria-label="Open"><option value="">Open</option></select>'
        '<button class="save" type="button" title="Ctrl+S">Save</button>'
        '<button class="saveas" type="button">Save as…</button>'
        f'{insert}<button class="aspage" type="button">Save as page</button>{export}<span '
        f'class="gap"></span>'
        '<button class="theme" type="button" aria-label="Light or dark" title="Light or '
        'dark">◐</button></div></header>'
    )


_BODY: Final = """<main class="studio">
<section class="left" aria-label="Model">
<div class="editor"><div class="gutter" aria-hidden="true"></div><div class="sheet">
<div class="colours" aria-hidden="true"></div><div class="marks" aria-hidden="true"></div>
<textarea aria-label="Model text" aria-describedby="faults" spellcheck="false"
autocomplete="off" autocapitalize="off" wrap="off"></textarea></div>
<ul class="completions" role="listbox" aria-label="Completions" hidden></ul>
<div class="hint" role="tooltip" hidden></div></div>
<ul class="faultlist" id="faults" role="status" aria-live="polite"></ul>
<p class="note" role="status" aria-live="polite"></p>
</section>
<section class="right" aria-label="What it means">
<ul class="facts"></ul>
<div class="remarks"></div>
<div class="scene"></div>
<section class="equations" aria-label="Equations of motion"><h2>Equations of motion
<select class="principle" aria-label="Principle"></select></h2>
<div class="equationtext" tabindex="0"></div></section>
<div class="try"></div>
<section class="ratetext" aria-label="Rates of the coordinates"></section>
<details class="agreed"><summary>Agreement of the principles</summary>
<div class="agreement"></div></details>
<section class="curves" aria-label="Plots"><h2>Motion</h2><div class="grids"></div></section>
<div class="data" hidden></div>
</section>
</main>"""
