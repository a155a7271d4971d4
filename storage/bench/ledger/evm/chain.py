"""An EVM made ready for a load: its accounts are paid, and our contract is created.

The only importer of `web3`, which the extra `evm` brings. Loads themselves go by `driver`.
"""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

import requests
from eth_typing import ChecksumAddress
from web3 import HTTPProvider, Web3
from web3.exceptions import BadResponseFormat, ContractLogicError, TimeExhausted, Web3RPCError

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.place import LedgerPlace
from storage.bench.ledger.evm import restore_depth
from storage.bench.ledger.evm.contract import read_contract
from storage.bench.ledger.evm.signing import TRANSFER_GAS
from storage.bench.ledger.evm.urls import hidden, shown

restore_depth()

ANSWER_S: Final = 30
MINED_S: Final = 60.0
"""How long, seconds, a chain may take for one of our preparing transactions."""
POLL_S: Final = 0.05
DEPLOY_GAS: Final = 1_500_000
"""Our contract takes about half of it."""
_ANSWERS_LIKE: Final = (
    ("qbft_getValidatorsByBlockNumber", "QBFT"),
    ("ibft_getValidatorsByBlockNumber", "IBFT 2"),
    ("istanbul_getValidators", "QBFT or IBFT"),
)
"""Questions for the validators of a chain. Source: the JSON-RPC references of Besu and GoQuorum."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The validators that agree on the blocks of a chain.

    Attributes:
        consensus: Name of their protocol.
        count: Number of the validators.
    """

    consensus: str
    count: int


class Chain:
    """An EVM at a URL.

    Args:
        url: Of its JSON-RPC; errors show no more of it than `shown`.
        session: Its connections.
        web3: Uses them.
        chain_id: Of the chain.
        client: What the node calls itself.
    """

    def __init__(
        self, url: str, session: requests.Session, web3: Web3, chain_id: int, client: str
    ) -> None:
        self.url = url
        self._session = session
        self.chain_id = chain_id
        self.client = client
        self._web3 = web3

    @classmethod
    def open(cls, url: str) -> Self:
        """Ask the node at a URL what it is.

        Raises:
            RejectedError: It is not a JSON-RPC node of an EVM.
            UnavailableError: It does not answer.
        """
        session = _session(url)
        # Without its own retries: a node that is away is said to be so at once.
        provider = HTTPProvider(
            url, {"timeout": ANSWER_S}, session, exception_retry_configuration=None
        )
        web3 = Web3(provider)
        try:
            with _told(url):
                return cls(url, session, web3, web3.eth.chain_id, web3.client_version)
        except BaseException:
            session.close()
            raise

    def close(self) -> None:
        """End its connections."""
        self._session.close()

    @property
    def gas_price(self) -> int:
        """Return wei for a unit of gas, as the node proposes it; 0 on a network without fees."""
        with _told(self.url):
            return int(self._web3.eth.gas_price)

    def validators(self) -> Agreement | None:
        """Return the validators that agree on blocks; None if the node does not name them."""
        for method, name in _ANSWERS_LIKE:
            with _told(self.url):
                answer = self._web3.provider.make_request(_method(method), ["latest"])
            found = answer.get("result")
            if isinstance(found, list) and found:
                return Agreement(name, len(found))
        return None

    def check_contract(self, address: str) -> None:
        """Check that our contract is at an address.

        Raises:
            RejectedError: Nothing, or another contract, is there.
        """
        with _told(self.url):
            code = bytes(self._web3.eth.get_code(_address(address)))
        where = (
            f"{shown(self.url)}, chain {self.chain_id}: expected the benchmark's contract at "
            f"{address}"
        )
        if not code:
            raise RejectedError(f"{where}, got no contract; did the chain begin again?")
        if "0x" + code.hex() != read_contract().deployed:
            raise RejectedError(f"{where}, got another contract of {len(code)} bytes")

    def deploy(self, creator: bytes, gas_price: int) -> str:
        """Create our contract by the first transaction of a new account; return its address.

        Args:
            creator: Private key of that account, which has DEPLOY_GAS times `gas_price` wei.
            gas_price: Wei for a unit of gas.

        Raises:
            RejectedError: The chain refuses it.
            UnavailableError: The chain does not answer, or makes no block.
        """
        made, account = read_contract(), self._web3.eth.account.from_key(creator)
        with _told(self.url):
            contract = self._web3.eth.contract(abi=made.abi, bytecode=made.code)
            call = contract.constructor().build_transaction(
                {
                    "from": account.address,
                    "nonce": self._web3.eth.get_transaction_count(account.address),
                    "gas": DEPLOY_GAS,
                    "gasPrice": self._web3.to_wei(gas_price, "wei"),
                    "chainId": self.chain_id,
                }
            )
            raw = account.sign_transaction(call).raw_transaction
            receipt = self._mined(self._web3.eth.send_raw_transaction(raw))
        if not receipt["status"]:
            raise RejectedError(
                f"{shown(self.url)}: the contract was not created: expected status 1, got 0 after "
                f"{receipt['gasUsed']} of {DEPLOY_GAS} units of gas; may anyone deploy there?"
            )
        address = str(receipt["contractAddress"])
        self.check_contract(address)
        return address

    def pay(self, payer: bytes | None, amounts: Mapping[str, int]) -> None:
        """Give wei to accounts; return once all have it.

        Args:
            payer: Private key of the account that pays; None for one that the node signs for.
            amounts: Wei by address; an amount of 0 is not paid.

        Raises:
            RejectedError: The payer has less than the amounts and their transfer cost, or no payer
                is given and the node signs for no account.
            UnavailableError: The chain does not answer, or makes no block.
        """
        due = {address: amount for address, amount in amounts.items() if amount}
        if not due:
            return
        with _told(self.url):
            sent = self._unlocked(due) if payer is None else self._signed(payer, due)
            for digest in sent:
                self._mined(digest)

    def _unlocked(self, due: Mapping[str, int]) -> list[Any]:
        accounts = self._web3.eth.accounts
        if not accounts:
            raise RejectedError(
                f"{shown(self.url)} wants {self.gas_price} wei for a unit of gas: expected "
                "--evm-key, the key of an account that can pay"
            )
        return [
            self._web3.eth.send_transaction(
                {
                    "from": accounts[0],
                    "to": _address(address),
                    "value": self._web3.to_wei(amount, "wei"),
                }
            )
            for address, amount in due.items()
        ]

    def _signed(self, payer: bytes, due: Mapping[str, int]) -> list[Any]:
        account, price = self._web3.eth.account.from_key(payer), self.gas_price
        has = self._web3.eth.get_balance(account.address)
        needed = sum(due.values()) + len(due) * TRANSFER_GAS * 2 * price
        if has < needed:
            raise RejectedError(
                f"{shown(self.url)}: expected {needed} wei on {account.address} for this load, "
                f"got {has}"
            )
        first = self._web3.eth.get_transaction_count(account.address, "pending")
        sent = []
        for nonce, (address, amount) in enumerate(due.items(), first):
            transfer = account.sign_transaction(
                {
                    "chainId": self.chain_id,
                    "nonce": nonce,
                    "gasPrice": 2 * price,
                    "gas": TRANSFER_GAS,
                    "to": address,
                    "value": amount,
                }
            )
            sent.append(self._web3.eth.send_raw_transaction(transfer.raw_transaction))
        return sent

    def _mined(self, digest: Any) -> Any:  # noqa: ANN401 - web3's own types
        return self._web3.eth.wait_for_transaction_receipt(digest, MINED_S, POLL_S)


