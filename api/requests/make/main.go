// Make writes what package requests makes of the contract.
package main

import (
	"fmt"
	"os"

	"frontdesk/api/requests"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "make: it takes two arguments: the contract, and the file to write")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "make: "+err.Error())
		os.Exit(1)
	}
}

func write(contract, into string) error {
	text, err := os.ReadFile(contract) // #nosec G304 G703 -- of this project
	if err != nil {
		return err
	}
	cut, err := requests.Cut(text)
	if err != nil {
		return err
	}
	return os.WriteFile(into, cut, 0o644) // #nosec G306 G703 -- source code, for everybody to read, where its caller says
}
