"""What all lenses know of a token, packed into one byte, so that another lens needs no look at the tokens.

========  =====================================================================
bits 0-1  its time: 0 ordinary, 1 to 3 as ``metrics.pace.Pace``; of a scored text, which has no times, its KL
          divergence: 0 small, 1 to 3 from each of ``DIVERGENCES`` on
bit 2     its time is known to have been lost to something other than the model; of a scored text: another token is the
          likeliest
bit 3     its probability was computed
bits 4-5  how unlikely it was: 0 not, 1 to 3 below each of ``UNLIKELY``
bits 6-7  how unsure the model was: 0 not, 1 to 3 from each of ``UNSURE`` on
========  =====================================================================
"""

import numpy as np
import numpy.typing as npt

from ...metrics.disturbance import Cause
from ...metrics.likelihood import unlikely, unsure
from ...metrics.run import Run
from ..lens import Lens
from .turns import Marks

DIVERGENCES = (0.5, 1.0, 2.0)
"""KL divergence in nats; from each of these on a token is of degree 1, 2, 3.

The same for all lanes and texts, so that a harmless quantization stays plain; quantiles would tint as much of it as of
a harmful one. By Pinsker's inequality at most √(KLD / 2) of the probability has moved: 50 %, 71 %, all of it.
"""

_NO_CAUSE, _UNKNOWN_CAUSE = int(Cause.NONE), int(Cause.UNKNOWN)
"""Plain values, since numpy takes ten times as long with members of an enumeration."""

_DISTURBED = 1 << 2
_COMPUTED = 1 << 3
_SHIFTS = {Lens.TIME: 0, Lens.PROBABILITY: 4, Lens.ENTROPY: 6, Lens.DIVERGENCE: 0}
_WITH_DISTURBED = (Lens.TIME, Lens.DIVERGENCE)

LOOKS = 8
"""How many ways a token may look through one lens: degree, plus ``DISTURBED_LOOK``."""
DISTURBED_LOOK = 4


def pack(paces: npt.ArrayLike, disturbed: npt.ArrayLike, logprobs: npt.ArrayLike, entropies: npt.ArrayLike) -> Marks:
    """Return the marks of tokens; all shape (n,). ``logprobs``: natural; ``entropies``: nats; NaN is "not computed"."""
    logprobs, entropies = np.asarray(logprobs, np.float64), np.asarray(entropies, np.float64)
    computed = ~np.isnan(logprobs)
    packed = np.asarray(paces).astype(np.uint8)
    packed |= np.asarray(disturbed).astype(np.uint8) * np.uint8(_DISTURBED)
    packed |= computed.astype(np.uint8) * np.uint8(_COMPUTED)
    packed |= unlikely(logprobs) << np.uint8(4)
    packed |= unsure(entropies) << np.uint8(6)
    return packed


def pack_scored(
    klds: npt.ArrayLike, other_top: npt.ArrayLike, logprobs: npt.ArrayLike, entropies: npt.ArrayLike
) -> Marks:
    """Return the marks of the tokens of a scored text; all shape (n,), NaN where a token is not scored or compared.

    ``klds``: nats; ``other_top``: whether another token is the likeliest; the rest as for ``pack``.
    """
    klds = np.asarray(klds, np.float64)
    with np.errstate(invalid="ignore"):
        degrees = sum((klds >= limit).astype(np.uint8) for limit in DIVERGENCES)
    return pack(degrees, other_top, logprobs, entropies)


def degree(marks: int, lens: Lens) -> int:
    """Return 0 for an ordinary token, 1 to 3 for one that departs from that."""
    return marks >> _SHIFTS[lens] & 3


def is_disturbed(marks: int) -> bool:
    """Whether the token's time is known to have been lost; of a scored text: whether another token is the likeliest."""
    return bool(marks & _DISTURBED)


def is_computed(marks: int) -> bool:
    """Whether the token's probability was computed."""
    return bool(marks & _COMPUTED)


def looks(lens: Lens) -> list[int]:
    """Return the look of every possible marks through a lens."""
    return [
        degree(marks, lens) | (DISTURBED_LOOK if lens in _WITH_DISTURBED and is_disturbed(marks) else 0)
        for marks in range(256)
    ]


def marks_of(run: Run, first: int = 0, last: int | None = None) -> Marks:
    """Return the marks of the tokens at ``first``…``last`` (from 0; ``None``: to the newest)."""
    part = slice(first, last)
    causes = run.causes[part]
    disturbed = (causes != _NO_CAUSE) & (causes != _UNKNOWN_CAUSE)
    likelihood = run.likelihood
    if not likelihood.known:
        # Runs for every frame, and mostly nothing is known: that needs no arithmetic.
        marks: Marks = run.paces[part].astype(np.uint8) | disturbed.astype(np.uint8) * np.uint8(_DISTURBED)
        return marks
    return pack(run.paces[part], disturbed, likelihood.logprobs[part], likelihood.entropies[part])
