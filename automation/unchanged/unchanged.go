// Package unchanged tells whether an up would find what the last one found: then there is
// nothing that the Pulumi engine has to look at.
//
// An up without a refresh depends on its inputs, and on nothing else: the program, the cluster
// file, what the file names, and the states. When an up ends well, one digest of all of them is
// recorded beside the states, and an up that finds the same digest ends there. What cannot be
// digested makes the inputs unprovable, and the engine runs. What has changed in the cloud or on
// the cluster without a state knowing of it is not an input: that is what --refresh and drift
// look for.
//
// Core depends on fewer inputs than the up as a whole, so these have a digest of their own: where
// it is the same, the engine looks at bootstrap alone.
package unchanged

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tombolo/automation/approved"
)

// Inputs are what an up without a refresh depends on. Each field is in the digest: a test
// changes one after the other.
type Inputs struct {
	// Program that runs: another build starts the engine. It has the versions of all modules: the
	// plugins of the Pulumi engine are those of the providers' SDKs among them.
	Program approved.Program
	// Backend is the state backend, whose fingerprint marks what core makes.
	Backend string
	// Cluster is the cluster file as the program has it, with its defaults; Hub is that of a
	// spoke's hub, nil without one.
	Cluster, Hub any
	// Files are the digests of the files that the cluster file names, such as the
	// engine's distribution, by the key that names them.
	Files map[string]string
	// Secrets are keyed digests of the values of secrets in the environment and in files,
	// by the key that names them.
	Secrets map[string]string
	// Settings are the digests of the stacks' settings, in which secrets are encrypted.
	Settings map[string]string
	// States are the digests of the states of the cluster's own stacks, and of those that
	// they take values from, by the stacks' names.
	States map[string]string
}

// Digest stands for all inputs. The inputs hold no secret.
func (i Inputs) Digest() (string, error) {
	text, err := json.Marshal(i) // maps are sorted
	if err != nil {
		return "", fmt.Errorf("write the inputs of an up: %w", err)
	}
	sum := sha256.Sum256(text)
	return base64.RawStdEncoding.EncodeToString(sum[:]), nil
}

// Of is the digest of a file.
func Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// OfState is the digest of a state as it is written, but for the manifest: that has the time of the
// last write, also of one by plain pulumi that has changed nothing. It fails for what does not begin
// with a manifest, as the engine writes it. States have megabytes, so nothing else is looked into.
func OfState(deployment json.RawMessage) (string, error) {
	d := json.NewDecoder(bytes.NewReader(deployment))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return "", errors.New("read a state: it is no JSON object")
	}
	if name, err := d.Token(); err != nil || name != "manifest" {
		return "", errors.New("read a state: it does not begin with its manifest")
	}
	before := d.InputOffset()
	var manifest json.RawMessage
	if err := d.Decode(&manifest); err != nil {
		return "", fmt.Errorf("read the manifest of a state: %w", err)
	}
	sum := sha256.New()
	sum.Write(deployment[:before])
	sum.Write(deployment[d.InputOffset():])
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Record is what is kept of an up that ended well.
type Record struct {
	// Digest of the inputs, with the states as the up has left them, and Core that of the inputs of
	// core. Empty is what cannot be proved.
	Digest string `json:"digest,omitempty"`
	Core   string `json:"core,omitempty"`
	// At is when the up ended, and By who ran it, such as alice@laptop.
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// Tag is the stack tag of bootstrap's stack that has the record.
const Tag = "tombolo:up"

// maxTag is the length of a tag's value at Pulumi Cloud:
// https://www.pulumi.com/docs/iac/concepts/stacks/#stack-tags
const maxTag = 256

// String is the record as the tag has it. A long name of who ran the up is cut.
func (r Record) String() string {
	for {
		text, _ := json.Marshal(r) // strings and a time
		if len(text) <= maxTag || r.By == "" {
			return string(text)
		}
		name := []rune(r.By)
		r.By = string(name[:len(name)-1])
	}
}

// Parse reads a record; false when there is none, or none that can be read.
func Parse(text string) (Record, bool) {
	var r Record
	err := json.Unmarshal([]byte(text), &r)
	return r, err == nil && (r.Digest != "" || r.Core != "") && !r.At.IsZero()
}

// Key makes digests of secrets. Whoever reads a plain digest of a short secret can try out what
// it is of; for these the key has to be known, too.
type Key struct{ key []byte }

// rounds of the derivation, as many as Pulumi's own of a passphrase: see approved.Key.
const rounds = 1_000_000

// NewKey derives the key of a backend from the passphrase of the states, or TOMBOLO_PLAN_KEY. It
// takes a third of a second: a run makes one. "" gives the zero value, which digests nothing.
func NewKey(secret, backend string) (Key, error) {
	if secret == "" {
		return Key{}, nil
	}
	salt := sha256.Sum256([]byte("tombolo up\n" + backend))
	key, err := pbkdf2.Key(sha256.New, secret, salt[:], rounds, sha256.Size)
	return Key{key}, err
}

// Digest of the value of a secret of a cluster; false without a key. Two clusters with one secret
// have different digests of it.
func (k Key) Digest(cluster, name, value string) (string, bool) {
	if k.key == nil {
		return "", false
	}
	own, err := hkdf.Key(sha256.New, k.key, nil, cluster+"\n"+name, sha256.Size)
	if err != nil {
		return "", false
	}
	mac := hmac.New(sha256.New, own)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil)), true
}
