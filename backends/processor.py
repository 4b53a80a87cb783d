"""The processor's features beyond the baseline of its architecture."""

import re
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_KEYS = ("flags", "Features")
_KERNELS = re.compile(r"ssse3|sse4_[12]|avx\w*|f16c|fma|bmi2|amx_\w+|asimd\w*|i8mm|bf16|sve\w*|sme|sme2\w*")
"""Features for which llama.cpp has kernels."""


def features(cpuinfo: Path = _CPUINFO) -> tuple[str, ...]:
    """Return the features for which llama.cpp has kernels, under Linux's names, such as ``avx512_vnni``; empty if the
    system does not report them."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return ()
    said = next((line.partition(":")[2] for line in lines if line.partition(":")[0].strip() in _KEYS), "")
    return tuple(name for name in said.split() if _KERNELS.fullmatch(name))
