// Command awsmodels reads AWS's own descriptions of its APIs, and writes what
// the lab's stand-in needs of them into lab/aws/apimodel: the shapes of what is
// sent with the calls that its types stand for, and the errors of these calls.
// The descriptions are those that AWS's SDK for Python is made of, as it ships them.
//
//	go run . ../../lab/aws/apimodel
//	go run . -from <checkout of the repository> ../../lab/aws/apimodel
//
// Without a checkout it downloads the files of the commit that calls.json names. Either way
// a file has to have the digest that calls.json has for it.
package main

import (
	"flag"
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
	from := flag.String("from", "", "directory of a checkout of the repository; default: download")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: awsmodels [-from <checkout>] <directory of "+callsFile+">")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *from); err != nil {
		fmt.Fprintln(os.Stderr, "awsmodels:", err)
		os.Exit(1)
	}
}

func run(dir, from string) error {
	wanted, err := os.ReadFile(filepath.Join(dir, callsFile))
	if err != nil {
		return fmt.Errorf("read the calls: %w", err)
	}
	data, err := facts(from, wanted)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, factsFile), data, 0o644); err != nil {
		return fmt.Errorf("write the facts: %w", err)
	}
	return nil
}
