"""What the lines of the screen say, at any width."""

from typing import Any

import msgspec
import pytest

from decodescope.backends.events import Event, ThreadsChanged
from decodescope.backends.requests import Sampling
from decodescope.metrics import numbers
from decodescope.tui.compare.keys import keys_now
from decodescope.tui.keys import KEYS, RECORDING_KEYS
from decodescope.tui.lens import Lens
from decodescope.tui.plotting.axis import Axis
from decodescope.tui.replay.keys import REPLAY_KEYS
from decodescope.tui.replay.lane_keys import COMPARISON_KEYS, LANE_KEYS
from decodescope.tui.session import Session
from decodescope.tui.widgets.cells import Row, clip, row_width, spread
from decodescope.tui.widgets.counters import LABELS, Figures, columns_for, figures, grid
from decodescope.tui.widgets.header import gauge, header_row, model_facts
from decodescope.tui.widgets.key_bar import key_row
from decodescope.tui.widgets.latency_plot import extent, latency_rows
from decodescope.tui.widgets.newest_token import newest_row, quoted
from decodescope.tui.widgets.phase_line import bar, phase_row

from .fakes import MS, answer, finished, loading, progress, prompt, ready, taken, token

WIDTHS = [20, 40, 60, 80, 100, 120, 200]


def text(row: Row) -> str:
    return "".join(part for part, _ in row)


def session(*events: Event, **settings: Any) -> Session:
    made = Session(sampling=Sampling(), **settings)
    made.apply([ready()])
    made.ask("q")
    made.apply(list(events))
    return made


def test_loading_then_warming_up() -> None:
    made = Session(sampling=Sampling())
    made.apply([loading(0.5)])
    assert text(phase_row(made, 0, 80)) == "load    " + "█" * 20 + "░" * 20 + "   50% of the model"
    made.apply([loading(1.0)])
    assert "warming up" in text(phase_row(made, 0, 80))


def test_prefill_with_a_cached_part() -> None:
    # 416 of 512 processed, 96 of them cached: 320 tokens in 320 ms are 1,000 a second, and the other 96 take 0.1 s.
    made = session(taken(), prompt(0, 512, 96), progress(320 * MS, 416, 512, 96))
    shown = text(phase_row(made, 0, 120))
    assert "416 / 512 tokens, 96 cached · 1,000 tok/s · 0.1 s left" in shown
    assert shown.count("▒") == round(40 * 96 / 512)
    assert shown.count("█") == round(40 * 416 / 512) - round(40 * 96 / 512)


def test_a_prompt_that_is_cached_whole_is_drawn_so() -> None:
    made = session(taken(), prompt(0, 64, 64), progress(MS, 64, 64, 64))
    assert "64 / 64 tokens, 64 cached" in text(phase_row(made, 0, 120))


def test_decode_says_how_much_slower_it_is() -> None:
    # Reading: 100 tokens in 100 ms, 1,000 a second. Writing: one in 7 ms, 142.9 a second. 1,000 / 142.9 = 7.0.
    made = session(*answer([b"a"] * 20))
    assert text(phase_row(made, 245 * MS, 80)) == "write   token 20 · 7.0× slower than reading"


def test_writing_faster_than_reading_is_said_so() -> None:
    # Reading: 100 tokens in 100 ms. Writing: one in 0.25 ms, four times as fast.
    made = session(*answer([b"a"] * 20, gap=MS // 4))
    assert text(phase_row(made, 117 * MS, 80)) == "write   token 20 · 4.0× faster than reading"


def test_a_pause_in_mid_stream_is_told() -> None:
    made = session(*answer([b"a"] * 20))
    assert "nothing for 5.0 s" in text(phase_row(made, 245 * MS + 5_000 * MS, 80))


def test_a_limit_is_shown_with_the_count() -> None:
    made = session(*answer([b"a"]), max_tokens=64)
    assert "token 1 of at most 64" in text(phase_row(made, 112 * MS, 80))


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("stop", "the model ended its turn"),
        ("length", "cut off at the limit of 2 tokens"),
        ("context", "the context is full"),
    ],
)
def test_every_ending_is_named(reason: Any, words: str) -> None:
    made = session(*answer([b"a", b"b"]), finished(200 * MS, reason))
    assert words in text(phase_row(made, 0, 120))


def test_an_answer_of_reasoning_alone_has_no_first_answer() -> None:
    made = session(taken(), token(1, 1, b"hm", thinking=True), finished(2))
    assert "first answer none" in text(phase_row(made, 0, 120))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_too_long(width: int) -> None:
    sessions = [
        Session(sampling=Sampling()),
        session(),
        session(taken(), prompt(0, 5120, 96), progress(320 * MS, 4160, 5120, 96)),
        session(*answer([b"a long piece of text that is cut"] * 20)),
        session(*answer([b"a"] * 20), finished(300 * MS)),
        session(*answer([b"a"] * 20), finished(300 * MS, "cancelled")),
    ]
    for made in sessions:
        assert row_width(phase_row(made, 300 * MS, width)) <= width
        for row in grid(figures(made, 300 * MS), width, 12):
            assert row_width(row) <= max(width, 18)
    assert row_width(key_row(width, letters=False)) <= width
    name = "a name that is far too long for any header " * 3
    context = gauge(412, 4096, width)
    assert row_width(header_row(name, model_facts(ready(), False), context, width)) <= max(width, 18)


