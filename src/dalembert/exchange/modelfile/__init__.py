"""Models as text: a file that is data, read into a System and written back.

`kinds.py` is the table of elements; `places.py` says where in a file something stands;
`expressions.py` reads expressions; `reader.py` turns tables into declarations, `repeat.py` counts
families out; `writer.py` goes the other way. Begin with `kinds.py`.
"""

from typing import Final

ENDINGS: Final = (".toml", ".json")
