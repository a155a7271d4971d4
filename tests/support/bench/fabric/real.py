"""A real Fabric network for tests, where its programs are: ordering nodes, a peer, our chaincode.

Fabric's own programs have to be in the PATH, and the folder that FABRIC_CFG_PATH names has to hold
its `core.yaml` and `orderer.yaml`, as its installation leaves them. One organisation; the
chaincode is a service of its own; all is on this machine and listens on the loopback alone.
"""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied

PROGRAMS = ("configtxgen", "cryptogen", "orderer", "osnadmin", "peer")
CHAINCODE = Path(__file__).parents[4] / "web" / "chaincode"
CHANNEL, NAME, MSP = "trucks", "bench", "Org1MSP"
READY_S = 60.0
TIMEOUT = "200ms"


def need_fabric() -> None:
    """Skip a test where Fabric or Go is missing."""
    for name in (*PROGRAMS, "go"):
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not in the PATH")
    folder = Path(os.environ.get("FABRIC_CFG_PATH", "/missing"))
    for name in ("core.yaml", "orderer.yaml"):
        if not (folder / name).exists():
            pytest.skip(f"FABRIC_CFG_PATH: {folder / name} is missing")


@contextmanager
def real_network(folder: Path, kind: str, count: int) -> Iterator[Path]:
    """Run a network; return a settings file.

    Args:
        folder: For all its files.
        kind: `etcdraft` or `BFT`.
        count: Number of ordering nodes.
    """
    with ExitStack() as stack:
        yield _Network(folder, stack, kind, count).ready()


