package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// module has the models that AWS generates its SDKs from, as API descriptions in
// its folder models/apis. The modules of the SDK for Go's second version have
// only what is generated from them.
const module = "github.com/aws/aws-sdk-go"

// source is a version of the module on this machine.
type source struct {
	Version string
	Dir     string
}

// fetch downloads the version that go.mod pins, which go.sum checks.
func fetch() (source, error) {
	var s source
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		return s, fmt.Errorf("download %s: %w", module, err)
	}
	return s, nil
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

// read reads a file of the module.
func (s source) read(file string) (model, error) {
	var m model
	raw, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(file)))
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read %s of %s %s: %w", file, module, s.Version, err)
	}
	return m, nil
}
