package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// list has the mutations, from the checkout's root.
const list = "tools/mutate/mutations.yaml"

// mutation is a change of one file after which a test fails.
type mutation struct {
	// Row of what the project owes: a letter and a number. What is mutated, in words.
	Row, What string
	// File that changes, from the checkout's root. Old is in it once, and becomes New.
	File, Old, New string
	// Package of the test, from the checkout's root, and its name.
	Package, Test string
	// Lab says that the test needs the lab.
	Lab bool
}

// read reads the list. Each mutation has to fit the checkout below root.
func read(root string) ([]mutation, error) {
	text, err := os.ReadFile(filepath.Join(root, list))
	if err != nil {
		return nil, fmt.Errorf("reading the mutations: %w; run this in the checkout's root", err)
	}
	var all []mutation
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", list, err)
	}
	for i := range all {
		all[i].Package = cmp.Or(all[i].Package, filepath.Dir(all[i].File))
		if _, err := all[i].apply(root); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// apply returns the file below root as the mutation has it.
func (m mutation) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", fmt.Errorf("mutation of %s (%s): %w; correct file in %s", m.Row, m.What, err, list)
	}
	if n := strings.Count(string(text), m.Old); n != 1 || m.Old == m.New {
		return "", fmt.Errorf("mutation of %s (%s): %s has its old text %d times, or it stays as it is; correct old and new in %s", m.Row, m.What, m.File, n, list)
	}
	return strings.Replace(string(text), m.Old, m.New, 1), nil
}
