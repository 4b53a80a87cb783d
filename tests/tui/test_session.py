"""What a session makes of events."""

import msgspec
import pytest
from msgspec.structs import replace

from decodescope.backends.events import Failed, RequestTaken
from decodescope.backends.requests import Message, Sampling
from decodescope.backends.token_facts import Kind, Part
from decodescope.tui.session import Phase, Session
from decodescope.tui.transcript import Turn

from .fakes import MS, answer, finished, loading, progress, prompt, ready, taken, token


def session(**settings: object) -> Session:
    made = Session(sampling=Sampling(), **settings)  # type: ignore[arg-type]
    made.apply([ready()])
    return made


def test_phases_in_order() -> None:
    made = Session(sampling=Sampling())
    assert made.phase is Phase.LOADING
    seen: list[Phase] = []
    for event in (
        loading(0.5),
        loading(1.0),
        ready(),
        taken(),
        prompt(10, 8),
        progress(20, 8, 8),
        token(30, 1, b"a"),
        finished(40),
    ):
        made.apply([event])
        seen.append(made.phase)
    assert seen == [
        Phase.LOADING,
        Phase.WARMING_UP,
        Phase.READY,
        Phase.WAITING,
        Phase.PREFILL,
        Phase.PREFILL,
        Phase.DECODE,
        Phase.DONE,
    ]