def _session(url: str) -> requests.Session:
    """Return connections that are made as the loader makes its own, see `wire.Connection`.

    No proxy and no redirect: another server than the one that is measured would be asked.
    """
    session = requests.Session()
    session.trust_env = False
    session.max_redirects = 0
    place = LedgerPlace.here(url)
    if place.is_secured:
        place.files.context()  # files that are wrong are told in words
        usual = ssl.get_default_verify_paths()
        trusted = place.files.ca or usual.cafile or usual.capath
        session.verify = str(trusted) if trusted else True
        if place.files.certificate is not None:
            session.cert = (str(place.files.certificate), str(place.files.key))
    return session


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Raise web3's errors as ours."""
    try:
        yield
    except (requests.ConnectionError, requests.Timeout) as error:
        raise UnavailableError(
            f"{shown(url)} does not answer: {hidden(str(error), url)}"
        ) from error
    except TimeExhausted as error:
        raise UnavailableError(
            f"{shown(url)}: {hidden(str(error), url)}; does the chain make blocks?"
        ) from error
    except (Web3RPCError, ContractLogicError) as error:
        raise RejectedError(f"{shown(url)}: {hidden(str(error), url)}") from error
    except (requests.RequestException, BadResponseFormat, ValueError) as error:
        raise RejectedError(
            f"expected the JSON-RPC of an EVM at {shown(url)}, got {hidden(str(error), url)}"
        ) from error


def _address(text: str) -> ChecksumAddress:
    return Web3.to_checksum_address(text)


def _method(name: str) -> Any:  # noqa: ANN401 - web3's type has the methods of its own time
    return name
