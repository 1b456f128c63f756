"""Motion: the native integration loop and what it needs."""