def test_a_request_that_others_made_brings_its_conversation() -> None:
    made = Session(sampling=Sampling())
    messages = (Message("system", "be brief"), Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    request = RequestTaken(t=0, request=1, messages=messages, sampling=Sampling(temp=0), seed=1, max_tokens=9)
    changes = made.apply([ready(), request, token(30, 1, b"d"), finished(40)])
    assert changes.taken == [Turn("a", "b"), Turn("c")]
    assert made.turns == [Turn("a", "b"), Turn("c", "d")]
    assert (made.sampling.temp, made.max_tokens, made.raw) == (0, 9, False)
    again = made.apply([token(30, 2, b"late"), RequestTaken(t=50, request=1, prompt="x", sampling=Sampling(), seed=1)])
    assert again.taken == [Turn("x")]
    assert again.pieces == []
    assert made.raw


def test_a_request_of_its_own_brings_nothing_new() -> None:
    made = Session(sampling=Sampling())
    made.apply([ready()])
    made.ask("a")
    assert made.apply([taken(), token(30, 1, b"b"), finished(40)]).taken is None
    assert made.turns == [Turn("a", "b")]


def test_the_conversation_is_sent_with_its_answers() -> None:
    made = session(system="be brief")
    made.ask("one")
    made.apply([*answer([b"first"]), finished(200 * MS)])
    request = made.ask("two")
    assert request.messages == (
        Message("system", "be brief"),
        Message("user", "one"),
        Message("assistant", "first"),
        Message("user", "two"),
    )


def test_a_turn_that_was_stopped_before_its_first_token_is_left_out() -> None:
    made = session()
    made.ask("one")
    changes = made.apply([taken(), prompt(10, 8), finished(20, "cancelled")])
    assert changes.ended == finished(20, "cancelled")
    assert made.phase is Phase.CANCELLED
    assert made.ask("two").messages == (Message("user", "two"),)


def test_a_stopped_answer_stays_in_the_conversation() -> None:
    made = session()
    made.ask("one")
    made.apply([*answer([b"fir"]), finished(200 * MS, "cancelled")])
    assert [message.content for message in made.ask("two").messages] == ["one", "fir", "two"]


def test_reasoning_is_no_part_of_the_answer() -> None:
    made = session()
    made.ask("one")
    changes = made.apply([taken(), token(1, 1, b"hm", thinking=True), token(2, 2, b"yes"), finished(3)])
    assert [(piece.text, piece.kind) for piece in changes.pieces] == [("hm", "reasoning"), ("yes", "answer")]
    assert made.answer_text == "yes"


def test_an_answer_of_reasoning_alone_can_be_copied() -> None:
    made = session()
    made.ask("one")
    made.apply([taken(), token(1, 1, b"hm", thinking=True), finished(3)])
    assert made.answer_text == "hm"


def test_a_model_is_given_back_its_answer_and_no_reasoning() -> None:
    made = session()
    made.ask("one")
    parts = (Part(1, "control", 8), Part(1, "reasoning", 2), Part(1, "control", 8), Part(1, "answer", 3))
    made.apply([taken(), replace(token(1, 1, b"<think>\nhm</think>yes"), parts=parts), finished(3)])
    assert [message.content for message in made.ask("two").messages] == ["one", "yes", "two"]


@pytest.mark.parametrize("kind", ["reasoning", "channel"])
def test_a_turn_without_an_answer_is_not_given_back(kind: Kind) -> None:
    made = session()
    made.ask("one")
    made.apply([taken(), replace(token(1, 1, b"hm"), parts=(Part(1, kind, 2),)), finished(3)])
    assert [message.content for message in made.ask("two").messages] == ["two"]


def test_half_a_character_waits_and_ends_as_a_replacement() -> None:
    made = session()
    made.ask("one")
    changes = made.apply([taken(), token(1, 1, b"\xf0"), token(2, 2, b"\x9f\xa6"), token(3, 3, b"\x99")])
    assert [(piece.index, piece.text) for piece in changes.pieces] == [(3, "🦙")]
    changes = made.apply([token(4, 4, b"\xf0"), finished(5)])
    assert [piece.text for piece in changes.pieces] == ["�"]


def test_requests_ask_for_probabilities_while_they_are_looked_at() -> None:
    made = session()
    assert not made.ask("one").probabilities
    made.probabilities = True
    assert made.ask("two").probabilities


def test_asking_again_forgets_the_answer_and_keeps_what_came_before() -> None:
    made = session()
    assert made.ask_again() is None
    made.ask("one")
    made.apply([*answer([b"first"]), finished(200 * MS)])
    request = made.ask_again()
    assert request is not None
    assert request.messages == (Message("user", "one"),)
    assert made.answer_text == ""


def test_taking_back_removes_the_turn() -> None:
    made = session()
    assert made.take_back() is None
    made.ask("one")
    made.apply([*answer([b"first"]), finished(200 * MS)])
    assert made.take_back() == "one"
    assert made.turns == []
    assert made.phase is Phase.READY


def test_a_failed_generation_keeps_its_text_and_the_engine() -> None:
    made = session()
    made.ask("one")
    changes = made.apply([*answer([b"par"]), Failed(t=300 * MS, stage="generate", what="Out of memory.")])
    assert made.phase is Phase.FAILED
    assert isinstance(changes.ended, Failed)
    assert made.answer_text == "par"
    made.ask("two")
    assert made.failure is None


def test_an_engine_that_dies_idle_ends_no_generation() -> None:
    made = session()
    changes = made.apply([Failed(t=1, stage="engine", what="Killed.")])
    assert changes.ended is None
    assert made.phase is Phase.GONE
    made.clear()
    assert made.failure is not None
    made.engine_started()
    assert made.starting
    assert made.failure is None


def test_raw_prompts_are_sent_as_they_stand() -> None:
    assert session(raw=True).ask("Once upon").prompt == "Once upon"
    without_template = Session(sampling=Sampling())
    without_template.apply([ready(template="")])
    assert without_template.ask("Once upon").prompt == "Once upon"


def test_tokens_without_a_request_are_not_taken_in() -> None:
    made = session()
    assert made.apply([token(1, 1, b"late")]).pieces == []
    assert made.phase is Phase.READY


def test_changed_settings_hold_from_the_next_request_on() -> None:
    made = session(system="old")
    made.ask("one")
    made.apply([*answer([b"first"]), finished(200 * MS)])
    made.configure(sampling=Sampling(seed=7), max_tokens=5, stop=("END",), system="new")
    again = made.ask_again()
    assert again is not None
    assert (again.sampling.seed, again.max_tokens, again.stop) == (7, 5, ("END",))
    assert again.messages == (Message("system", "new"), Message("user", "one"))
    made.configure(sampling=Sampling(), max_tokens=-1, stop=(), system=None)
    assert made.ask("two").messages == (Message("user", "two"),)


def test_without_a_model_it_waits_for_the_choice() -> None:
    made = Session(sampling=Sampling())
    made.choosing()
    assert made.phase is Phase.CHOOSING
    assert not made.busy
    assert not made.starting
    made.clear()
    assert made.phase is Phase.CHOOSING


def test_a_chosen_model_is_loaded() -> None:
    made = Session(sampling=Sampling())
    made.choosing()
    made.engine_started()
    assert made.phase is Phase.LOADING


def test_nothing_is_in_the_context_of_another_engine() -> None:
    made = session()
    made.ask("one")
    made.apply([*answer([b"first"]), finished(200 * MS)])
    assert made.context_used == 101
    made.engine_started()
    assert made.context_used == 0
    made.apply([ready()])
    made.ask("two")
    assert made.context_used == 0
    made.apply([taken(), prompt(10 * MS, 50), progress(20 * MS, 50, 50)])
    assert made.context_used == 50


def test_the_bandwidth_of_other_threads_is_none_of_this_models() -> None:
    made = session()
    made.measured(5e9, 2)
    assert made.bandwidth == 5e9
    made.engine_started()
    made.apply([msgspec.structs.replace(ready(), threads=1)])
    assert made.bandwidth is None
    made.measured(5e9, 2)  # a measurement that was under way
    assert made.bandwidth is None
    made.measured(4e9, 1)
    assert made.bandwidth == 4e9
