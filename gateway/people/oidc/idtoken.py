"""Checks an ID token: its signer, its audience, its time, and the sign-in that it answers.

Source: OpenID Connect Core 1.0, 3.1.3.7; RFC 8725 (algorithms by name, none and HMAC never).
"""

from collections.abc import Mapping
from typing import Any, Final

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import JoseError

from gateway.people.oidc.documents import Documents
from gateway.people.oidc.refusals import NotSignedInError, Refusal

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512"),
    *("PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512"),
)
SKEW_MAX_S: Final = 60
"""How far the issuer's clock and ours may be apart, seconds."""
TOKEN_MAX: Final = 65_536
_SUBJECT_MAX: Final = 255


async def checked(
    tokens: Mapping[str, Any], documents: Documents, *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """Return the claims of the ID token among the tokens, all checks passed.

    Args:
        tokens: The answer of the issuer's token endpoint.
        documents: The issuer's keys.
        issuer: Whose word counts.
        client_id: For whom it has to be.
        nonce: Of the sign-in that it has to answer.

    Raises:
        NotSignedInError: A check fails, or the issuer's keys do not come.
    """
    text = tokens.get("id_token")
    if not isinstance(text, str) or not text or len(text) > TOKEN_MAX:
        raise _false("expected an ID token")
    registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        header = jws.extract_compact(text.encode("ascii"), registry=registry).headers()
        registry.check_header(header)
        registry.get_alg(header["alg"])
        key = await documents.key(header.get("kid"))
        if key is None:
            raise _false("it is signed by a key that the issuer does not publish")
        token = jwt.decode(text, key, registry=registry)
        claims = CodeIDToken(
            token.claims,
            token.header,
            {
                "iss": {"essential": True, "value": issuer},
                "aud": {"essential": True, "value": client_id},
                "sub": {"essential": True},
            },
            {"nonce": nonce, "client_id": client_id, "access_token": tokens.get("access_token")},
        )
        claims.validate(leeway=SKEW_MAX_S)
    except JoseError as error:
        raise _false(f"{type(error).__name__} {error.error}: {error.description}") from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise _false(f"it is malformed: {type(error).__name__}") from error
    if not 0 < len(claims["sub"]) <= _SUBJECT_MAX:
        raise _false(f"sub: expected 1 to {_SUBJECT_MAX} characters")
    return dict(claims)


def _false(words: str) -> NotSignedInError:
    return NotSignedInError(Refusal.FALSE, f"the issuer's ID token does not hold: {words}")
