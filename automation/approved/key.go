package approved

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
)

// Key makes the digests of one cluster. The zero value makes plain ones, which must be
// made of inputs whose secrets are masked.
//
// A plain digest of a short secret can be tried out: whoever has the file hashes one
// guess after the other. So a digest of inputs with secrets in them is a HMAC, with a key
// that is not in the file and that those know who make plans and apply them: it is
// derived from TOMBOLO_PLAN_KEY, or else from the passphrase of the states. Whoever tries
// out the passphrase by a digest has as much work as by the state, and needs to know or to
// guess all other inputs too: the derivation is that of Pulumi's passphrase provider,
// PBKDF2 with a million rounds of SHA-256 (sdk/go/common/resource/config/crypt.go in
// github.com/pulumi/pulumi). The salt is the cluster's name and its states, so that two
// clusters, and two plans, have different keys, and the same plan twice has the same.
type Key struct{ key []byte }

// rounds of the derivation.
const rounds = 1_000_000

// NewKey derives the key of a cluster from a secret; "" gives the zero value.
func NewKey(secret string, c Cluster) (Key, error) {
	if secret == "" {
		return Key{}, nil
	}
	salt := sha256.New()
	salt.Write([]byte("tombolo plan\n" + c.Name + "\n"))
	for _, s := range c.Stacks {
		if s.State != nil {
			salt.Write([]byte(s.Name + " " + s.State.Digest + "\n"))
		}
	}
	key, err := pbkdf2.Key(sha256.New, secret, salt.Sum(nil), rounds, sha256.Size)
	return Key{key}, err
}

// Keyed says whether digests are keyed.
func (k Key) Keyed() bool { return k.key != nil }

// Secrets are the digests of secrets by their keys of the cluster file; nil without a key, as a plain
// digest could be tried out.
func (k Key) Secrets(values map[string]string) (map[string]string, error) {
	if !k.Keyed() || len(values) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for path, value := range values {
		var err error
		if out[path], err = k.digest([]any{path, value}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// digest of a value.
func (k Key) digest(v any) (string, error) {
	text, err := canonical([]any{v}) // the library takes objects and arrays
	if err != nil {
		return "", err
	}
	if !k.Keyed() {
		return digestOf(text), nil
	}
	mac := hmac.New(sha256.New, k.key)
	mac.Write(text)
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil)), nil
}
