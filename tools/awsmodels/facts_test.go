package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The stand-in's facts are what the pinned models say.
func TestFactsAreWhatTheModelsSay(t *testing.T) {
	dir := "../../lab/aws/apimodel"
	wanted, err := os.ReadFile(filepath.Join(dir, callsFile))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(dir, factsFile))
	if err != nil {
		t.Fatal(err)
	}
	s, err := fetch()
	if err != nil {
		t.Fatal(err)
	}
	want, err := facts(s, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what %s %s says: run make aws-models", factsFile, module, s.Version)
	}
}
