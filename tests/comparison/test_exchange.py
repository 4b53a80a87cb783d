"""The temporary file of distributions."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from decodescope.comparison.exchange import ExchangeFile, NoRoomError

MIB = 2**20


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.mark.parametrize("spooled", [False, True])
def test_only_its_owner_can_read_it_and_it_goes(folder: Path, spooled: bool) -> None:
    file = ExchangeFile(10, spooled=spooled)
    path = Path(os.fsdecode(file.path))
    assert path.parent == folder
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    file.close()
    file.close()
    assert list(folder.iterdir()) == []


def test_one_that_is_gone_already(folder: Path) -> None:
    file = ExchangeFile(10, spooled=False)
    os.unlink(file.path)
    file.close()


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_stays(folder: Path) -> None:
    code = "import os\nfrom decodescope.comparison.exchange import ExchangeFile\n"
    code += "kept = ExchangeFile(10, spooled=False)\nos.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(list(folder.iterdir())) == 1
    first, second = ExchangeFile(10, spooled=False), ExchangeFile(10, spooled=True)
    assert {os.fsencode(path) for path in folder.iterdir()} == {first.path, second.path}
    first.close()
    second.close()


def test_no_room_is_said_with_both_sizes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("decodescope.comparison.exchange._free", lambda folder: 3 * MIB)
    ExchangeFile(3 * MIB, spooled=False).close()
    with pytest.raises(NoRoomError) as refused:
        ExchangeFile(4 * MIB, spooled=False)
    assert str(refused.value).startswith(f"it needs 4.0 MiB for a temporary file, and {folder} has 3.0 MiB")


def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> tuple[int, str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(NoRoomError, match="cannot be written: Permission denied"):
        ExchangeFile(10, spooled=False)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="this platform cannot take room beforehand")
def test_a_limit_on_file_sizes_is_no_room(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:

    def refused(descriptor: int, offset: int, length: int) -> None:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr(os, "posix_fallocate", refused)
    with pytest.raises(NoRoomError, match="File too large"):
        ExchangeFile(1000, spooled=False)
    assert list(folder.iterdir()) == []
