"""What happens to the gateway's connection to its broker is told once, a shared session as such."""

import pytest

from contracts.runtime.dependency import Dependency
from gateway.intake.brokerlink import BrokerLink
from support.trucks.rogue import until

NEVER_S = 3600.0


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "broker" in each.getMessage()]


def test_a_broker_that_answers_late_has_two_lines_however_often_it_was_tried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    link = BrokerLink(Dependency("the broker"), "site-b", steady_s=NEVER_S)
    for _ in range(3):
        link.failed("refused")
    link.connected()
    assert lines(caplog) == [
        "the broker is out: refused; the gateway goes on trying",
        "the broker is back, after 0 s",
    ]


def test_two_gateways_that_share_a_session_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    broker = Dependency("the broker")
    link = BrokerLink(broker, "wayseal-gateway-b", steady_s=NEVER_S)
    for _ in range(6):
        link.connected()
        link.lost("hung up")
    link.connected()
    used, out, shared = lines(caplog)
    assert used == "the broker is in use"
    assert out == "the broker is out: hung up; the gateway goes on trying"
    assert "does another gateway use the same mqtt.username" in shared
    assert "wayseal-gateway-b" in shared
    assert shared.endswith(broker.reason)
    link.close()


def test_a_broker_that_is_restarted_is_not_suspected(caplog: pytest.LogCaptureFixture) -> None:
    broker = Dependency("the broker")
    link = BrokerLink(broker, "site-b", steady_s=0)
    for _ in range(6):
        link.connected()
        until("the connection lasts", lambda: not broker.reason)
        link.lost("hung up")
        link.failed("refused")
        assert broker.reason == "refused; the gateway goes on trying"
    assert not any("another gateway" in line for line in lines(caplog))
