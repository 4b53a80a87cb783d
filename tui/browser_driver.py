"""Textual's driver for a page in a browser, with what our screens ask of a way for frames."""

import os
from typing import TYPE_CHECKING, Any

from textual._ansi_sequences import SYNC_END, SYNC_START
from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver, _ExitInput
from textual.events import AppFocus

from .output import Traffic
from .typed import Typed

if TYPE_CHECKING:
    from textual.app import App


_TYPED = "D"
"""The kind of a packet that carries keys, unlike those about the page."""


class BrowserDriver(WebDriver):
    """Counts the frames, hands each over in one piece, and ends the app when the server has gone."""

    def __init__(self, app: "App[Any]", **settings: Any) -> None:
        super().__init__(app, **settings)
        self._traffic: Traffic = getattr(app, "traffic", None) or Traffic()
        self._open_frame: list[str] = []
        self._write = self._write_all  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        """Begin, in focus: Textual has it wait for the page's word, without which nothing takes the first keys."""
        super().start_application_mode()
        self._app.call_later(self._begin_in_focus)

    def _begin_in_focus(self) -> None:
        self._app.post_message(AppFocus())
        self._app.call_later(self._focus_first)

    def _focus_first(self) -> None:
        if self._app.screen_stack:
            self._app.screen._update_auto_focus()

    def write(self, data: str) -> None:
        """Hand a frame over, with what makes it one update in one piece."""
        if data == SYNC_START or self._open_frame:
            self._open_frame.append(data)
            if data != SYNC_END:
                return
            data = "".join(self._open_frame)
            self._open_frame.clear()
        self._traffic.handing_over()
        self._traffic.waits()
        super().write(data)
        self._traffic.goes_on()
        self._traffic.taken(len(data.encode()))

    def run_input_thread(self) -> None:
        """Read keys, as on a terminal; if the input ends while the app runs, end the app: nobody else could."""
        typed, packets = Typed(debug=self._debug), ByteStream()
        try:
            for data in self._input_reader:
                for kind, payload in packets.feed(data) if data else [(_TYPED, b"")]:
                    if kind == _TYPED:
                        for message in typed.feed(payload):
                            self.process_message(message)
                    else:
                        self._on_meta(kind, payload)
        except _ExitInput:
            pass  # the server has reported it
        finally:
            self._input_reader.close()
            loop = self._app._loop
            if not self.exit_event.is_set() and loop is not None:
                loop.call_soon_threadsafe(self._app.exit)

    def _write_all(self, data: bytes) -> int:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.fileno, rest) :]
        except BrokenPipeError:
            return 0  # the server has gone: the keys end too, and with them the app
        return len(data)
