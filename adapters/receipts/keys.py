"""The instance's signing key and its epoch, each a file in the data folder that the first start makes."""

import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from core.receipts import base64url, key_id

KEY_FILE = "signing-key.pem"
EPOCH_FILE = "epoch"

_EPOCH = re.compile(rb"[A-Za-z0-9_-]{8,64}")
_MOST_BYTES = 10_000


class KeyProblem(Exception):
    """A file in the data folder that the operator has to put right; the message says which and how."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The half that deployers hold."""

    raw: bytes

    @property
    def kid(self) -> str:
        return key_id(self.raw)

    @property
    def text(self) -> str:
        return "hrpk_" + base64url(self.raw)

    @property
    def pem(self) -> str:
        key = Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")

    def verifies(self, message: bytes, signature: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """The half that stays on the server; the `Signer` of the core."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = PublicKey(private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    @classmethod
    def generate(cls) -> Self:
        return cls(Ed25519PrivateKey.generate())

    @property
    def kid(self) -> str:
        return self.public.kid

    def sign(self, message: bytes) -> bytes:
        return self._private.sign(message)

    def pem(self) -> bytes:
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def load_signing_key(data_dir: Path) -> SigningKey:
    """The instance's key; the first call makes it. Processes that start at once all get the same one."""
    path = data_dir / KEY_FILE
    content = _kept(path, lambda: SigningKey.generate().pem(), secret=True)
    try:
        private = load_pem_private_key(content, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyProblem(
            f"The signing key {path} is not an Ed25519 private key as PEM (PKCS8, no password). Put the right file "
            "back, or move this one away and the next start makes a new key."
        )
    return SigningKey(private)


def load_epoch(data_dir: Path) -> str:
    """Which life of this instance it is. A restored backup begins a new one, so that old receipts can be told apart."""
    path = data_dir / EPOCH_FILE
    content = _kept(path, lambda: b"e_" + secrets.token_hex(10).encode("ascii") + b"\n").strip()
    if not _EPOCH.fullmatch(content):
        raise KeyProblem(
            f"The file {path} should hold one word of 8 to 64 letters, digits, _ or -. Put the right file back, or "
            "move this one away and the next start begins a new epoch."
        )
    return content.decode("ascii")


def _kept(path: Path, fresh: Callable[[], bytes], *, secret: bool = False) -> bytes:
    """What the file holds. Whoever comes first makes it, whole or not at all, and everybody reads that one."""
    try:
        try:
            return _read(path, secret)
        except FileNotFoundError:
            _publish(path, fresh())
            return _read(path, secret)
    except OSError as failure:
        raise KeyProblem(f"The file {path} can neither be read nor made: {failure.strerror}.") from None


def _read(path: Path, secret: bool) -> bytes:
    # Without O_NONBLOCK, a pipe in the file's place would hold up the start for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise KeyProblem(f"{path} should be a file.")
        if secret and mode & 0o077:
            raise KeyProblem(
                f"Others than its owner have access to {path} (mode {stat.S_IMODE(mode):04o}). Run chmod 600 on it; "
                "if somebody may have read it, move it away instead and the next start makes a new key."
            )
        return file.read(_MOST_BYTES)


def _publish(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):  # somebody else was first, and theirs counts
            os.link(draft, path)
    finally:
        draft.unlink()
    _settle(path.parent)


def _settle(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
