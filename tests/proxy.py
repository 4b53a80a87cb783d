"""A proxy that ends TLS in front of a server, as others put one there."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from .conftest import DEADLINE_SECONDS

OPENSSL = shutil.which("openssl")


def certificate(folder: Path, name: str) -> Path:
    """Make a certificate for ``name`` that nobody has signed; the file holds its key, too."""
    assert OPENSSL is not None
    path = folder / "certificate.pem"
    request = [OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run(
        [*request, "-addext", f"subjectAltName=DNS:{name}", "-keyout", str(path), "-out", str(folder / "public.pem")],
        check=True, capture_output=True, timeout=DEADLINE_SECONDS,
    )  # fmt: skip
    path.write_bytes(path.read_bytes() + (folder / "public.pem").read_bytes())
    return path


class Proxy:
    """Hands each connection's only request on to ``upstream``, with what proxies tell of the browser."""

    def __init__(self, certificate: Path, *, keeps_host: bool, takes_away: str = "", upgrades: bool = True) -> None:
        """``takes_away``: how paths begin that ``upstream`` sees without it; ``upgrades``: to WebSockets as well."""
        self.upstream = 0
        """The server's port, once there is one."""
        self._keeps_host = keeps_host
        self._takes_away = takes_away.encode()
        self._upgrades = upgrades
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._pass_on, "127.0.0.1", 0, ssl=self._context), self._loop
        ).result(DEADLINE_SECONDS)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(DEADLINE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(DEADLINE_SECONDS)
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _pass_on(self, browser: asyncio.StreamReader, to_browser: asyncio.StreamWriter) -> None:
        to_server: asyncio.StreamWriter | None = None
        with suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            head = await browser.readuntil(b"\r\n\r\n")
            server, to_server = await asyncio.open_connection("127.0.0.1", self.upstream)
            to_server.write(self._rewritten(head))
            both = [_copy(browser, to_server), _copy(server, to_browser)]
            await asyncio.wait(map(asyncio.ensure_future, both), return_when=asyncio.FIRST_COMPLETED)
        for writer in (to_browser, to_server):
            if writer is not None:
                writer.transport.abort()

    def _rewritten(self, head: bytes) -> bytes:
        request, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
        method, path, version = request.split(b" ")
        upgrades = self._upgrades and any(line.lower().startswith(b"upgrade:") for line in headers)
        kept = [line for line in headers if self._is_kept(line.split(b":")[0].lower(), upgrades=upgrades)]
        host = next(line for line in headers if line.lower().startswith(b"host:")).split(b":", 1)[1].strip()
        kept += [b"X-Forwarded-Proto: https", b"X-Forwarded-Host: " + host]
        kept += [] if self._keeps_host else [b"Host: 127.0.0.1:%d" % self.upstream]
        kept += [] if upgrades else [b"Connection: close"]
        return b"\r\n".join([b" ".join([method, path.removeprefix(self._takes_away), version]), *kept, b"", b""])

    def _is_kept(self, name: bytes, *, upgrades: bool) -> bool:
        dropped = {b"host": not self._keeps_host, b"connection": not upgrades, b"upgrade": not upgrades}
        return not dropped.get(name, False)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, ssl.SSLError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        await asyncio.sleep(0.2)  # what is written is yet to leave
