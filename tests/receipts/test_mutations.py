"""No forgery verifies, with either verifier, and the two never differ."""

from collections import Counter

import pytest

from tests.receipts.mutations import FAMILIES, forgeries
from tests.receipts.samples import KEY, accepted, key, receipt


def test_forgeries_are_refused() -> None:
    assert _refused(1_500, seed=3) >= 1_490


@pytest.mark.soak
def test_ten_thousand_forgeries_are_refused() -> None:
    refused = sum(_refused(2_600, seed) for seed in range(4))

    print(f"\n{refused:,} forged receipts, none verified")  # noqa: T201
    assert refused >= 10_000


def _refused(number: int, seed: int) -> int:
    tried: Counter[str] = Counter()
    verified = []
    for family, forged, genuine in forgeries(number, seed):
        if forged == genuine:
            continue
        tried[family] += 1
        if accepted(forged) is not None:
            verified.append((family, forged))
    assert verified == []
    assert tried.keys() == FAMILIES.keys()
    return tried.total()


def test_the_genuine_ones_verify_among_them() -> None:
    assert all(accepted(genuine) is not None for _, _, genuine in forgeries(30, seed=1))


def test_a_genuine_receipt_does_not_verify_with_other_keys() -> None:
    assert all(accepted(receipt(), (key(number),)) is None for number in range(2, 200))
    assert accepted(receipt(), tuple(key(number) for number in range(2, 20))) is None
    assert accepted(receipt(), (key(2), KEY, key(3))) is not None
