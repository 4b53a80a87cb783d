"""Recordings with everything that an export has to stand."""

from pathlib import Path

from msgspec.structs import replace

from decodescope.backends.events import Event, Failed, RequestTaken, Token
from decodescope.backends.requests import Message
from decodescope.backends.token_facts import Scheduling
from decodescope.traces.exports.subject import Export, export_of
from decodescope.traces.reader import read_trace

from ...tui.fakes import MS, finished, likely, loading, progress, prompt, ready, taken, token
from ..samples import HEADER, written

HOSTILE = "</script><b>&amp;|`]]>\x1b[31m\x07\x00\u202e\u2028-->@someone"
PIECES = (b"</script>", b"]]>", b"a|b`c`", b"\x1b[31m", b"\x00\x07", b"\xf0\x9f", b"\xa6\x99", b"\xff", b"=1+1", b"\n")
GAP = 6_912_345
SLOW = 24
"""The token that was pre-empted."""


def quiet_then_disturbed(count: int = 40) -> list[Event]:
    """A model that is loaded, and one answer; token ``SLOW`` waited for a core."""
    events: list[Event] = [
        loading(0.0),
        replace(loading(0.5), t=600 * MS),
        replace(loading(1.0), t=1_200 * MS),
        replace(ready("tiny"), t=1_280 * MS),
        replace(taken(2_000 * MS), messages=(Message("user", "Why?"),)),
        prompt(2_010 * MS, 512, 96),
        progress(2_200 * MS, 256, 512, 96),
        progress(2_427 * MS, 512, 512, 96),
    ]
    t = 2_430 * MS
    for index in range(1, count + 1):
        slow = index == SLOW
        facts = Scheduling(
            involuntary_switches=37 if slow else 0,
            wait_ns=12 * GAP if slow else 0,
            longest_wait_ns=8 * GAP if slow else 0,
        )
        t += 0 if index == 1 else 12 * GAP if slow else GAP + index * 1000
        one = token(t, index, PIECES[index % len(PIECES)], scheduling=facts, probability=likely(-index / 10))
        events.append(replace(one, decode_ns=GAP - 300_000, id=index % len(PIECES)))
    return [*events, finished(t + MS)]


def two_answers() -> list[Event]:
    """The one above, and one that fails with a hostile reason, of a model with a hostile name."""
    later = 10_000 * MS
    return [
        *quiet_then_disturbed(),
        replace(ready(HOSTILE), t=later, file=f"/secret/{HOSTILE}"),
        replace(taken(later + 10 * MS), messages=(Message("user", HOSTILE),), stop=(HOSTILE,)),
        prompt(later + 20 * MS, 5),
        progress(later + 30 * MS, 5, 5),
        token(later + 40 * MS, 1, b"no"),
        Failed(t=later + 50 * MS, stage="generate", what=f"It failed. {HOSTILE}", reason=HOSTILE),
    ]


def exported(
    folder: Path, events: list[Event] | None = None, number: int | None = None, *, text: bool = True
) -> Export:
    """Write a recording, read it again, and return what is exported of it."""
    from decodescope.traces.no_text import event_without_text

    shown = two_answers() if events is None else events
    if not text:
        shown = [event_without_text(event) for event in shown]
    path = written(folder / "a.jsonl", shown, replace(HEADER, text=text))
    return export_of(read_trace(path), number)


def tokens_of(events: list[Event]) -> list[Token]:
    """Return the tokens of the last answer in ``events``."""
    found: list[Token] = []
    for event in events:
        if isinstance(event, RequestTaken):
            found = []
        elif isinstance(event, Token):
            found.append(event)
    return found
