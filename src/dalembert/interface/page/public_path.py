"""File names as a page may print them: without the folders of its author's computer."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath


def public_path(name: str) -> str:
    """A path as it may be published: one that leads through a home or root folder is cut to its
    file's name.
    """
    path, colon, function = name.rpartition(":")
    file, more = (path, colon + function) if colon and len(path) > 1 else (name, "")
    windows = PureWindowsPath(file)
    private = (
        PurePosixPath(file).is_absolute() or windows.is_absolute() or file.startswith(("~", ".."))
    )
    return (
        (windows.name if windows.is_absolute() else PurePosixPath(file).name) + more
        if private
        else name
    )
