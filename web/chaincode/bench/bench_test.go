// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

type ledger map[string][]byte

func (state ledger) GetState(key string) ([]byte, error) {
	if key == "broken" {
		return nil, errors.New("the state is broken")
	}
	return state[key], nil
}

func (state ledger) PutState(key string, value []byte) error {
	if key == "" {
		return errors.New("the key is empty")
	}
	state[key] = value
	return nil
}

func call(state State, words ...string) (string, error) {
	arguments := make([][]byte, len(words))
	for at, word := range words {
		arguments[at] = []byte(word)
	}
	found, err := Invoke(state, arguments)
	return string(found), err
}

var digest = strings.Repeat("d", digestBytes)

func amount(number byte) string { return string([]byte{0, 0, 0, 0, 0, 0, 0, number}) }

func TestCallsThatAreTaken(t *testing.T) {
	state := ledger{}
	for _, words := range [][]string{
		{"create", "a", "first"},
		{"put", "a", "second", "b", "third"},
		{"record", "ORDER-1", "LOT-7", "product", "40", digest},
		{"nothing"},
		{"put", "payer", amount(9), "payee", amount(1)},
		{"pay", "payer", "payee", amount(9)},
	} {
		if _, err := call(state, words...); err != nil {
			t.Fatalf("%v: %v", words, err)
		}
	}
	if found, _ := call(state, "get", "a"); found != "second" {
		t.Fatalf("expected the second value, got %q", found)
	}
	if found, _ := call(state, "about"); found != About {
		t.Fatalf("expected %q, got %q", About, found)
	}
	if !bytes.Equal(state["payer"], []byte(amount(0))) || !bytes.Equal(state["payee"], []byte(amount(10))) {
		t.Fatalf("expected balances 0 and 10, got %v and %v", state["payer"], state["payee"])
	}
	key := "record " + strings.Repeat("64", digestBytes)
	if found := string(state[key]); found != `{"order":"ORDER-1","batch":"LOT-7","product":"product","quantity":40}` {
		t.Fatalf("expected paper 002's fields, got %q", found)
	}
}

func TestCallsThatAreRefused(t *testing.T) {
	for _, each := range []struct {
		words []string
		why   string
	}{
		{nil, "expected the name of a function"},
		{[]string{"burn", "a"}, `got "burn" with 1 arguments`},
		{[]string{"create", "a"}, `got "create" with 1 arguments`},
		{[]string{"put", "a", "b", "c"}, `got "put" with 3 arguments`},
		{[]string{"put", "", "b"}, "the key is empty"},
		{[]string{"create", "taken", "b"}, "expected a new key, it exists"},
		{[]string{"create", "broken", "b"}, "the state is broken"},
		{[]string{"get", "missing"}, "expected a value, got none"},
		{[]string{"get", "broken"}, "the state is broken"},
		{[]string{"record", "o", "b", "p", "-1", digest}, `expected a quantity, got "-1"`},
		{[]string{"record", "o", "b", "p", "1", "short"}, "expected a digest of 32 bytes, got 5"},
		{[]string{"pay", "rich", "rich", amount(1)}, "expected another account"},
		{[]string{"pay", "poor", "rich", amount(2)}, "the payer holds less: 1 of 2"},
		{[]string{"pay", "poor", "missing", amount(1)}, "expected a value, got none"},
		{[]string{"pay", "poor", "taken", amount(1)}, "expected an account, got a value of 5 bytes"},
		{[]string{"pay", "poor", "rich", "1"}, "expected an amount of 8 bytes, got 1"},
		{[]string{"pay", "poor", "rich", amount(1)}, "expected a balance below 2^64"},
	} {
		state := ledger{
			"taken": []byte("value"), "poor": []byte(amount(1)), "rich": bytes.Repeat([]byte{255}, amountBytes),
		}
		before := len(state)
		if _, err := call(state, each.words...); err == nil || !strings.Contains(err.Error(), each.why) {
			t.Errorf("%v: expected %q, got %v", each.words, each.why, err)
		}
		if len(state) != before || !bytes.Equal(state["poor"], []byte(amount(1))) {
			t.Errorf("%v: expected nothing written, got %v", each.words, state)
		}
	}
	state := ledger{}
	for range 2 {
		if _, err := call(state, "record", "o", "b", "p", "1", digest); err != nil {
			if !strings.Contains(err.Error(), "expected a new digest, it is recorded") {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("expected the second record of a digest refused")
}
