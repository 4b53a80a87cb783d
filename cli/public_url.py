"""The address at which a proxy shows the page of ``serve``."""

import re
from urllib.parse import urlsplit

import click
import msgspec

_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?", re.ASCII)
_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._~-]+)*/?", re.ASCII)


class PublicUrl(msgspec.Struct, frozen=True):
    """The address of the page, as browsers write it."""

    origin: str
    """Scheme, name and, unless it is the scheme's own, port: what a browser sends as ``Origin``."""
    name: str
    """The name or address alone, without brackets."""
    path: str
    """Where the page is below the origin: empty, or with a slash in front and none behind."""

    def __str__(self) -> str:
        return f"{self.origin}{self.path}/"


def public_url(value: str) -> PublicUrl:
    """Return the parts of the address. Raises click.BadParameter for one that cannot be the page's."""
    try:
        parts = urlsplit(value)
        name, port = _ascii(parts.hostname or ""), parts.port
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a valid address: {error}.") from error
    if parts.scheme not in _PORTS:
        raise click.BadParameter(f"{value!r} does not begin with https:// or http://.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise click.BadParameter(f"{value!r} has more than a host, a port and a path.")
    if not (":" in name or _NAME.fullmatch(name)):
        raise click.BadParameter(f"{value!r} has no valid host name.")
    if not _PATH.fullmatch(parts.path):
        raise click.BadParameter(f"{value!r} has a path with characters other than letters, digits and . _ ~ -.")
    shown = f"[{name}]" if ":" in name else name
    explicit = "" if port is None or port == _PORTS[parts.scheme] else f":{port}"
    return PublicUrl(f"{parts.scheme}://{shown}{explicit}", name, parts.path.rstrip("/"))


def _ascii(name: str) -> str:
    """Raises ValueError for a name that is not valid."""
    return name if name.isascii() else name.encode("idna").decode("ascii")
