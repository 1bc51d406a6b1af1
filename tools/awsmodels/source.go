package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// source is where models are read from: a checkout in dir, or the repository itself.
type source struct {
	calls
	dir string
}

// model is an API description of AWS's, as far as it is used here.
type model struct {
	Operations map[string]struct {
		Input  *reference  `json:"input"`
		Errors []reference `json:"errors"`
	} `json:"operations"`
	Shapes map[string]shape `json:"shapes"`
}

type reference struct {
	Shape string `json:"shape"`
}

type shape struct {
	Type     string               `json:"type"`
	Min      *float64             `json:"min"`
	Max      *float64             `json:"max"`
	Pattern  string               `json:"pattern"`
	Enum     []string             `json:"enum"`
	Required []string             `json:"required"`
	Members  map[string]reference `json:"members"`
	Member   *reference           `json:"member"`
	Key      *reference           `json:"key"`
	Value    *reference           `json:"value"`
	Error    struct {
		Code string `json:"code"`
	} `json:"error"`
}

// read a file, which has to be the one that is pinned.
func (s source) read(file, digest string) (model, error) {
	var m model
	raw, err := s.load(file)
	if err == nil && digestOf(raw) != digest {
		err = fmt.Errorf("its digest is %s, and %s has %q; check out commit %s, or pin the new file", digestOf(raw), callsFile, digest, s.Commit)
	}
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read %s of %s: %w", file, s.Repository, err)
	}
	return m, nil
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

func (s source) load(file string) ([]byte, error) {
	if s.dir != "" {
		return os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(file)))
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Get("https://raw.githubusercontent.com/" + s.Repository + "/" + s.Commit + "/" + file)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}
