"""Lanes of a comparison that never ran, told by hand."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from decodescope.backends.events import Event, PrefillProgress, PromptReady, RequestTaken, Scored
from decodescope.backends.launch import ScriptFile
from decodescope.backends.requests import Message, Sampling
from decodescope.backends.token_facts import Alternative
from decodescope.comparison.lane import Lane, LanePhase, Round
from decodescope.comparison.plan import LanePlan
from decodescope.metrics.divergence import Divergence
from decodescope.metrics.run import Run

from ..fakes import MS, finished, loading, ready, token

PROMPT = (b"<|im_start|>", b"why", b"?\n")
SKY = (b"The", b" sky", b" is", b" blue", b" because", b" of", b" light", b".")
SEA = (b"The", b" sky", b" is", b" blue", b" like", b" the", b" sea", b".")
HOSTILE = b"[/b]\x1b[2J\xc2\x9b\xff"

_IDS: dict[bytes, int] = {}


def id_of(piece: bytes) -> int:
    return _IDS.setdefault(piece, 100 + len(_IDS))


def events_of(pieces: Sequence[bytes], gap: int = 7 * MS) -> list[Event]:
    tokens = tuple(id_of(piece) for piece in PROMPT)
    events: list[Event] = [
        RequestTaken(t=0, request=1, messages=(Message("user", "why?"),), sampling=Sampling(temp=0), seed=42),
        PromptReady(t=2 * MS, tokens=tokens, cached=0),
        PrefillProgress(t=50 * MS, processed=3, cached=0, total=3),
    ]
    for index, piece in enumerate(pieces, start=1):
        events.append(msgspec.structs.replace(token(52 * MS + (index - 1) * gap, index, piece), id=id_of(piece)))
    return [*events, finished(60 * MS + len(pieces) * gap)]


def round_of(events: list[Event], number: int = 1) -> Round:
    taken = events[0]
    assert isinstance(taken, RequestTaken)
    run = Run(taken)
    for event in events:
        run.apply(event)
    return Round(number, run, events)


def lane(number: int, label: str, pieces: Sequence[bytes], scores: Divergence | None = None) -> Lane:
    model = ready("SmolLM2-135M-Instruct")
    return Lane(
        number,
        LanePlan(label, ScriptFile(Path(f"{label}.gguf"))),
        LanePhase.DONE,
        opening=[loading(1.0), model],
        model=model,
        rounds=[round_of(events_of(pieces))],
        scores=scores,
    )


def scored(
    pieces: Sequence[bytes],
    chances: Sequence[float],
    klds: Sequence[float] = (),
    other: Sequence[bytes] = (b" !", b" [/b]", b"\x1b[2J", "你".encode()),
    *,
    wrong: Sequence[int] = (),
    prompt_tokens: int = len(PROMPT),
) -> Divergence:
    """Every position of ``pieces`` but the first, with a probability each; at the positions ``wrong`` the first of
    ``other`` is likelier than the token of the text."""
    tokens = tuple(id_of(piece) for piece in pieces)
    made = Divergence(tokens, prompt_tokens)
    top = []
    for position, (piece, chance) in enumerate(zip(pieces[1:], chances, strict=True), start=1):
        own = Alternative(id_of(piece), piece, math.log(chance))
        rest = (1 - chance) / 2 if position not in wrong else chance * 2
        rivals = [Alternative(id_of(one), one, math.log(rest / 4**place)) for place, one in enumerate(other)]
        top.append((rivals[0], own, *rivals[1:]) if position in wrong else (own, *rivals))
    made.apply(
        Scored(
            t=1,
            first=1,
            logprobs=tuple(math.log(chance) for chance in chances),
            entropies=tuple(1.5 * math.log(2) for _ in chances),
            ranks=tuple(2 if position in wrong else 1 for position in range(1, len(pieces))),
            top=tuple(top),
            kld=tuple(klds),
            same_top=tuple(position not in wrong for position in range(1, len(pieces))) if klds else (),
            pieces=tuple((id_of(piece), piece) for piece in pieces),
            decode_ns=1,
            compute_ns=1,
        )
    )
    return made


TEXT = (*PROMPT, *SKY)
REFERENCE_CHANCES = (0.5, 0.6, 0.9, 0.8, 0.9, 0.7, 0.6, 0.9, 0.8, 0.9)
CHANCES = (0.5, 0.6, 0.9, 0.7, 0.9, 0.1, 0.02, 0.9, 0.4, 0.9)
KLDS = (0.001, 0.0, 0.02, 0.03, 0.6, 1.2, 2.5, 0.01, 0.1, 0.0)


def two_lanes() -> tuple[Lane, Lane]:
    """The reference and a lane that goes its own way at token 5; both have scored the reference's text."""
    reference = lane(0, "Q8_0", SKY, scored(TEXT, REFERENCE_CHANCES))
    other = lane(1, "Q2_K", SEA, scored(TEXT, CHANCES, KLDS, wrong=(6, 9)))
    return reference, other
