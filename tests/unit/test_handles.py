"""Handles as people write them, and which of them are places that something can be sent to."""

import pytest

from core.ids import PersonId
from core.membership import NotPossible, handle_from
from core.people import Handle, Person, Role
from core.places import NAMEABLE
from core.roster import Roster


def test_the_subject_of_an_identity_provider_is_a_handle_to_the_letter() -> None:
    assert handle_from("oidc:Auth0|5f7C:x") == Handle("oidc", "Auth0|5f7C:x")


@pytest.mark.parametrize("text", ["oidc:", "oidc: ", "oidc:a\nb", "oidc:" + "x" * 201, "OIDC:dana"])
def test_a_subject_that_cannot_be_one_is_refused(text: str) -> None:
    with pytest.raises(NotPossible, match=r"is no handle\. Write it as one of .*oidc:…\."):
        handle_from(text)


def test_nothing_is_sent_to_where_somebody_signs_in() -> None:
    dana = Person(
        PersonId("p_dana"), "Dana", Role.MEMBER, (Handle("oidc", "dana-1"), Handle("email", "dana@example.com"))
    )
    everywhere = Roster({dana.id: dana}, connected=NAMEABLE)

    assert "oidc" not in NAMEABLE
    reached = everywhere.direct_target(dana)
    assert reached is not None
    assert (reached.surface, reached.address) == ("email", "dana@example.com")
