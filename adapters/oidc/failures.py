"""Why somebody could not be signed in, as a sentence for the person who tried."""

from core.phrasing import shown
from core.safetext import one_line
from core.sessions import SignInFailed

_AGAIN = "Try again in a moment; if it stays so, tell whoever runs this server."
_CLOCKS = "the clocks of this server and of the provider may differ"
_WRONG_CLAIM = {
    "iss": "it comes from another provider",
    "aud": "it was made for another application",
    "azp": "it was made for another application",
    "nonce": "it belongs to another sign-in",
    "exp": f"it has expired; {_CLOCKS}",
    "iat": f"it comes from the future; {_CLOCKS}",
    "nbf": f"it is not valid yet; {_CLOCKS}",
    "at_hash": "it does not belong to the access token beside it",
    "sub": "it does not say whom it is about",
}


def not_reached() -> SignInFailed:
    return SignInFailed(f"The identity provider cannot be reached. {_AGAIN}")


def too_slow(seconds: float) -> SignInFailed:
    return SignInFailed(f"The identity provider did not answer in {seconds:g} s. {_AGAIN}")


def in_trouble(status: int) -> SignInFailed:
    return SignInFailed(f"The identity provider answered with status {status}. {_AGAIN}")


def not_understood(what: str) -> SignInFailed:
    return SignInFailed(f"The identity provider's {what} cannot be understood. {_AGAIN}")


def unusable_address(name: str, why: str) -> SignInFailed:
    return SignInFailed(f"The identity provider's {name} cannot be used: {why}. Tell whoever runs this server.")


def another_issuer(found: object, wanted: str) -> SignInFailed:
    called = shown(one_line(found)) if isinstance(found, str) else "nothing"
    return SignInFailed(
        f"The identity provider calls itself {called}, and this server expects {shown(wanted)}. "
        "Whoever runs this server has to set the issuer exactly as the provider writes it."
    )


def another_sign_in() -> SignInFailed:
    return SignInFailed("Signing in took too long or began in another browser. Try again.")


def refused(error: object) -> SignInFailed:
    """What the token endpoint said, by its OAuth error code."""
    match error:
        case "invalid_grant":
            return SignInFailed("This sign-in was used before or took too long. Try again.")
        case "invalid_client" | "unauthorized_client":
            return SignInFailed(
                "The identity provider does not accept this server's client id and secret. "
                "Whoever runs this server has to check both."
            )
    said = shown(one_line(error)) if isinstance(error, str) else "no reason given"
    return SignInFailed(f"The identity provider refused to finish the sign-in ({said}). {_AGAIN}")


def not_accepted(why: str) -> SignInFailed:
    return SignInFailed(f"The identity provider's word for who you are was not accepted: {why}. {_AGAIN}")


def wrong_claim(name: str) -> SignInFailed:
    return not_accepted(_WRONG_CLAIM.get(name, f"its {shown(one_line(name))} is wrong"))


def missing_claim(name: str) -> SignInFailed:
    return not_accepted(f"it lacks {shown(one_line(name))}")
