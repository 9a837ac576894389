"""The signing key and the epoch in the data folder."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from adapters.receipts.keys import KeyProblem, PublicKey, SigningKey, load_epoch, load_signing_key
from core.receipts import key_id
from tests.receipts.samples import KEY, accepted, receipt
from tests.support.servers import ROOT

_STARTING = """
import sys
from pathlib import Path
from adapters.receipts.keys import load_epoch, load_signing_key
print("ready", flush=True)
sys.stdin.readline()
for folder in sys.argv[1:]:
    print(load_signing_key(Path(folder)).kid, load_epoch(Path(folder)), flush=True)
"""


def test_the_first_call_makes_the_key_and_every_other_finds_it(data_dir: Path) -> None:
    first, second = load_signing_key(data_dir), load_signing_key(data_dir)

    assert first.public == second.public
    assert accepted(receipt(by=first), (second,)) is not None
    content = (data_dir / "signing-key.pem").read_bytes()
    assert content.startswith(b"-----BEGIN PRIVATE KEY-----")
    assert load_pem_private_key(content, None).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    assert [path.name for path in data_dir.iterdir()] == ["signing-key.pem"]


def test_the_key_is_for_its_owner_alone_whatever_the_umask(data_dir: Path) -> None:
    before = os.umask(0)
    try:
        load_signing_key(data_dir)
    finally:
        os.umask(before)

    assert stat.S_IMODE((data_dir / "signing-key.pem").stat().st_mode) == 0o600
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700


def test_processes_that_start_at_once_share_one_key_and_one_epoch(tmp_path: Path) -> None:
    folders = [tmp_path / f"data-{number}" for number in range(25)]
    command = [sys.executable, "-c", _STARTING, *map(str, folders)]
    starting = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in starting:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in starting:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0].splitlines() for process in starting]

    assert said[0] == said[1] == said[2] == said[3]
    assert len(set(said[0])) == len(folders)
    assert {tuple(sorted(path.name for path in folder.iterdir())) for folder in folders} == {
        ("epoch", "signing-key.pem")
    }


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o666, 0o602])
def test_a_key_that_others_can_reach_is_refused(data_dir: Path, mode: int) -> None:
    load_signing_key(data_dir)
    (data_dir / "signing-key.pem").chmod(mode)

    with pytest.raises(KeyProblem, match=f"(?s)signing-key.pem .mode {mode:04o}.*chmod 600"):
        load_signing_key(data_dir)


_RSA = generate_private_key(65537, 2048)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        KEY.pem()[:-40],
        KEY.public.pem.encode(),
        _RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        _RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")),
        bytes(range(256)) * 100,
    ],
    ids=["empty", "webhook secret", "damaged", "cut off", "public", "RSA", "with a password", "binary"],
)
def test_a_file_that_is_no_signing_key_is_refused_and_left_alone(data_dir: Path, content: bytes) -> None:
    data_dir.mkdir()
    path = data_dir / "signing-key.pem"
    path.touch(0o600)
    path.write_bytes(content)

    with pytest.raises(KeyProblem, match="is not an Ed25519 private key as PEM"):
        load_signing_key(data_dir)
    assert path.read_bytes() == content


def test_what_is_no_file_is_refused_without_waiting(data_dir: Path) -> None:
    data_dir.mkdir()
    path = data_dir / "signing-key.pem"
    os.mkfifo(path, 0o600)
    with pytest.raises(KeyProblem, match="should be a file"):
        load_signing_key(data_dir)
    path.unlink()
    path.mkdir()
    with pytest.raises(KeyProblem, match=r"should be a file|directory"):
        load_signing_key(data_dir)
    path.rmdir()
    path.symlink_to(data_dir / "gone")
    with pytest.raises(KeyProblem, match="can neither be read nor made: No such file"):
        load_signing_key(data_dir)
    assert [entry.name for entry in data_dir.iterdir()] == ["signing-key.pem"]


def test_a_data_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(KeyProblem, match="can neither be read nor made: Not a directory"):
        load_signing_key(tmp_path / "data")


def test_the_public_key_in_its_forms() -> None:
    public = KEY.public

    assert public == PublicKey(load_pem_public_key(public.pem.encode()).public_bytes_raw())  # type: ignore[union-attr]
    assert public.text == "hrpk_iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"
    assert KEY.kid == public.kid == key_id(public.raw) == "k_34750f98bd59fcfc"


def test_a_signing_key_does_not_show_itself() -> None:
    secret = SigningKey.generate()

    assert "PRIVATE" not in repr(secret) + str(vars(secret))


def test_the_epoch_is_made_once(data_dir: Path) -> None:
    first = load_epoch(data_dir)

    assert load_epoch(data_dir) == first
    (data_dir / "epoch").write_text("e_after-restore\n")
    assert load_epoch(data_dir) == "e_after-restore"


@pytest.mark.parametrize("content", [b"", b"short", b"two words here", b"e_\xff\xff\xff\xff\xff\xff\xff", b"e" * 65])
def test_an_epoch_that_is_none_is_refused(data_dir: Path, content: bytes) -> None:
    data_dir.mkdir()
    (data_dir / "epoch").write_bytes(content)

    with pytest.raises(KeyProblem, match="should hold one word"):
        load_epoch(data_dir)
