"""`GET /v1/volumes` of a real gateway."""

import pytest

from support.trucks.rogue import Site

pytestmark = pytest.mark.integration


def test_operators_see_drives_and_volumes_and_auditors_do_not(site: Site) -> None:
    with site.client("dock", "operator") as operator, site.client("ann", "auditor") as auditor:
        assert auditor.get("/v1/volumes").status_code == 403
        answer = operator.get("/v1/volumes", params={"health": "true"})
    assert answer.status_code == 200
    told = answer.json()
    (volume,) = told["volumes"]
    assert volume["name"] == "volume"
    assert volume["use"]["usable"] is True
    assert volume["use"]["reason"] == ""
    assert volume["use"]["free_bytes"] > 0
    assert all(each["interface"] for each in told["devices"])
