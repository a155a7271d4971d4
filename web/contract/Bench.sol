// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The transactions of `wayseal-bench ledger` on an EVM. Whoever pays may call: for test networks only.
/// A refusal has its reason in words, which a client reads without the ABI.
contract Bench {
    /// What paper 002's contract has of a product, and the digest of what lies off the chain.
    struct Entry {
        bytes32 order;
        bytes32 batch;
        bytes32 product;
        uint64 quantity;
        address by;
    }

    event Recorded(bytes32 indexed order, bytes32 digest, address by);

    mapping(bytes32 digest => Entry) public entries;
    mapping(bytes32 key => bytes) private values;
    mapping(bytes32 account => uint256) private balances;

    function record(bytes32 order, bytes32 batch, bytes32 product, uint64 quantity, bytes32 digest) external {
        Entry storage entry = entries[digest];
        require(entry.by == address(0), "expected a new digest, it is recorded");
        entry.order = order;
        entry.batch = batch;
        entry.product = product;
        entry.quantity = quantity;
        entry.by = msg.sender;
        emit Recorded(order, digest, msg.sender);
    }

    function create(bytes32 key, bytes calldata value) external {
        require(values[key].length == 0, "expected a new key, it exists");
        values[key] = value;
    }

    function put(bytes32 key, bytes calldata value) external {
        values[key] = value;
    }

    /// A read that the ledger orders among the writes, when it is sent as a transaction.
    function get(bytes32 key) external view returns (bytes memory value) {
        value = values[key];
        require(value.length != 0, "expected a value, got none");
    }

    function open(bytes32 account, uint256 amount) external {
        balances[account] = amount;
    }

    function balance(bytes32 account) external view returns (uint256) {
        return balances[account];
    }

    function pay(bytes32 payer, bytes32 payee, uint256 amount) external {
        require(payer != payee, "expected another account than the payer's");
        require(balances[payer] >= amount, "the payer holds less");
        balances[payer] -= amount;
        balances[payee] += amount;
    }

    function nothing() external pure {}
}