class _Network:
    def __init__(self, folder: Path, stack: ExitStack, kind: str, count: int) -> None:
        self.folder = folder
        self.stack = stack
        self.kind = kind
        self.ports = [free_port() for _ in range(count)]
        self.peer_port = free_port()
        self.orderers = folder / "org/ordererOrganizations/example.com"
        self.members = folder / "org/peerOrganizations/org1.example.com"
        self.defaults = Path(os.environ["FABRIC_CFG_PATH"])

    def ready(self) -> Path:
        program = self.folder / "chaincode"
        self._run("go", "build", "-o", str(program), ".", cwd=CHAINCODE)
        (self.folder / "crypto.yaml").write_text(_json(self._crypto()))
        self._run("cryptogen", "generate", "--config=crypto.yaml", "--output=org")
        (self.folder / "configtx.yaml").write_text(_json(self._channel()))
        block = ("-profile", "One", "-channelID", CHANNEL, "-outputBlock", "genesis.block")
        self._run("configtxgen", *block, environment={"FABRIC_CFG_PATH": self.folder})
        for number, port in enumerate(self.ports):
            self._orderer(number, port)
        peer = self._peer()
        admin = {**peer, "CORE_PEER_MSPCONFIGPATH": f"{self.members}/users/Admin@{_DOMAIN}/msp"}
        self._until(
            lambda: self._run("peer", "channel", "join", "-b", "genesis.block", environment=admin)
        )
        self._deploy(program, admin)
        return self._settings()

    def _crypto(self) -> Mapping[str, object]:
        hosts = ["localhost", "127.0.0.1"]
        nodes = [
            {"Hostname": f"orderer{number}", "SANS": hosts} for number in range(len(self.ports))
        ]
        return {
            "OrdererOrgs": [
                {"Name": "Orderer", "Domain": "example.com", "EnableNodeOUs": True, "Specs": nodes}
            ],
            "PeerOrgs": [
                {
                    "Name": "Org1",
                    "Domain": _DOMAIN,
                    "EnableNodeOUs": True,
                    "Template": {"Count": 1, "SANS": hosts},
                    "Users": {"Count": 1},
                }
            ],
        }

    def _node(self, number: int) -> Path:
        return self.orderers / f"orderers/orderer{number}.example.com"

    def _channel(self) -> Mapping[str, object]:
        addresses = [f"127.0.0.1:{port}" for port in self.ports]
        orderer_org = {
            "Name": "OrdererOrg", "ID": "OrdererMSP", "MSPDir": f"{self.orderers}/msp",
            "Policies": _own_policies("OrdererMSP"), "OrdererEndpoints": addresses,
        }  # fmt: skip
        org = {
            "Name": MSP, "ID": MSP, "MSPDir": f"{self.members}/msp",
            "Policies": _own_policies(MSP),
        }  # fmt: skip
        size = {"MaxMessageCount": 10, "AbsoluteMaxBytes": "99 MB", "PreferredMaxBytes": "512 KB"}
        orderer = {
            "OrdererType": self.kind,
            "BatchTimeout": TIMEOUT,
            "BatchSize": size,
            "Organizations": [orderer_org],
            "Policies": {
                **_POLICIES, "BlockValidation": {"Type": "ImplicitMeta", "Rule": "ANY Writers"},
            },
            "Capabilities": {"V2_0": True},
            **(self._raft() if self.kind == "etcdraft" else self._bft()),
        }  # fmt: skip
        majority = {"Type": "ImplicitMeta", "Rule": "MAJORITY Endorsement"}
        application = {
            "Organizations": [org],
            "Policies": {**_POLICIES, "LifecycleEndorsement": majority, "Endorsement": majority},
            "Capabilities": {"V2_5": True},
        }
        one = {
            "Policies": _POLICIES,
            "Capabilities": {"V2_0" if self.kind == "etcdraft" else "V3_0": True},
            "Orderer": orderer,
            "Application": application,
        }
        return {"Profiles": {"One": one}}

    def _raft(self) -> Mapping[str, object]:
        consenters = [
            {"Host": "127.0.0.1", "Port": port, **self._tls(number)}
            for number, port in enumerate(self.ports)
        ]
        return {"EtcdRaft": {"Consenters": consenters}}

    def _bft(self) -> Mapping[str, object]:
        mapping = [
            {
                "ID": number + 1,
                "Host": "127.0.0.1",
                "Port": port,
                "MSPID": "OrdererMSP",
                "Identity": str(next((self._node(number) / "msp/signcerts").iterdir())),
                **self._tls(number),
            }
            for number, port in enumerate(self.ports)
        ]
        return {"SmartBFT": _SMART_BFT, "ConsenterMapping": mapping}

    def _tls(self, number: int) -> Mapping[str, str]:
        certificate = f"{self._node(number)}/tls/server.crt"
        return {"ClientTLSCert": certificate, "ServerTLSCert": certificate}

    def _orderer(self, number: int, port: int) -> None:
        own = self.folder / f"orderer{number}"
        own.mkdir()
        shutil.copy(self.defaults / "orderer.yaml", own)
        tls, admin = self._node(number) / "tls", free_port()
        general = {
            "LISTENADDRESS": "127.0.0.1", "LISTENPORT": port, "BOOTSTRAPMETHOD": "none",
            "LOCALMSPID": "OrdererMSP", "LOCALMSPDIR": self._node(number) / "msp",
            "TLS_ENABLED": "true", "TLS_PRIVATEKEY": tls / "server.key",
            "TLS_CERTIFICATE": tls / "server.crt", "TLS_ROOTCAS": f"[{tls}/ca.crt]",
            "CLUSTER_CLIENTCERTIFICATE": tls / "server.crt",
            "CLUSTER_CLIENTPRIVATEKEY": tls / "server.key",
        }  # fmt: skip
        administration = {
            "LISTENADDRESS": f"127.0.0.1:{admin}", "TLS_ENABLED": "true",
            "TLS_CERTIFICATE": tls / "server.crt", "TLS_PRIVATEKEY": tls / "server.key",
            "TLS_ROOTCAS": f"[{tls}/ca.crt]", "TLS_CLIENTROOTCAS": f"[{tls}/ca.crt]",
        }  # fmt: skip
        self._start(
            f"orderer{number}",
            ["orderer"],
            {
                "FABRIC_CFG_PATH": own,
                **{f"ORDERER_GENERAL_{name}": value for name, value in general.items()},
                **{f"ORDERER_ADMIN_{name}": value for name, value in administration.items()},
                "ORDERER_CHANNELPARTICIPATION_ENABLED": "true",
                "ORDERER_OPERATIONS_LISTENADDRESS": f"127.0.0.1:{free_port()}",
                "ORDERER_FILELEDGER_LOCATION": own / "ledger",
                "ORDERER_CONSENSUS_WALDIR": own / "wal",
                "ORDERER_CONSENSUS_SNAPDIR": own / "snapshots",
            },
        )
        join = (
            "channel", "join", "--channelID", CHANNEL, "--config-block", "genesis.block",
            "-o", f"127.0.0.1:{admin}", "--ca-file", f"{tls}/ca.crt",
            "--client-cert", f"{tls}/server.crt", "--client-key", f"{tls}/server.key",
        )  # fmt: skip
        self._until(lambda: self._run("osnadmin", *join))

    def _peer(self) -> Mapping[str, object]:
        """Start the peer; return its environment."""
        own, builder = self.folder / "peer", self.folder / "builder"
        own.mkdir()
        (builder / "bin").mkdir(parents=True)
        for name, words in _BUILDER.items():
            (builder / "bin" / name).write_text(f"#!/bin/sh\n{words}\n")
            (builder / "bin" / name).chmod(0o755)
        usual = (self.defaults / "core.yaml").read_text()
        (own / "core.yaml").write_text(re.sub("path: .*ccaas_builder", f"path: {builder}", usual))
        at, tls = f"127.0.0.1:{self.peer_port}", f"{self.members}/peers/peer0.{_DOMAIN}/tls"
        settings = {
            "ID": "peer0", "ADDRESS": at, "LISTENADDRESS": at, "GOSSIP_BOOTSTRAP": at,
            "GOSSIP_EXTERNALENDPOINT": at, "LOCALMSPID": MSP,
            "MSPCONFIGPATH": f"{self.members}/peers/peer0.{_DOMAIN}/msp",
            "TLS_ENABLED": "true", "TLS_CERT_FILE": f"{tls}/server.crt",
            "TLS_KEY_FILE": f"{tls}/server.key", "TLS_ROOTCERT_FILE": f"{tls}/ca.crt",
            "FILESYSTEMPATH": own / "ledger",
        }  # fmt: skip
        environment = {
            "FABRIC_CFG_PATH": own,
            **{f"CORE_PEER_{name}": value for name, value in settings.items()},
            "CORE_LEDGER_SNAPSHOTS_ROOTDIR": own / "snapshots",
            "CORE_OPERATIONS_LISTENADDRESS": f"127.0.0.1:{free_port()}",
            "CORE_VM_ENDPOINT": "",  # no Docker
        }
        self._start("peer", ["peer", "node", "start"], environment)
        return environment

    def _deploy(self, program: Path, admin: Mapping[str, object]) -> None:
        at = f"127.0.0.1:{free_port()}"
        connection = {"address": at, "dial_timeout": "10s", "tls_required": False}
        code = _packed({"connection.json": _json(connection).encode()})
        metadata = _json({"type": "ccaas", "label": "bench_1"}).encode()
        package = _packed({"metadata.json": metadata, "code.tar.gz": code})
        (self.folder / "bench.tgz").write_bytes(package)
        lifecycle = ("peer", "lifecycle", "chaincode")
        self._run(*lifecycle, "install", "bench.tgz", environment=admin)
        said = self._run(*lifecycle, "queryinstalled", environment=admin)
        name = re.search(r"Package ID: (\S+),", said)
        assert name, said
        self._start(
            "chaincode", [program], {"CHAINCODE_SERVER_ADDRESS": at, "CHAINCODE_ID": name[1]}
        )
        defined = (
            "-o", f"127.0.0.1:{self.ports[0]}", "--tls", "--cafile", f"{self._node(0)}/tls/ca.crt",
            "-C", CHANNEL, "-n", NAME, "-v", "1", "--sequence", "1",
        )  # fmt: skip
        approve = (*lifecycle, "approveformyorg", *defined, "--package-id", name[1])
        self._until(lambda: self._run(*approve, environment=admin))
        self._run(*lifecycle, "commit", *defined, environment=admin)

    def _settings(self) -> Path:
        user = self.members / f"users/User1@{_DOMAIN}/msp"
        (certificate,), (key,) = (
            list((user / each).iterdir()) for each in ("signcerts", "keystore")
        )
        path = self.folder / "fabric.toml"
        path.write_text(
            f"url = '127.0.0.1:{self.peer_port}'\nchannel = '{CHANNEL}'\nchaincode = '{NAME}'\n"
            f"msp_id = '{MSP}'\ncertificate = '{certificate}'\nkey = '{key}'\n"
            f"tls_ca = '{self.members}/peers/peer0.{_DOMAIN}/tls/ca.crt'\n"
        )
        return path

    def _start(
        self, name: str, command: Sequence[str | Path], environment: Mapping[str, object]
    ) -> None:
        log = self.stack.enter_context((self.folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(  # noqa: S603 - Fabric's programs
            tied([shutil.which(command[0]) or command[0], *command[1:]]),
            cwd=self.folder,
            env=_environment({"FABRIC_LOGGING_SPEC": "WARN", **environment}),
            stdout=log,
            stderr=log,
        )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)

    def _run(
        self,
        *command: str,
        cwd: Path | None = None,
        environment: Mapping[str, object] | None = None,
    ) -> str:
        done = subprocess.run(  # noqa: S603 - Fabric's programs
            [shutil.which(command[0]) or command[0], *command[1:]],
            cwd=cwd or self.folder,
            env=_environment(environment or {}),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise _FailedError(f"{command}: {done.stdout} {done.stderr}")
        return done.stdout + done.stderr

    def _until(self, attempt: Callable[[], str]) -> None:
        """Try until a program that was started is ready."""
        end_s = time.monotonic() + READY_S
        while True:
            try:
                attempt()
            except _FailedError:
                if time.monotonic() > end_s:
                    raise
                time.sleep(0.3)
            else:
                return


class _FailedError(Exception):
    """A program did not do what it was to do."""


_DOMAIN = "org1.example.com"
_POLICIES = {
    "Readers": {"Type": "ImplicitMeta", "Rule": "ANY Readers"},
    "Writers": {"Type": "ImplicitMeta", "Rule": "ANY Writers"},
    "Admins": {"Type": "ImplicitMeta", "Rule": "MAJORITY Admins"},
}
_SMART_BFT = {
    "RequestBatchMaxCount": 10, "RequestBatchMaxInterval": "50ms", "RequestForwardTimeout": "2s",
    "RequestComplainTimeout": "20s", "RequestAutoRemoveTimeout": "3m0s",
    "ViewChangeResendInterval": "5s", "ViewChangeTimeout": "20s", "LeaderHeartbeatTimeout": "1m0s",
    "CollectTimeout": "1s", "RequestBatchMaxBytes": 10_485_760, "IncomingMessageBufferSize": 200,
    "RequestPoolSize": 100_000, "LeaderHeartbeatCount": 10,
}  # fmt: skip
_BUILDER = {
    "detect": "exit 0",
    "build": 'cp "$1/connection.json" "$3/"',
    "release": 'mkdir -p "$2/chaincode/server" && cp "$1/connection.json" "$2/chaincode/server/"',
}
"""An external builder for chaincode that is a service. Source: Fabric, "External builders"."""


def _own_policies(msp: str) -> Mapping[str, object]:
    rules = {"Readers": "member", "Writers": "member", "Admins": "admin", "Endorsement": "peer"}
    return {
        name: {"Type": "Signature", "Rule": f"OR('{msp}.{role}')"} for name, role in rules.items()
    }


def _environment(more: Mapping[str, object]) -> dict[str, str]:
    return {**os.environ, **{name: str(value) for name, value in more.items()}}


def _json(value: Mapping[str, object]) -> str:
    """Return a value as JSON, which is YAML too."""
    return json.dumps(value, indent=1)


def _packed(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, octets in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(octets)
            archive.addfile(entry, io.BytesIO(octets))
    return out.getvalue()
