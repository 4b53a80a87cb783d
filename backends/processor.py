"""What the processor can do beyond the least that its kind can."""

import re
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_KEYS = ("flags", "Features")
_KERNELS = re.compile(r"ssse3|sse4_[12]|avx\w*|f16c|fma|bmi2|amx_\w+|asimd\w*|i8mm|bf16|sve\w*|sme|sme2\w*")
"""What llama.cpp has kernels for."""


def features(cpuinfo: Path = _CPUINFO) -> tuple[str, ...]:
    """Return what llama.cpp has kernels for, in Linux's names, such as ``avx512_vnni``; nothing where the system does
    not say."""
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        return ()
    said = next((line.partition(":")[2] for line in lines if line.partition(":")[0].strip() in _KEYS), "")
    return tuple(name for name in said.split() if _KERNELS.fullmatch(name))
