"""The scope in a browser: a server that gives everyone who opens its page a process of their own."""

import asyncio
import ipaddress
import signal
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any

import jinja2
from aiohttp import WSCloseCode, web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from ..models.errors import shown
from .public_url import PublicUrl
from .streams import Messages

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_ASKED_SECONDS, _TOLD_SECONDS = 1.2, 0.4
"""What a scope has for ending when it is asked to, and then when it is told to."""
_FREE_SECONDS = 3.0
"""A page that is loaded again comes before its old scope has ended."""
_FONT_SIZE = 16
_HEADERS = {
    # Nothing from elsewhere; xterm.js makes style elements.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src {sockets}; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


_UNKNOWN = (
    "This page was opened at {address}, an address that serve does not know, so it cannot use the scope.\n"
    "If your proxy is at that address, start serve with: decodescope serve --public-url {url}\n"
)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _name(host: str) -> str:
    """Return the name or address in a ``Host``, without port and brackets."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name.removeprefix("[").removesuffix("]").lower()


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


class _Scope(AppService):
    """A process for one page."""

    def __init__(self, arguments: Sequence[str], websocket: web.WebSocketResponse, **further: Any) -> None:
        self._websocket = websocket
        self._arguments = arguments
        super().__init__("", write_bytes=self._send, write_str=websocket.send_str, close=self._closes, **further)
        self._messages = Messages()
        self._heard: asyncio.Task[None] | None = None

    async def stop(self) -> None:
        """End the process: ask it, tell it, kill it."""
        process = self._process
        if process is None:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_ASKED_SECONDS):
                await self.send_meta({"type": "quit"})
                await process.wait()
        for end in (process.terminate, process.kill):
            if process.returncode is None:
                end()
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _TOLD_SECONDS)
        for task in (self._task, self._heard):
            if task is not None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(task, _TOLD_SECONDS)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        # Without a shell, and away from the keys that end the server.
        self._process = process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = process.stdin
        assert process.stderr is not None
        self._heard = asyncio.create_task(self._pass_on(process.stderr))
        # textual-serve would print it to stdout as it is.
        process.stderr = asyncio.StreamReader()
        process.stderr.feed_eof()
        return process

    async def _pass_on(self, stderr: asyncio.StreamReader) -> None:
        said = (await stderr.read()).decode("utf-8", "replace").strip()
        if said:
            self._messages.say(said)

    async def _send(self, data: bytes) -> None:
        # What a scope still says when its page has gone is read all the same: it would wait for its reader.
        with suppress(ConnectionError):
            if not self._websocket.closed:
                await self._websocket.send_bytes(data)

    async def _closes(self) -> None:
        await self._websocket.close()


class ScopeServer(Server):
    """Serves the page, its parts and the connections to the scopes."""

    def __init__(self, arguments: Sequence[str], host: str, most: int, public: PublicUrl | None = None) -> None:
        """``arguments``: the command of a scope; ``most``: how many there may be at a time; ``public``: where else the
        page is."""
        super().__init__("", host=host)
        self._arguments = arguments
        self._places = asyncio.Semaphore(most)
        self._most = most
        self._open: set[web.WebSocketResponse] = set()
        self._known = {*_LOOPBACK_NAMES, host.lower(), socket.gethostname().lower()}
        self._public = public
        self._page = jinja2.Environment(autoescape=True).from_string(_part("serve.html"))

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._only_own_pages])
        # A proxy may take its path away or hand it on.
        for base in {"", self._public.path if self._public is not None else ""}:
            app.add_routes(
                [
                    *([web.get(base, self._handle_page)] if base else []),
                    web.get(f"{base}/", self._handle_page),
                    web.get(f"{base}/page.js", self._handle_script),
                    web.get(f"{base}/ws", self.handle_websocket),
                    web.static(f"{base}/static", self.statics_path),
                ]
            )
        app.on_shutdown.append(self.on_shutdown)
        return app

    async def on_shutdown(self, app: web.Application) -> None:
        """End all scopes."""
        for websocket in list(self._open):
            await websocket.close(code=WSCloseCode.GOING_AWAY)

    @web.middleware
    async def _only_own_pages(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Refuse other people's pages in the same browser: they can connect to this machine, and give it names.

        Anyone can send the headers that a proxy adds (``X-Forwarded-…``), so only ``--public-url`` is believed.
        """
        origin = request.headers.get("Origin")
        if not (self._is_own(request.host) or self._is_public(request.host)):
            raise web.HTTPForbidden(text=_UNKNOWN.format(address=shown(request.host, 100), url="https://NAME/PATH/"))
        if origin is not None and origin not in self._origins(request):
            raise web.HTTPForbidden(text=_UNKNOWN.format(address=shown(origin, 100), url="URL"))
        response: web.StreamResponse = await handler(request)
        return response

    def _origins(self, request: web.Request) -> list[str]:
        """Return the origins of our own pages from which this request may come."""
        own = [f"http://{request.host}"] if self._is_own(request.host) else []
        return own if self._public is None else [*own, self._public.origin]

    def _is_public(self, host: str) -> bool:
        return self._public is not None and _name(host) == self._public.name

    def _is_own(self, host: str) -> bool:
        name = _name(host)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._known or name.removesuffix(".local") in self._known
        return True

    async def _handle_page(self, request: web.Request) -> web.Response:
        size = min(max(to_int(request.query.get("fontsize", ""), _FONT_SIZE), 6), 72)
        origins = self._origins(request)
        sockets = " ".join(f"ws{origin.removeprefix('http')}" for origin in origins)
        headers = {name: value.format(sockets=sockets) for name, value in _HEADERS.items()}
        # Without a path of its own the page may be below a path that serve does not know; the page then says so.
        base = "" if self._public is None else f"{self._public.path}/"
        page = self._page.render(base=base, origins=" ".join(origins), public=self._public, font_size=size)
        return web.Response(text=page, content_type="text/html", headers=headers)

    async def _handle_script(self, request: web.Request) -> web.Response:
        return web.Response(text=_part("serve.js"), content_type="text/javascript")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Show a scope until its page or the scope itself is closed."""
        if "Origin" not in request.headers:
            raise web.HTTPForbidden(text="The page connects to the scope, nobody else.")
        websocket = web.WebSocketResponse(heartbeat=15)
        await websocket.prepare(request)
        self._open.add(websocket)
        try:
            async with asyncio.timeout(_FREE_SECONDS):
                await self._places.acquire()
        except TimeoutError:
            said = f"{self._most} scope{'s are' if self._most > 1 else ' is'} open already, and no more can be."
            await websocket.send_bytes(f"\x1b[2J\x1b[H{said}\r\nClose one, then load this page again.\r\n".encode())
            async for _ in websocket:
                pass
            self._open.discard(websocket)
            return websocket
        scope = _Scope(self._arguments, websocket, download_manager=self.download_manager)
        try:
            width, height = (min(max(to_int(request.query.get(name, ""), 80), 1), 1000) for name in ("width", "height"))
            await scope.start(width, height)
            await self._process_messages(websocket, scope)
        finally:
            await scope.stop()
            self._places.release()
            self._open.discard(websocket)
        return websocket


def serve(
    arguments: Sequence[str], host: str, port: int, most: int, messages: Messages, public: PublicUrl | None = None
) -> None:
    """Serve until a signal ends it. Raises OSError when the address cannot be had."""
    asyncio.run(_serve(ScopeServer(arguments, host, most, public), host, port, messages, public))


async def _serve(server: ScopeServer, host: str, port: int, messages: Messages, public: PublicUrl | None) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    runner = web.AppRunner(await server._make_app(), access_log=None, shutdown_timeout=3.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        named = f"[{host}]" if ":" in host else host
        behind = "" if public is None else f" and, through its proxy, at {public}"
        messages.say(f"The scope is at http://{named}:{runner.addresses[0][1]}/{behind} until Ctrl+C.")
        await ended.wait()
    finally:
        await runner.cleanup()
