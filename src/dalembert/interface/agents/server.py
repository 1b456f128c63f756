"""dalembert serve --mcp: tools over standard input and output (Model Context Protocol)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dalembert.errors import BadDescription, import_optional
from dalembert.interface.agents.systems import Gallery
from dalembert.interface.agents.tools import Tools

INSTRUCTIONS: Final = (
    "Analytical dynamics with proofs. `system` is a name of the gallery, a model file in this "
    "server's folder, or the text of a model in TOML. "
    "`verify` says whether equations of motion are right and which terms are wrong; `agree` "
    "proves that all principles give the same equations. "
    'A refusal is {"refused": sentence}.'
)


def mcp_server(folder: Path, gallery: Gallery) -> Any:
    """The server with its five tools; nothing is executed, and no path leads out of the folder."""
    package = import_optional(
        "mcp.server.mcpserver", "dalembert serve --mcp", "'dalembert[agents]'"
    )
    if not folder.is_dir():
        msg = f"{folder} is no folder"
        raise BadDescription(msg)
    tools = Tools(folder, gallery)
    server = package.MCPServer("dalembert", instructions=INSTRUCTIONS, log_level="ERROR")

    for tool in (tools.derive, tools.verify, tools.agree, tools.check, tools.simulate):
        server.add_tool(tool)
    return server


def serve(folder: Path, gallery: Gallery) -> None:
    """Answer on standard input and output until the client ends."""
    mcp_server(folder, gallery).run("stdio")
