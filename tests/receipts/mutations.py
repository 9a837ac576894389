"""Ten families of forgery, each an endless supply of receipts that nobody signed."""

import base64
import hashlib
import hmac
import json
import random
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from adapters.receipts.keys import SigningKey
from core.receipts import base64url
from tests.receipts.samples import KEY, key, payload_of, receipt, settled

#: The order of the group Ed25519 signs in: S and S + ORDER would pass for the same signature if nobody looked.
ORDER = 2**252 + 27742317777372353535851937790883648493

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_STRANGERS = [".", "=", " ", "\n", "\t", "\r", "\0", "+", "/", "~", "ä", "\u200b", "\uff21", "\ud800", "𝐀", "A", "_"]
_SECRET = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

Forge = Callable[[random.Random, str, str], str]


def forgeries(number: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Family, forged text and the genuine receipt it was made from."""
    chance = random.Random(seed)
    genuine = [
        receipt(settled(number=1)),
        receipt(settled(number=2, value=False)),
        receipt(settled(number=3, decided_digest="sha256:" + "ab" * 32)),
    ]
    for name, forge in islice(cycle(FAMILIES.items()), number):
        one, other = chance.sample(genuine, 2)
        yield name, forge(chance, one, other), one


def _bit_flip(chance: random.Random, one: str, other: str) -> str:
    data = bytearray(one.encode())
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return data.decode("latin-1")


def _decoded_bit_flip(chance: random.Random, one: str, other: str) -> str:
    segments = one.split(".")
    place = chance.choice([1, 2])
    data = bytearray(_decode(segments[place]))
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    segments[place] = base64url(bytes(data))
    return ".".join(segments)


def _insert(chance: random.Random, one: str, other: str) -> str:
    place = chance.choice([0, len(one), chance.randrange(len(one))])
    piece = chance.choice([*_STRANGERS, chance.choice(_ALPHABET), "".join(chance.choices(_ALPHABET, k=4))])
    return one[:place] + piece * chance.choice([1, 1, 2, 4]) + one[place:]


def _delete(chance: random.Random, one: str, other: str) -> str:
    place = chance.randrange(len(one))
    return one[:place] + one[place + chance.choice([1, 1, 2, 4]) :]


def _truncate(chance: random.Random, one: str, other: str) -> str:
    place = chance.randrange(1, len(one))
    return chance.choice([one[:place], one[place:], one[:place] + one, one + one[place:], one + "." + one[place:]])


def _splice(chance: random.Random, one: str, other: str) -> str:
    (_, payload, signature), (_, payload_2, signature_2) = one.split("."), other.split(".")
    half = chance.randrange(1, 86)
    return chance.choice(
        [
            f"hr1.{payload}.{signature_2}",
            f"hr1.{payload_2}.{signature}",
            f"hr1.{signature}.{payload}",
            f"hr1.{payload}.{signature[:half]}{signature_2[half:]}",
            f"hr1.{payload[:half]}{payload_2[half:]}.{signature}",
            f"hr1.{payload}.{signature}.{signature_2}",
            f"hr1.{payload}{payload_2}.{signature}",
            f"{chance.choice(['hr2', 'HR1', 'hr', '', 'hr1 ', 'hr01', 'v1'])}.{payload}.{signature}",
        ]
    )


def _alphabet(chance: random.Random, one: str, other: str) -> str:
    head, payload, signature = one.split(".")
    segments = [payload, signature]
    place = chance.randrange(2)
    segment = segments[place]
    last = _ALPHABET.index(segment[-1])
    segments[place] = chance.choice(
        [
            segment + "=" * (-len(segment) % 4 or chance.randrange(1, 5)),
            segment.replace("-", "+").replace("_", "/") + "=" * chance.randrange(1, 3),
            segment[:-1] + _ALPHABET[last ^ chance.randrange(1, 4)],  # other leftover bits, or other last bits
            "\n".join([segment[:64], segment[64:]]),
            segment.swapcase(),
            _decode(segment).hex(),
            base64.b32encode(_decode(segment)).decode(),
            base64.b85encode(_decode(segment)).decode(),
            segment[:-1] + "%" + f"{ord(segment[-1]):02X}",
        ]
    )
    return ".".join([head, *segments])


def _edited(chance: random.Random, one: str, other: str) -> str:
    """Another payload under the old signature."""
    return f"hr1.{base64url(_another_body(chance, one))}.{one.split('.')[2]}"


def _malleable(chance: random.Random, one: str, other: str) -> str:
    """Another signature that the same mathematics would take, or that is nearly one."""
    head, payload, signature = one.split(".")
    data = _decode(signature)
    point, scalar = data[:32], int.from_bytes(data[32:], "little")
    times = chance.randrange(1, 16)
    return f"{head}.{payload}." + base64url(
        chance.choice(
            [
                point + ((scalar + times * ORDER) % 2**256).to_bytes(32, "little"),
                point + ((ORDER - scalar) % ORDER).to_bytes(32, "little"),
                point[:31] + bytes([point[31] ^ 0x80]) + data[32:],
                point + bytes([*data[32:63], data[63] | chance.choice([0x20, 0x40, 0x80, 0xE0])]),
                data[32:] + point,
                data + bytes(chance.randrange(1, 5)),
                bytes(64),
                b"\x01" + bytes(63),
                b"\xff" * 64,
                chance.randbytes(64),
            ]
        )
    )


def _other_key(chance: random.Random, one: str, other: str) -> str:
    """Signed properly, by somebody else: another key, or a secret that both sides have."""
    body = chance.choice([_another_body(chance, one), _decode(one.split(".")[1])])
    message = f"hr1.{base64url(body)}"
    stranger: SigningKey = key(chance.randrange(2, 250))
    shared = chance.choice([_SECRET, KEY.public.raw, KEY.public.text.encode(), KEY.public.pem.encode()])
    signature = chance.choice(
        [
            stranger.sign(message.encode()),
            stranger.sign(body),
            KEY.sign(body),
            KEY.sign(b"hr2." + message[4:].encode()),
            hmac.digest(shared, message.encode(), "sha512"),
            hmac.digest(shared, message.encode(), "sha256"),
            hashlib.sha512(message.encode()).digest(),
        ]
    )
    return f"{message}.{base64url(signature)}"


FAMILIES: dict[str, Forge] = {
    "bit flip": _bit_flip,
    "bit flip under base64": _decoded_bit_flip,
    "insertion": _insert,
    "deletion": _delete,
    "truncation and repetition": _truncate,
    "segments of two receipts": _splice,
    "other alphabets": _alphabet,
    "edited payload": _edited,
    "malleable signature": _malleable,
    "other keys": _other_key,
}


def _another_body(chance: random.Random, one: str) -> bytes:
    said = payload_of(one)
    values: list[Any] = [None, True, 1, 1.0, "", "approved", "rejected", [], {}, "2026-03-02T12:00:00.000Z", said]
    name = chance.choice(sorted(said))
    edits: list[Callable[[], object]] = [
        lambda: said | {"decision": "rejected" if said["decision"] == "approved" else "approved"},
        lambda: said | {"actionDigest": "sha256:" + chance.randbytes(32).hex()},
        lambda: said | {"expiresAt": "2026-03-02T12:00:59.000Z"},
        lambda: said | {"kid": key(2).kid},
        lambda: said | {name: chance.choice([value for value in values if value != said[name]])},
        lambda: {other: value for other, value in said.items() if other != name},
        lambda: said | {"extra": chance.random()},
        lambda: [said],
        lambda: said["questionId"],
    ]
    kind = chance.randrange(len(edits) + 3)
    if kind == len(edits):
        return json.dumps(said, indent=1).encode()  # the same, written otherwise
    if kind == len(edits) + 1:
        return json.dumps(said, separators=(",", ":")).replace("{", '{"decision":"approved",', 1).encode()
    if kind == len(edits) + 2:
        return json.dumps(said).encode(chance.choice(["utf-16", "utf-32", "utf-8-sig"]))
    return json.dumps(edits[kind]()).encode()


def _decode(segment: str) -> bytes:
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
