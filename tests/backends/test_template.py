"""Chat templates as models bring them."""

import datetime
import os
from pathlib import Path

import pytest

from decodescope.backends.engine import EngineError
from decodescope.backends.llama.template import ChatTemplate
from decodescope.backends.requests import Message

USER = Message("user", "hi")
CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe helpful<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
ALTERNATING = """{{ bos_token }}
{%- for message in messages %}
    {%- if message.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
    {%- endif %}
    {%- if message.role == 'user' %}[INST] {{ message.content }} [/INST]
    {%- else %}{{ message.content ~ eos_token }}{% endif %}
{%- endfor %}"""


def noon() -> datetime.datetime:
    return datetime.datetime(2025, 3, 9, 12, 30)


def render(source: str, *messages: Message) -> str:
    return ChatTemplate(source, "<s>", "</s>", noon).render(messages or (USER,))


def refusal(source: str, *messages: Message) -> EngineError:
    template = ChatTemplate(source, "<s>", "</s>", noon)
    with pytest.raises(EngineError) as caught:
        template.render(messages or (USER,))
    return caught.value


def test_a_conversation_ends_where_the_answer_begins() -> None:
    assert render(CHATML, Message("system", "Brief."), USER, Message("assistant", "Hello"), Message("user", "Bye")) == (
        "<|im_start|>system\nBrief.<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
        "<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_may_bring_its_own_system_message() -> None:
    assert render(CHATML).startswith("<|im_start|>system\nBe helpful<|im_end|>\n<|im_start|>user\nhi")


def test_bos_and_eos_are_what_the_template_writes() -> None:
    # One BOS for each time that the template asks; that the prompt has exactly one is the tokenizer's matter.
    assert render(ALTERNATING) == "<s>[INST] hi [/INST]"
    assert render("{{bos_token}}{{ bos_token }}x{{ eos_token }}") == "<s><s>x</s>"
    assert ChatTemplate("{{ bos_token }}x", "", "").render((USER,)) == "x"


class TestRefusals:
    def test_a_system_role_that_is_not_supported(self) -> None:
        error = refusal(ALTERNATING, Message("system", "Brief."), USER)
        assert "refuses" in error.what
        assert error.reason == "System role not supported"
        assert "--raw" in error.remedy

    def test_two_user_turns_in_a_row(self) -> None:
        error = refusal(ALTERNATING, USER, USER)
        assert error.reason.startswith("Conversation roles must alternate")

    def test_the_template_is_usable_after_a_refusal(self) -> None:
        template = ChatTemplate(ALTERNATING, "<s>", "</s>")
        with pytest.raises(EngineError):
            template.render((USER, USER))
        assert template.render((USER,)) == "<s>[INST] hi [/INST]"

    @pytest.mark.parametrize("source", ["{% for %}", "{{ 1 +", "{% if x %}", "{% frobnicate %}", "{{ x | nothing }}"])
    def test_what_is_not_jinja(self, source: str) -> None:
        with pytest.raises(EngineError) as caught:
            ChatTemplate(source, "", "")
        assert "not valid Jinja" in caught.value.what
        assert caught.value.reason
        assert "--raw" in caught.value.remedy

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            ("{{ 1 / 0 }}", "ZeroDivisionError"),
            ("{{ 'x' + 1 }}", "TypeError"),
            ("{{ messages[9].content }}", "UndefinedError"),
            ("{{ nothing() }}", "'nothing' is undefined"),
            ("{{ messages[0].content.index('zz') }}", "ValueError"),
            ("{% for i in range(10000000) %}{% endfor %}", "OverflowError"),
            ("{% include 'other' %}", "TypeError"),
            ("{{ messages | tojson(unheard_of=1) }}", "TypeError"),
        ],
    )
    def test_what_fails_while_rendering(self, source: str, reason: str) -> None:
        error = refusal(source)
        assert "failed" in error.what
        assert reason in error.reason

    @pytest.mark.parametrize("source", ["{% break %}", "{% for i in [1] %}" * 25 + "{% endfor %}" * 25])
    def test_what_jinja_accepts_and_python_does_not(self, source: str) -> None:
        with pytest.raises(EngineError):
            ChatTemplate(source, "", "")

    @pytest.mark.parametrize("source", ["{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{{ 'a' * 10**17 }}"])
    def test_what_asks_for_too_much(self, source: str) -> None:
        refusal(source)


class TestSandbox:
    @pytest.mark.parametrize(
        "source",
        [
            "{{ ''.__class__.__mro__ }}",
            "{{ ''.__class__.__base__.__subclasses__() }}",
            "{{ messages.__init__.__globals__ }}",
            "{{ raise_exception.__globals__['json'] }}",
            "{{ strftime_now.__code__.co_consts }}",
            "{{ (messages | attr('__class__')).__mro__ }}",
            "{{ '{0.__class__.__mro__}'.format(messages) }}",
        ],
    )
    def test_nothing_of_python_can_be_reached(self, source: str) -> None:
        assert "SecurityError" in refusal(source).reason

    @pytest.mark.parametrize(
        "source",
        ["{% set _ = messages.append(1) %}", "{% set _ = messages.clear() %}", "{% set _ = messages[0].pop('role') %}"],
    )
    def test_the_conversation_cannot_be_changed(self, source: str) -> None:
        assert "SecurityError" in refusal(source).reason

    def test_what_people_write_is_never_a_template(self) -> None:
        message = Message("user", "{{ 7 * 7 }}{% raw %}<&>{# x #}")
        assert render("{{ messages[0].content }}", message) == message.content


