"""What to do about a failure, in the flags of a bench, which has no ``-c``: the context is as large as its tests."""

import re

from ..backends.events import Failed

_CONTEXT_FLAG = re.compile(r"(?<![\w-])-c(?![\w-])")
_FLAGS = "-p, -n, -pg or -d"
_QUANTIZE = "quantize the cache (-ctk q8_0 -ctv q8_0 -fa on)"


def remedy_of(failed: Failed) -> str:
    """Return the remedy of ``failed`` in a bench's flags; from outside in part."""
    most = failed.most_context
    if most is None:
        return _CONTEXT_FLAG.sub(_FLAGS, failed.remedy)
    if most < 2:
        return f"Take a smaller model, or {_QUANTIZE}."
    # One token more than a test names is counted: what is drawn last.
    return f"Ask for at most {most - 1:,} tokens in one test ({_FLAGS}), or {_QUANTIZE}."
