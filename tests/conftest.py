"""Random examples are the same on every run; `--hypothesis-profile=search` looks for new ones."""

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("same")
