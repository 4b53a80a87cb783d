"""One rule for where a user's files belong, whoever asks."""

import os
import pwd
from pathlib import Path

import pytest

from decodescope.backends.bandwidth import cache_file
from decodescope.cli.config_file import config_path, read_config
from decodescope.models import lmstudio, places
from decodescope.models.quantized import quantized_folder
from decodescope.models.user_folders import expanded, home, oddities, own_folder
from decodescope.tui.history import default_path


@pytest.mark.parametrize("named", ["", "relative", ".", None])
def test_everything_agrees_on_where_home_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str | None) -> None:
    entry = pwd.struct_passwd(("user", "x", os.getuid(), 0, "", str(tmp_path), "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: entry)
    if named is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", named)
    hub, cache = places.huggingface_hub(), places.llama_cpp_cache()
    assert hub is not None
    assert cache is not None
    found = [
        home(), expanded("~"), expanded("~/a"), config_path(None), config_path("~/a"), default_path(), cache_file(),
        quantized_folder(), hub.folder, cache.folder, places.ollama_stores()[0].folder, lmstudio.folders()[0].folder,
    ]  # fmt: skip
    assert all(path is not None and path.is_relative_to(tmp_path) for path in found)
    assert [said.split()[0] for said in oddities()] == ["HOME"]
    assert str(tmp_path) in oddities()[0]


def test_a_user_without_a_home_gets_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME")
    assert home() is None
    assert own_folder("cache") is default_path() is cache_file() is quantized_folder() is None
    assert places.huggingface_hub() is places.llama_cpp_cache() is None
    assert lmstudio.folders() == []
    assert read_config(None).arguments == {}
    assert expanded("~/a") == Path("~/a")
    assert "no home" in oddities()[0]


def test_a_relative_variable_is_ignored_and_told(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    hub = places.huggingface_hub()
    assert hub is not None
    assert hub.folder.is_relative_to(home)
    assert [said.split()[0] for said in oddities()] == ["XDG_CACHE_HOME"]


def test_other_users_homes(home: Path) -> None:
    root = pwd.getpwuid(0)
    assert expanded(f"~{root.pw_name}/a") == Path(root.pw_dir, "a")
    assert expanded("~no-such-user/a") == Path("~no-such-user/a")
    assert expanded("~//a") == home / "a"
    assert expanded("a/~/b") == Path("a/~/b")
