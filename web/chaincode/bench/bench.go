// SPDX-License-Identifier: Apache-2.0

// Package bench holds the transactions of `wayseal-bench ledger` on Hyperledger Fabric, without
// Fabric's libraries: main.go beside it hosts them. Every client that may write may call it: for test networks only.
// Each call has one result in the same state, on every peer: no clock, no chance, no map that is walked.
package bench

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
)

// About is what the chaincode says of itself. The benchmark asks before it begins.
const About = "wayseal_bench 1"

const (
	amountBytes = 8
	digestBytes = 32
)

// State is what a call reads and writes. Fabric notes what was read, and refuses the transaction if
// another one wrote it before this one was ordered.
type State interface {
	GetState(key string) ([]byte, error)
	PutState(key string, value []byte) error
}

// Entry is what paper 002's contract has of a product. Its key is the digest of what lies off the chain.
type Entry struct {
	Order    string `json:"order"`
	Batch    string `json:"batch"`
	Product  string `json:"product"`
	Quantity uint64 `json:"quantity"`
}

// Invoke carries out one call: the name of a function and what it takes.
func Invoke(state State, arguments [][]byte) ([]byte, error) {
	if len(arguments) == 0 {
		return nil, fmt.Errorf("expected the name of a function, got nothing")
	}
	name, rest := string(arguments[0]), arguments[1:]
	switch {
	case name == "about" && len(rest) == 0:
		return []byte(About), nil
	case name == "record" && len(rest) == 5:
		return nil, record(state, rest)
	case name == "create" && len(rest) == 2:
		return nil, create(state, string(rest[0]), rest[1])
	case name == "put" && len(rest) > 0 && len(rest)%2 == 0:
		return nil, put(state, rest)
	case name == "get" && len(rest) == 1:
		return existing(state, string(rest[0]))
	case name == "pay" && len(rest) == 3:
		return nil, pay(state, string(rest[0]), string(rest[1]), rest[2])
	case name == "nothing" && len(rest) == 0:
		return nil, nil
	}
	return nil, fmt.Errorf("expected a function of %s, got %q with %d arguments", About, name, len(rest))
}

// record notes paper 002's fields: order, batch, product, quantity, digest.
func record(state State, fields [][]byte) error {
	quantity, err := strconv.ParseUint(string(fields[3]), 10, 64)
	if err != nil {
		return fmt.Errorf("expected a quantity, got %q", fields[3])
	}
	if len(fields[4]) != digestBytes {
		return fmt.Errorf("expected a digest of %d bytes, got %d", digestBytes, len(fields[4]))
	}
	key := "record " + hex.EncodeToString(fields[4])
	found, err := state.GetState(key)
	if err != nil {
		return err
	}
	if found != nil {
		return fmt.Errorf("expected a new digest, it is recorded")
	}
	value, err := json.Marshal(Entry{string(fields[0]), string(fields[1]), string(fields[2]), quantity})
	if err != nil {
		return err
	}
	return state.PutState(key, value)
}

func create(state State, key string, value []byte) error {
	found, err := state.GetState(key)
	if err != nil {
		return err
	}
	if found != nil {
		return fmt.Errorf("expected a new key, it exists")
	}
	return state.PutState(key, value)
}

// put writes one value or several: a key and its value in turn.
func put(state State, pairs [][]byte) error {
	for at := 0; at < len(pairs); at += 2 {
		if err := state.PutState(string(pairs[at]), pairs[at+1]); err != nil {
			return err
		}
	}
	return nil
}

func existing(state State, key string) ([]byte, error) {
	found, err := state.GetState(key)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fmt.Errorf("expected a value, got none")
	}
	return found, nil
}

// pay moves an amount between two accounts. Amounts and balances are 8 bytes, the highest first.
func pay(state State, payer, payee string, argument []byte) error {
	if payer == payee {
		return fmt.Errorf("expected another account than the payer's")
	}
	has, err := balance(state, payer)
	if err != nil {
		return err
	}
	had, err := balance(state, payee)
	if err != nil {
		return err
	}
	if len(argument) != amountBytes {
		return fmt.Errorf("expected an amount of %d bytes, got %d", amountBytes, len(argument))
	}
	amount := binary.BigEndian.Uint64(argument)
	if amount > has {
		return fmt.Errorf("the payer holds less: %d of %d", has, amount)
	}
	if had+amount < had {
		return fmt.Errorf("expected a balance below 2^64, got more")
	}
	if err := state.PutState(payer, binary.BigEndian.AppendUint64(nil, has-amount)); err != nil {
		return err
	}
	return state.PutState(payee, binary.BigEndian.AppendUint64(nil, had+amount))
}

func balance(state State, account string) (uint64, error) {
	found, err := existing(state, account)
	if err != nil {
		return 0, err
	}
	if len(found) != amountBytes {
		return 0, fmt.Errorf("expected an account, got a value of %d bytes", len(found))
	}
	return binary.BigEndian.Uint64(found), nil
}
