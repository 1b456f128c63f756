"""Random examples are the same on every run; `--hypothesis-profile=search` looks for new ones."""

import signal

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile("same")

# what a shell starts in the background ignores Ctrl-C, which some tests press
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
