"""The page: as a file, and in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from decodescope.backends.events import Finished, Token
from decodescope.backends.token_facts import Part
from decodescope.traces.exports.page import as_html
from decodescope.tui.conversation.legend import Computed, legend
from decodescope.tui.lens import Lens

from ...browser import Browser, found
from ...tui.fakes import MS, answer, finished, ready, token
from .recorded import HOSTILE, SLOW, exported, quiet_then_disturbed

BROWSER = found()
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here (CHROMIUM=… names one)")


def test_nothing_from_outside_is_markup(tmp_path: Path) -> None:
    text = as_html(exported(tmp_path))
    assert text.count("</script>") == 2
    assert text.count("<script") == 2
    assert HOSTILE not in text
    assert "<b>" not in text.split("<main>")[0]
    assert not any(ord(character) < 32 for character in text.replace("\n", ""))
    text.encode()


def test_nothing_is_loaded_from_elsewhere(tmp_path: Path) -> None:
    text = as_html(exported(tmp_path))
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert not re.findall(r"(?:https?:)?//[\w.]+", text.split('<script type="application/json"')[0])
    assert not re.findall(r"\b(?:src|href|action)=", text)


def test_the_data_is_json(tmp_path: Path) -> None:
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', as_html(exported(tmp_path)))
    first, second = json.loads(data)
    assert len(first["text"]) == len(first["gap"]) == len(first["pace"]) == 40
    # A half character belongs to the token that completes it.
    assert first["text"][4:6] == ["", "🦙"]
    assert list(first["why"]) == ["0", str(SLOW - 1)]
    assert second["likely"] is False
    assert "top" not in second


def test_reasoning_and_channels_stand_apart_from_the_answer(tmp_path: Path) -> None:
    mixed = (Part(1, "reasoning", 2), Part(1, "control", 8), Part(1, "answer", 1))
    events = [
        *(event for event in quiet_then_disturbed() if not isinstance(event, Token | Finished)),
        replace(token(2_430 * MS, 1, b"hm</think>a"), parts=mixed),
        token(2_440 * MS, 2, b"b"),
        replace(token(2_450 * MS, 3, b"{}"), parts=(Part(3, "channel", 2, "to <x>"),)),
        finished(2_460 * MS),
    ]
    (data,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', as_html(exported(tmp_path, events))
    )
    (only,) = json.loads(data)
    assert [text.strip() for text in only["text"]] == ["a", "b", ""]
    assert [text.strip() for text in only["aside"]] == ["hm", "", "to <x>: {}"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert BROWSER is not None
    with Browser(BROWSER, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(as_html(exported(tmp_path)), encoding="utf-8")
    browser.open(path)
    return path


def _shown(browser: Browser, selector: str) -> str:
    return str(browser.run(f"document.querySelector({selector!r}).innerText"))


def _drawn(browser: Browser) -> list[tuple[str, float, float, float]]:
    """Draw the plots again and return each text with its left and right end and how wide the plot is, in pixels."""
    browser.run(
        "window.labels = []; const one = CanvasRenderingContext2D.prototype, fill = one.fillText;"
        " one.fillText = function (text, x, y) { const cells = this.measureText(text).width;"
        " const left = x - cells * { right: 1, center: 0.5, left: 0, start: 0 }[this.textAlign];"
        " window.labels.push([text, left, left + cells, this.canvas.clientWidth]); fill.call(this, text, x, y); };"
        " window.dispatchEvent(new Event('resize'))"
    )
    return [tuple(one) for one in browser.run("window.labels")]


def _classes(browser: Browser, place: int) -> list[str]:
    return str(browser.run(f"document.querySelector('#text [data-place=\"{place}\"]').className")).split()


@needs_browser
def test_it_opens_by_itself(browser: Browser, page: Path) -> None:
    assert browser.asked_for == [page.as_uri()]
    assert browser.complaints == []
    text = _shown(browser, "#text")
    assert "</script>" in text
    assert "🦙" in text
    assert browser.run("document.querySelectorAll('script').length") == 2


@needs_browser
def test_the_policy_keeps_the_network_out(browser: Browser, page: Path) -> None:
    fetched = browser.run("fetch('data:text/plain,x').then(() => 'there', () => 'refused')")
    assert fetched == "refused"
    injected = (
        "(() => { const one = document.createElement('script'); one.textContent = 'window.run_ = 1';"
        " document.body.append(one); return typeof window.run_; })()"
    )
    assert browser.run(injected) == "undefined"


@needs_browser
def test_lenses(browser: Browser, page: Path) -> None:
    assert "d3" in _classes(browser, SLOW - 1)
    assert "lost" in _classes(browser, SLOW - 1)
    assert not any(name.startswith("d") for name in _classes(browser, 0))
    browser.run("document.querySelector('[data-lens=chance]').click()")
    # e^-1.7 is below 20 %, e^-3.1 below 5 %, e^-1.6 above 20 %
    assert "d1" in _classes(browser, 16)
    assert "d2" in _classes(browser, 30)
    assert not any(name.startswith("d") for name in _classes(browser, 15))
    assert _shown(browser, "#legend").startswith("less likely < 20 %")
    browser.run("document.querySelector('[data-lens=entropy]').click()")
    assert browser.run("document.querySelectorAll('#text .d1, #text .d2, #text .d3').length") == 0


@needs_browser
def test_a_token_is_picked_by_keys_and_by_clicks(browser: Browser, page: Path) -> None:
    browser.run(f"document.querySelector('#text [data-place=\"{SLOW - 1}\"]').click()")
    assert "pre-empted 37 times" in _shown(browser, "#token")
    for _ in range(2):  # the first of them is half a character, which shows nothing by itself
        browser.run(
            "document.querySelector('#text')"
            ".dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"
        )
    assert _shown(browser, "#token").startswith(f"#{SLOW + 2} ")
    assert "picked" in _classes(browser, SLOW + 1)
    assert "picked" not in _classes(browser, SLOW - 1)


@needs_browser
def test_the_table(browser: Browser, page: Path) -> None:
    assert browser.run("document.querySelectorAll('#rows tr').length") == 40
    browser.run("document.querySelector('#disturbed').click()")
    assert browser.run("document.querySelectorAll('#rows tr').length") == 1
    assert "pre-empted 37 times" in _shown(browser, "#rows")


@needs_browser
def test_the_plots_are_drawn_and_can_be_looked_into(browser: Browser, page: Path) -> None:
    inked = (
        "(id => { const one = document.getElementById(id), all = one.getContext('2d')"
        ".getImageData(0, 0, one.width, one.height).data; let sum = 0; for (const byte of all) sum += byte;"
        " return sum; })"
    )
    whole = browser.run(f"{inked}('gaps')")
    assert whole > 0
    assert browser.run(f"{inked}('often')") > 0
    assert browser.run(f"{inked}('read')") > 0
    drag = (
        "for (const [kind, x] of [['pointerdown', 100], ['pointermove', 300], ['pointerup', 300]]) {"
        " const box = document.getElementById('gaps').getBoundingClientRect(); const event ="
        " new PointerEvent(kind, {clientX: box.left + x, clientY: box.top + 50, pointerId: 1, bubbles: true});"
        " document.getElementById('gaps').setPointerCapture = () => {};"
        " document.getElementById('gaps').dispatchEvent(event); }"
    )
    browser.run(drag)
    closer = browser.run(f"{inked}('gaps')")
    assert closer != whole
    browser.run("document.querySelector('#whole').click()")
    assert browser.run(f"{inked}('gaps')") == whole
    assert browser.complaints == []


@needs_browser
def test_the_labels_beside_the_plots_are_whole(browser: Browser, tmp_path: Path) -> None:
    """A token waits 12 s, so that the axis goes to thousands of ms."""
    events = [
        replace(event, t=event.t + 12_000 * MS) if event.t > 2_600 * MS else event for event in quiet_then_disturbed()
    ]
    path = tmp_path / "page.html"
    path.write_text(as_html(exported(tmp_path, events)), encoding="utf-8")
    browser.open(path)
    labels = _drawn(browser)
    assert "10,000 ms" in [text for text, _, _, _ in labels]
    assert all(left >= 0 and right <= width for _, left, right, width in labels)
    assert {"time of a token (ITL)", "tokens", "since reading began"} <= {text for text, _, _, _ in labels}


@needs_browser
@pytest.mark.parametrize(("factor", "outside"), [(1.4, False), (3, True)])
def test_only_far_values_are_left_outside(browser: Browser, tmp_path: Path, factor: float, outside: bool) -> None:
    """29 gaps of 10 ms, and one that is somewhat or much longer."""
    events = answer([b" a"] * 30, gap=10 * MS)
    last = replace(events[-1], t=events[-1].t + round((factor - 1) * 10 * MS))
    path = tmp_path / "page.html"
    path.write_text(as_html(exported(tmp_path, [ready(), *events[:-1], last, finished(last.t)])), encoding="utf-8")
    browser.open(path)
    assert any("beyond" in text for text, _, _, _ in _drawn(browser)) is outside
    # These events hold no probabilities, which is said.
    assert "not in this recording" in _shown(browser, "#legend")


@needs_browser
def test_no_room_is_kept_for_a_token_before_one_is_picked(browser: Browser, page: Path) -> None:
    height = "document.querySelector('#token').offsetHeight"
    assert browser.run(height) == 0
    browser.run(f"document.querySelector('#text [data-place=\"{SLOW - 1}\"]').click()")
    assert browser.run(height) > 40


@needs_browser
def test_the_words_are_those_of_the_screen(browser: Browser, page: Path) -> None:
    for button, lens in (("time", Lens.TIME), ("chance", Lens.PROBABILITY), ("entropy", Lens.ENTROPY)):
        browser.run(f"document.querySelector('[data-lens={button}]').click()")
        told = legend(lens, 200, Computed.without_notes()).plain
        assert _shown(browser, "#legend").split() == told.split()
    assert _shown(browser, "#turns").splitlines() == ["you", "Why?"]


@needs_browser
def test_another_generation(browser: Browser, page: Path) -> None:
    browser.run("document.querySelectorAll('#generations button')[1].click()")
    assert _shown(browser, "#text") == "no"
    assert "someone" in _shown(browser, "#turns")
    assert browser.run("document.querySelector('[data-lens=chance]').disabled") is True
    assert browser.run("document.querySelector('#generation-1').hidden") is True
    assert browser.run("document.querySelectorAll('#turns b').length") == 1
    assert browser.complaints == []


@needs_browser
def test_light_and_dark(browser: Browser, page: Path) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        browser.open(page)
        assert browser.picture().startswith(b"\x89PNG")
        grounds.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 23, 28)"]


@needs_browser
def test_without_text(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(as_html(exported(tmp_path, quiet_then_disturbed(), text=False)), encoding="utf-8")
    browser.open(path)
    assert _shown(browser, "#text") == "The recording was made without text."
    assert browser.run("document.querySelectorAll('#rows tr').length") == 40
    assert browser.complaints == []
