// Command awsmodels reads AWS's own descriptions of its APIs, and writes what
// the lab's stand-in needs of them into lab/aws/apimodel: the shapes of what is
// sent with the calls that its types stand for, and the errors of these calls.
//
//	go run . ../../lab/aws/apimodel
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// The files in the directory that is given.
const (
	callsFile = "calls.json"
	factsFile = "facts.json"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: awsmodels <directory of "+callsFile+">")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "awsmodels:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	wanted, err := os.ReadFile(filepath.Join(dir, callsFile))
	if err != nil {
		return fmt.Errorf("read the calls: %w", err)
	}
	s, err := fetch()
	if err != nil {
		return err
	}
	data, err := facts(s, wanted)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, factsFile), data, 0o644); err != nil {
		return fmt.Errorf("write the facts: %w", err)
	}
	return nil
}
