// Package secretskey is the key that encrypts the secrets of the lab's states: as much of
// AWS's Key Management Service as Pulumi uses of it. The CLI derives a key from a passphrase
// in each of its runs, which takes it a quarter of a second; a key service only unwraps one.
package secretskey

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Alias is the name of the key.
const Alias = "alias/tombolo"

// ARN of the key in an account and region, for policies.
func ARN(account, region string) string {
	return "arn:aws:kms:" + region + ":" + account + ":key/00000000-0000-4000-8000-00000000004b"
}

// Key encrypts and decrypts. The zero Allows lets everybody who reaches it.
type Key struct {
	aead cipher.AEAD

	// Allows says whether whoever has signed a request may do the action, such as kms:Decrypt.
	Allows func(r *http.Request, body []byte, action string) bool
}

// New is the key made of a random text, the same for the same text.
func New(secret string) (*Key, error) {
	sum := sha256.Sum256([]byte(secret))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, fmt.Errorf("make the key of the lab's secrets: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make the key of the lab's secrets: %w", err)
	}
	return &Key{aead: aead}, nil
}

// URL is the secrets provider of Pulumi that uses the key of this name, served at an address.
func URL(alias, region, address string) string {
	return "awskms://" + alias + "?" + url.Values{"region": {region}, "endpoint": {"http://" + address}}.Encode()
}

// request has the members of both operations.
type request struct {
	KeyID          string `json:"KeyId"`
	Plaintext      []byte `json:",omitempty"`
	CiphertextBlob []byte `json:",omitempty"`
}

// ServeHTTP answers Encrypt and Decrypt:
// https://docs.aws.amazon.com/kms/latest/APIReference/API_Operations.html
func (k *Key) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in request
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		refuse(w, "SerializationException", err.Error())
		return
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if k.Allows != nil && !k.Allows(r, body, "kms:"+operation) {
		refuse(w, "AccessDeniedException", "no identity-based policy allows the kms:"+operation+" action")
		return
	}
	out := request{KeyID: Alias}
	switch operation {
	case "Encrypt":
		if in.KeyID != Alias {
			refuse(w, "NotFoundException", "Alias "+in.KeyID+" is not found.")
			return
		}
		out.CiphertextBlob = k.aead.Seal(nil, nil, in.Plaintext, nil)
	case "Decrypt":
		text, err := k.aead.Open(nil, nil, in.CiphertextBlob, nil)
		if err != nil {
			refuse(w, "InvalidCiphertextException", "it was encrypted by another key, such as the key of an earlier lab")
			return
		}
		out.Plaintext = text
	default:
		refuse(w, "UnknownOperationException", "the lab's key does not know the operation "+operation)
		return
	}
	answer(w, http.StatusOK, out)
}

func refuse(w http.ResponseWriter, code, message string) {
	answer(w, http.StatusBadRequest, map[string]string{"__type": code, "message": message})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client went away
}