def test_figures_by_hand() -> None:
    # Taken at 0, first token at 112 ms, then every 7 ms: TTFT 112 ms, TPOT and all ITLs 7 ms, 142.9 tokens a second.
    made = session(*answer([b"a"] * 20))
    assert figures(made, 245 * MS) == Figures(
        ttft="112 ms",
        tpot="7.0 ms",
        p50="7.0 ms",
        p95="7.0 ms",
        p99="7.0 ms",
        now="143 tok/s",
        write="143 tok/s",
        read="1,000 tok/s",
        slowdown="7.0×",
        tokens="20",
        elapsed="0.2 s",
        seed="42",
    )


def test_without_a_run_every_figure_is_a_dash() -> None:
    assert figures(session(), 0) == Figures()


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_keep_their_places(width: int) -> None:
    few = grid(figures(session(*answer([b"a"])), 120 * MS), width, 12)
    many = grid(figures(session(*answer([b"a"] * 500)), 5_000 * MS), width, 12)

    def label_places(rows: list[Row]) -> list[int]:
        return [text(row).index(label) for row in rows for label in LABELS.values() if label in text(row)]

    assert label_places(few) == label_places(many)
    assert len(few) == -(-12 // columns_for(width))


def test_the_most_important_figures_stay_when_room_is_short() -> None:
    shown = text(grid(Figures(), 78, 1)[0])
    assert "TTFT" in shown
    assert "TPOT" in shown


def test_the_gauge_warns_in_words_too() -> None:
    assert "full" in text(gauge(4090, 4096, 120))
    assert "full" not in text(gauge(400, 4096, 120))
    assert "░" not in text(gauge(4096, 4096, 80))
    assert text(gauge(0, 0, 80)).endswith("0 / 0")


def test_the_header_drops_facts_before_the_name() -> None:
    facts = model_facts(ready(), False)
    wide, narrow = (text(header_row("tiny", facts, gauge(1, 4096, width), width)) for width in (120, 40))
    assert "tiny · Q4_1 · 92 MiB · CPU, 2 threads · ChatML" in wide
    assert "tiny" in narrow
    assert "CPU" not in narrow


def test_a_requantized_model_says_so() -> None:
    model = msgspec.structs.replace(ready(), quantization="Q2_K", requantized_from="Q4_1")
    assert model_facts(model, False)[0] == "Q2_K from Q4_1"


def test_a_model_without_a_template_says_so() -> None:
    assert "no chat template, raw" in model_facts(ready(template=""), True)


def test_bars_tell_their_parts_by_character() -> None:
    assert text(bar(0.75, 0.25, 8)) == "▒▒████░░"
    assert text(bar(0.0, 0.0, 4)) == "░░░░"
    assert text(bar(1.0, 1.0, 4)) == "▒▒▒▒"


def test_the_newest_token_is_made_visible() -> None:
    made = session(*answer([b"a", b" \x1b[2J\xff"]))
    assert text(newest_row(made, Lens.TIME)).strip() == '#2 " ␛[2J\\xff"   7.0 ms'
    assert newest_row(session(), Lens.TIME) == ()
    assert quoted(b"[/INST]\n") == '"[/INST]␊"'


def test_every_key_is_shown_when_there_is_room() -> None:
    shown = text(key_row(200, letters=False))
    assert all(f"{key.display} {key.label}" in shown for key in KEYS if not key.pair)
    assert "? help" in text(key_row(200, letters=True))
    assert all(word in text(key_row(40, letters=False)) for word in ("stop", "help", "quit"))
    assert all(word in text(key_row(78, letters=False)) for word in ("again", "lens", "inspect", "tokens", "menu"))


ALL_KEYS = {
    "scope": KEYS,
    "recording": RECORDING_KEYS,
    "replay": REPLAY_KEYS,
    "lanes": LANE_KEYS,
    "comparison": COMPARISON_KEYS,
    "busy": keys_now(busy=True),
    "done": keys_now(busy=False),
}


@pytest.mark.parametrize("name", ALL_KEYS)
@pytest.mark.parametrize("letters", [False, True])
def test_a_key_bar_shows_whole_entries_and_whole_pairs(name: str, letters: bool) -> None:
    keys = ALL_KEYS[name]
    whole = entries_of(key_row(1000, letters=letters, keys=keys))
    pairs = {key.pair for key in keys if key.pair}
    # One entry for both of a pair, all others on their own.
    assert len(whole) == len([key for key in keys if not key.pair]) + len(pairs)
    assert pairs <= {label for _, label in whole}
    before = 0
    for width in range(200):
        row = key_row(width, letters=letters, keys=keys)
        shown = entries_of(row)
        assert row_width(row) <= width
        assert [entry for entry in whole if entry in shown] == shown
        assert len(shown) >= before
        before = len(shown)
    editing = entries_of(key_row(1000, letters=False, editing=True))
    for width in range(100):
        row = key_row(width, letters=False, editing=True)
        assert row_width(row) <= width
        assert set(entries_of(row)) <= set(editing)


def entries_of(row: Row) -> list[tuple[str, str]]:
    displays = [part for part, role in row if role == "accent"]
    labels = [part.strip() for part, role in row if role == "dim"]
    return list(zip(displays, labels, strict=True))


def test_the_plot_has_an_axis_a_median_and_marks_what_is_cut_off() -> None:
    events = answer([b"a"] * 40)
    made = session(*events, token(112 * MS + 39 * 7 * MS + 10_000 * MS, 41, b"x"))
    assert made.run is not None
    rows = [text(row) for row in latency_rows(made.run, None, Axis(), 80, 6)]
    assert "median   7.0 ms" in rows[0]
    assert "▲ off the scale, up to 10.0 s" in rows[0]
    assert "▲" in rows[1]
    assert rows[1].strip().startswith("30")  # four medians of 7 ms are 28
    assert rows[-1].strip().startswith("0")
    assert all(len(row) == 80 for row in rows[1:])


def test_the_time_to_the_first_answer_is_told_where_the_model_reasons() -> None:
    reasoning = session(taken(), token(5 * MS, 1, b"hm", thinking=True), token(9 * MS, 2, b"Yes"))
    shown = "\n".join(text(row) for row in grid(figures(reasoning, 10 * MS), 118, 2))
    assert "TTFA" in shown
    assert "9.0 ms" in shown
    assert "slowdown" not in shown
    thinking_still = session(taken(), token(5 * MS, 1, b"hm", thinking=True))
    assert figures(thinking_still, 10 * MS).ttfa == numbers.MISSING
    plain = session(*answer([b"a"]))
    assert figures(plain, 200 * MS).ttfa is None


def test_disturbed_tokens_are_pointed_at_in_the_plot_and_summed_up_when_done() -> None:
    start = 112 * MS
    quick = [token(start + place * 7 * MS, place + 1, b"a") for place in range(40)]
    slow = token(start + 39 * 7 * MS + 18 * MS, 41, b"x")
    made = session(*answer([]), *quick, slow, finished(slow.t))
    assert made.run is not None
    rows = [text(row) for row in latency_rows(made.run, None, Axis(), 80, 6)]
    assert "▾ disturbed" in rows[0]
    assert rows[1].count("▾") == 1
    assert "1 of 40 tokens disturbed, 4 % of the time lost" in text(phase_row(made, slow.t, 120))
    undisturbed = session(*answer([b"a"] * 40), finished(slow.t))
    assert undisturbed.run is not None
    assert "▾" not in "".join(text(row) for row in latency_rows(undisturbed.run, None, Axis(), 80, 6))


def test_points_keep_their_place_until_the_axis_doubles() -> None:
    assert [extent(count) for count in (0, 1, 32, 33, 64, 65, 1000)] == [32, 32, 32, 64, 64, 128, 1024]


def test_no_plot_without_room() -> None:
    made = session(*answer([b"a"] * 40))
    assert made.run is not None
    assert latency_rows(made.run, None, Axis(), 10, 6) == []
    assert latency_rows(made.run, None, Axis(), 80, 2) == []


def test_clip_and_spread_count_cells() -> None:
    assert clip("你好世界", 5) == "你好…"
    assert clip("abc", 3) == "abc"
    assert clip("abc", 0) == ""
    assert spread((("ab", ""),), (("cd", ""),), 6) == (("ab", ""), ("  ", ""), ("cd", ""))
    assert spread((("ab", ""),), (("cd", ""),), 4) == (("ab", ""),)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_fewer_threads_are_named_while_there_are_fewer(width: int) -> None:
    most = ready().threads

    def change(t: int, before: int, after: int) -> ThreadsChanged:
        return ThreadsChanged(t=t, before=before, after=after, why="core_taken" if after < before else "core_idle")

    made = session(taken(), prompt(10, 8), progress(20, 8, 8), token(30, 1, b"a"), change(31, most, most - 1))
    said = f"{most - 1} of {most} threads"
    assert said in text(phase_row(made, 40, width))
    made.apply([token(40, 2, b"b"), change(45, most - 1, most), token(50, 3, b"c")])
    assert "threads" not in text(phase_row(made, 60, width))
    made.apply([finished(60)])
    assert said in text(phase_row(made, 60, 120))
    made.apply([taken(), prompt(70, 8), change(71, most, most - 1)])
    made.apply([ready()])
    assert made.threads is None  # another engine has all of its own
