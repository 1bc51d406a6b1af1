package standin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// loadSecret reads the key that signs tokens, or makes one.
func loadSecret(path string) ([]byte, error) {
	secret, err := os.ReadFile(path)
	if err == nil && len(secret) == sha256.Size {
		return secret, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the token key: %w", err)
	}
	secret = make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	if err := writeFile(path, secret); err != nil {
		return nil, fmt.Errorf("write the token key: %w", explainDisk(err))
	}
	return secret, nil
}

// Sign is the account's signature on something that it gave out.
func (c *Cloud) Sign(purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, c.secret)
	h.Write([]byte(purpose + "\n"))
	h.Write(data)
	return h.Sum(nil)
}
