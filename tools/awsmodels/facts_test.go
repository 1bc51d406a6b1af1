package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The stand-in's facts are what the pinned models say. AWS_MODELS is a checkout of their
// repository.
func TestFactsAreWhatTheModelsSay(t *testing.T) {
	from := os.Getenv("AWS_MODELS")
	if from == "" {
		t.Skip("AWS_MODELS is not set")
	}
	dir := "../../lab/aws/apimodel"
	wanted, err := os.ReadFile(filepath.Join(dir, callsFile))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(dir, factsFile))
	if err != nil {
		t.Fatal(err)
	}
	want, err := facts(from, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what the models say: run make aws-models", factsFile)
	}
}
