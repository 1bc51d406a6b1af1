package approved

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"

	"tombolo/automation/fault"
	"tombolo/internal/file"
)

// digestOf is the digest of bytes, as a plan has them.
func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonical is a value as canonical JSON.
func canonical(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsoncanonicalizer.Transform(text)
}

// Bytes are the plan as its file has it.
func (p Plan) Bytes() ([]byte, error) {
	text, err := canonical(p)
	if err != nil {
		return nil, fmt.Errorf("write the plan as JSON: %w", err)
	}
	return text, nil
}

// Write writes the plan into a file that only its owner reads, and returns its digest.
func (p Plan) Write(name string) (digest string, err error) {
	text, err := p.Bytes()
	if err != nil {
		return "", err
	}
	if err := file.Replace(name, text, 0o600); err != nil {
		return "", &fault.Error{What: fmt.Sprintf("write the plan %s: %v", name, err), Remedy: "make the directory writable", Err: err}
	}
	return digestOf(text), nil
}

// mostOfAPlan is the longest plan that is read, in bytes: that of hundreds of clusters.
const mostOfAPlan = 256 << 20

// Read reads a plan. digest is the one that was approved, or "" for any; a file with
// another one is no plan that anybody has approved.
func Read(name, digest string) (Plan, string, error) {
	text, err := file.Read(name, mostOfAPlan)
	if err != nil {
		return Plan{}, "", &fault.Error{Class: fault.Usage, What: fmt.Sprintf("read the plan: %v", err), Remedy: "name the file that `tombolo preview --plan` has written", Err: err}
	}
	has := digestOf(text)
	if digest != "" && digest != has {
		return Plan{}, "", &Error{Differences: []Difference{{What: fmt.Sprintf("the plan %s has the digest %s, and %s was approved", name, has, digest)}}}
	}
	var p Plan
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return Plan{}, "", &fault.Error{Class: fault.Usage, What: fmt.Sprintf("%s is no plan of this version: %v", name, err), Remedy: again, Err: err}
	}
	if p.Version != Version {
		return Plan{}, "", &fault.Error{Class: fault.Usage, What: fmt.Sprintf("the plan %s has the format %d, and this program knows %d", name, p.Version, Version), Remedy: again}
	}
	return p, has, nil
}

// again is what to do about a plan that cannot be used.
const again = "make a plan with `tombolo preview --plan`, and have it approved"

// FileDigest is the digest of a cluster file.
func FileDigest(name string) (string, error) {
	text, err := file.ReadInside(name, file.MostOfSettings)
	if err != nil {
		return "", fmt.Errorf("read cluster file %s for the plan: %w", name, err)
	}
	return digestOf(text), nil
}

// StateOf is by what a state is known again, of its deployment as the backend has it.
func StateOf(at string, deployment json.RawMessage) (*State, error) {
	if len(deployment) == 0 {
		return &State{Time: at, Digest: digestOf(nil)}, nil
	}
	text, err := jsoncanonicalizer.Transform(deployment)
	if err != nil {
		return nil, fmt.Errorf("read a state for the plan: %w", err)
	}
	return &State{Time: at, Digest: digestOf(text)}, nil
}
