// Command azuremodels reads Microsoft's own descriptions of Azure's APIs, and writes what the
// lab's stand-in needs of them into lab/azure/apimodel: of each type that is sent, which
// properties there are, and which values they take. The descriptions are those that Bicep
// checks its files with, generated from the APIs' specifications.
//
//	go run . ../../lab/azure/apimodel
//	go run . -from <checkout of the repository> ../../lab/azure/apimodel
//
// Without a checkout it downloads the files of the commit that types.json names. Either way a
// file has to have the digest that types.json has for it; -pin prints those of the files at
// hand.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// The files in the directory that is given.
const (
	typesFile = "types.json"
	factsFile = "facts.json"
)

func main() {
	from := flag.String("from", "", "directory of a checkout of the repository; default: download")
	pin := flag.Bool("pin", false, "print the digests of the files instead of checking them")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: azuremodels [-from <checkout>] [-pin] <directory of "+typesFile+">")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *from, *pin); err != nil {
		fmt.Fprintln(os.Stderr, "azuremodels:", err)
		os.Exit(1)
	}
}

func run(dir, from string, pin bool) error {
	wanted, err := readWanted(dir)
	if err != nil {
		return err
	}
	s := source{wanted: wanted, dir: from}
	if pin {
		return s.printDigests(os.Stdout)
	}
	data, err := facts(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, factsFile), data, 0o644); err != nil {
		return fmt.Errorf("write the facts: %w", err)
	}
	return nil
}
