"""The table of structures in CONTRIBUTING names the files that define them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import dalembert

ROOT = Path(dalembert.__file__).parent
GUIDE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
OWNER = re.compile(r"^\| [^|]+ \| `(\w+)`, `([\w/]+\.py)` \|$", re.MULTILINE)


def test_every_owner_defines_its_structure():
    owners = OWNER.findall(GUIDE.read_text(encoding="utf-8"))
    assert len(owners) >= 6
    for name, file in owners:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        assert name in defined, f"{file} does not define {name}"
