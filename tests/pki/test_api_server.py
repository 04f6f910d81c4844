"""The keys that the API server and its neighbours are told of: which file holds which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import Role
from tests.bootstrap.views import command, flags, view
from tests.pki.test_table import SIGNED, placed, request

if TYPE_CHECKING:
    from tests.conftest import Graph

PRIVATE_KEY = "tls:index/privateKey:PrivateKey"


def told(component: str) -> dict[str, str]:
    """A component's flags; one that is given twice is an error."""
    return flags(command(view(Role.MASTER), component))


def test_tokens_are_checked_by_the_key_that_they_are_signed_with(large: Graph) -> None:
    """B03: the public half where one is asked for, the private one elsewhere; the same everywhere.

    `test_t2_forms` has the forms that they are in. Nobody can choose another algorithm.
    """
    server, manager = told("kube-apiserver"), told("kube-controller-manager")
    for index in range(3):
        files = {path: text for path, (_, text) in placed(large, f"test-master-{index}").items()}
        public = files[server["service-account-key-file"]]
        assert public == "PUBLIC KEY of test-service-account\n"
        assert {
            files[server["service-account-signing-key-file"]],
            files[manager["service-account-private-key-file"]],
        } == {"PRIVATE KEY of test-service-account\n"}
    key = large.named(PRIVATE_KEY, "test-service-account").inputs
    assert (key["algorithm"], key["ecdsaCurve"]) == ("ECDSA", "P256")


def test_the_aggregation_layer_is_told_whole(small: Graph) -> None:
    """B12: each flag once; a client's name and CA that the API server accepts, and no other's."""
    given = told("kube-apiserver")
    files = {path: text for path, (_, text) in placed(small, "test-master-0").items()}
    about = {
        flag: files.get(value, value)
        for flag, value in given.items()
        if flag.startswith(("requestheader-", "proxy-client-"))
    }
    assert about == {
        "requestheader-client-ca-file": "CERTIFICATE of test-front-proxy-ca\n",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "proxy-client-cert-file": "CERTIFICATE of test-front-proxy-client\n",
        "proxy-client-key-file": "PRIVATE KEY of test-front-proxy-client\n",
    }
    subject = request(small, "test-front-proxy-client").inputs["subject"]
    assert subject["commonName"] in about["requestheader-allowed-names"].split(",")
    signed = small.named(SIGNED, "test-front-proxy-client").inputs
    assert signed["caCertPem"] == about["requestheader-client-ca-file"]
    # Else any client of the cluster could pose as the layer's front.
    assert files[given["client-ca-file"]] == "CERTIFICATE of test-ca\n"
