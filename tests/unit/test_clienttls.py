"""Whom a client without files of its own believes."""

import ssl

import pytest

from contracts.runtime.clienttls import usual_trust


def test_a_client_of_plain_http_reads_no_authorities() -> None:
    trust = usual_trust("http://127.0.0.1:8008")
    assert isinstance(trust, ssl.SSLContext)
    assert trust.get_ca_certs() == []
    assert trust.verify_mode is ssl.CERT_REQUIRED, "it believes nobody at HTTPS"


@pytest.mark.parametrize("url", ["https://ledger.example", "HTTPS://ledger.example"])
def test_a_client_of_https_believes_the_usual_authorities(url: str) -> None:
    assert usual_trust(url) is True
