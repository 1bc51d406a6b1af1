package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// wanted is the part of lab/azure/apimodel/types.json that says what to read.
type wanted struct {
	// Repository on GitHub, and the commit that is read.
	Repository string `json:"repository"`
	Commit     string `json:"commit"`
	// Files of the repository that are read, and their digests.
	Files map[string]string `json:"files"`
	Types map[string]struct {
		// File that describes the type, and its name there: Microsoft.Network/virtualNetworks@2019-06-01.
		File     string `json:"file"`
		Resource string `json:"resource"`
	} `json:"types"`

	digest string
}

func readWanted(dir string) (wanted, error) {
	var w wanted
	data, err := os.ReadFile(filepath.Join(dir, typesFile))
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return w, fmt.Errorf("read the types: %w", err)
	}
	w.digest = digest(data)
	return w, nil
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// source is where files are read from: a checkout in dir, or the repository itself.
type source struct {
	wanted wanted
	dir    string
}

// read a file, which has to be the one that is pinned.
func (s source) read(file string) ([]byte, error) {
	data, err := s.load(file)
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w", file, s.wanted.Repository, err)
	}
	if have, want := digest(data), s.wanted.Files[file]; have != want {
		return nil, fmt.Errorf("read %s of %s: the digest is %s, and %s has %q; check out commit %s, or pin the new files", file, s.wanted.Repository, have, typesFile, want, s.wanted.Commit)
	}
	return data, nil
}

func (s source) load(file string) ([]byte, error) {
	if s.dir != "" {
		return os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(file)))
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Get("https://raw.githubusercontent.com/" + s.wanted.Repository + "/" + s.wanted.Commit + "/" + file)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// printDigests prints what types.json has to have for its files.
func (s source) printDigests(to io.Writer) error {
	for _, file := range slices.Sorted(maps.Keys(s.wanted.Files)) {
		data, err := s.load(file)
		if err != nil {
			return fmt.Errorf("read %s of %s: %w", file, s.wanted.Repository, err)
		}
		fmt.Fprintf(to, "%q: %q,\n", file, digest(data))
	}
	return nil
}