class TestFunctions:
    def test_strftime_now_is_the_clock_s(self) -> None:
        assert render("Today: {{ strftime_now('%d %b %Y') }}") == "Today: 09 Mar 2025"
        assert render("{% if strftime_now is defined %}{{ strftime_now('%Y-%m-%d %H:%M') }}{% endif %}") == (
            "2025-03-09 12:30"
        )

    def test_the_clock_is_asked_at_every_rendering(self) -> None:
        days = iter([noon(), noon() + datetime.timedelta(days=1)])
        template = ChatTemplate("{{ strftime_now('%d') }}", "", "", lambda: next(days))
        assert [template.render((USER,)), template.render((USER,))] == ["09", "10"]

    def test_tojson_leaves_html_and_letters_alone(self) -> None:
        message = Message("user", "<b>&'é\"🦙")
        assert render("{{ messages[0] | tojson }}", message) == (
            '{"role": "user", "content": "<b>&\'é\\"🦙"}'  # no \u003c, no \u00e9
        )

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("{{ {'b': 1, 'a': [true, none]} | tojson }}", '{"b": 1, "a": [true, null]}'),
            ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }}", '{"a": 2, "b": 1}'),
            ("{{ {'a': 1} | tojson(indent=2) }}", '{\n  "a": 1\n}'),
            ("{{ [1, 2] | tojson(separators=(',', ':')) }}", "[1,2]"),
            ("{{ 'é' | tojson(ensure_ascii=true) }}", '"\\u00e9"'),
        ],
    )
    def test_tojson_takes_the_options_that_templates_give(self, source: str, expected: str) -> None:
        assert render(source) == expected

    def test_generation_marks_are_their_content(self) -> None:
        source = "{% for m in messages %}{% generation %}{{ m.content }}{% set x = 1 %}{% endgeneration %};{% endfor %}"
        assert render(source, USER, USER) == "hi;hi;"

    def test_loop_controls(self) -> None:
        source = (
            "{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}"
            "{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}"
        )
        assert render(source) == "023"

    def test_namespaces_and_macros(self) -> None:
        source = (
            "{% set ns = namespace(n=0) %}{% macro f(x) %}<{{ x }}>{% endmacro %}"
            "{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ f(ns.n) }}"
        )
        assert render(source, USER, USER, USER) == "<3>"

    def test_methods_of_strings_that_templates_use(self) -> None:
        message = Message("assistant", "<think>hm</think>\n Yes ")
        source = "{{ messages[0].content.split('</think>')[-1].strip() }}{{ messages[0]['content'].startswith('<th') }}"
        assert render(source, message) == "YesTrue"


class TestUndefined:
    def test_an_unknown_name_is_empty_and_can_be_asked_for(self) -> None:
        assert render("[{{ nothing }}]{% if nothing %}x{% endif %}{{ nothing is defined }}") == "[]False"

    def test_an_unknown_key_of_a_message_is_empty(self) -> None:
        assert render("[{{ messages[0].tool_calls }}{{ messages[0]['name'] }}]") == "[]"
        assert render("{% if 'tool_calls' not in messages[0] %}plain{% endif %}") == "plain"

    def test_no_tools_and_no_documents_are_undefined(self) -> None:
        source = "{% if tools is not defined %}a{% endif %}{% if not documents %}b{% endif %}{{ tools | length }}"
        assert render(source) == "ab0"
        assert render("{% for tool in tools %}{{ tool.name }}{% endfor %}") == ""

    def test_what_is_missing_is_empty_where_it_is_added_to_a_text(self) -> None:
        assert render("{{ 'a' + functions + '\n' + datetime + '.' }}{{ functions + 'b' }}{{ 'c' ~ nothing }}") == (
            "a\n.bc"
        )
        assert "UndefinedError" in refusal("{{ functions + 1 }}").reason
        assert "SecurityError" in refusal("{{ 'a' + messages.__class__ }}").reason

    def test_a_default_for_what_is_missing(self) -> None:
        assert render("{{ enable_thinking | default(true) }}") == "True"


def test_blocks_leave_no_white_space_behind() -> None:
    # As apply_chat_template does: trim_blocks and lstrip_blocks.
    assert render("a\n  {% if true %}\nb\n  {% endif %}\nc") == "a\nb\nc"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (CHATML, "ChatML"),
        (ALTERNATING, "Mistral"),
        ("<|start_header_id|>", "Llama 3"),
        ("<start_of_turn>", "Gemma"),
        ("<|channel|>", "Harmony"),
        ("<｜User｜>", "DeepSeek"),
        ("<|user|>", "Zephyr"),
        ("{{ messages[0].content }}", "custom"),
    ],
)
def test_the_template_in_use_is_named(source: str, name: str) -> None:
    assert ChatTemplate(source, "", "").name == name


_FOLDER = os.environ.get("LLAMA_CPP_TEMPLATES")
LLAMA_CPP_TEMPLATES = sorted(Path(_FOLDER).glob("*.jinja")) if _FOLDER else []


@pytest.mark.skipif(not LLAMA_CPP_TEMPLATES, reason="LLAMA_CPP_TEMPLATES does not name llama.cpp's models/templates")
@pytest.mark.parametrize(
    "messages",
    [(USER,), (Message("system", "Brief. 🦙"), USER), (USER, Message("assistant", "Hello"), Message("user", "Bye"))],
    ids=["user", "system", "follow-up"],
)
def test_every_template_of_llama_cpp_renders_or_refuses_by_itself(messages: tuple[Message, ...]) -> None:
    """``models/templates`` in llama.cpp's source, which the sdist of llama-cpp-python holds."""
    failed = {}
    for path in LLAMA_CPP_TEMPLATES:
        template = ChatTemplate(path.read_text(encoding="utf-8"), "<s>", "</s>", noon)
        try:
            assert messages[-1].content in template.render(messages), path.name
        except EngineError as error:
            if "refuses" not in error.what:
                failed[path.name] = error.reason
    assert not failed
