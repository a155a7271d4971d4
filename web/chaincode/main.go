// SPDX-License-Identifier: Apache-2.0

// The chaincode of `wayseal-bench ledger`, for test networks; docs/benchmarks.md says how to deploy it.
// A peer starts it, or it is a service of its own: then CHAINCODE_SERVER_ADDRESS is where it listens,
// and CHAINCODE_ID the id of the installed package.
package main

import (
	"fmt"
	"os"

	"github.com/hyperledger/fabric-chaincode-go/v2/shim"
	"github.com/hyperledger/fabric-protos-go-apiv2/peer"

	"wayseal-bench/bench"
)

type chaincode struct{}

func (chaincode) Init(shim.ChaincodeStubInterface) *peer.Response { return shim.Success(nil) }

func (chaincode) Invoke(stub shim.ChaincodeStubInterface) *peer.Response {
	found, err := bench.Invoke(stub, stub.GetArgs())
	if err != nil {
		return shim.Error(err.Error())
	}
	return shim.Success(found)
}

func run() error {
	address := os.Getenv("CHAINCODE_SERVER_ADDRESS")
	if address == "" {
		return shim.Start(chaincode{})
	}
	server := shim.ChaincodeServer{
		CCID:    os.Getenv("CHAINCODE_ID"),
		Address: address,
		CC:      chaincode{},
		// Between the peer and a service beside it, on a network of their own.
		TLSProps: shim.TLSProperties{Disabled: true},
	}
	return server.Start()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "wayseal-bench:", err)
		os.Exit(1)
	}
}
