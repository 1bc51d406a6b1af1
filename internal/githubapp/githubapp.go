// Package githubapp gets tokens for Git repositories from a GitHub App, as the engines do.
package githubapp

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// User is the user name that goes with a token:
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation
const User = "x-access-token"

// publicAPI is the API of github.com.
const publicAPI = "https://api.github.com"

// App is a GitHub App where it is installed.
type App struct {
	// ID of the App, and Installation, the number of its installation.
	ID, Installation int
	// Key is the private key, in PEM.
	Key string
	// API is the address of GitHub's API, without a slash at its end; "" for github.com's.
	API string
}

// ParseKey reads a private key as GitHub makes it: RSA in PEM, PKCS #1; PKCS #8 is the same
// key, written by others. No error holds any of it.
func ParseKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("is no private key in PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("is no private key in PEM without a passphrase")
	}
	own, isRSA := key.(*rsa.PrivateKey)
	if !isRSA {
		return nil, errors.New("is no RSA key, which GitHub makes for an App")
	}
	return own, nil
}

// maxAnswer is more than the API answers, in bytes.
const maxAnswer = 1 << 20

// Token asks for a token of the installation. It lasts an hour, and may what the App may.
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
func (a App) Token(ctx context.Context, client *http.Client) (string, error) {
	signed, err := a.sign(time.Now())
	if err != nil {
		return "", err
	}
	api := a.API
	if api == "" {
		api = publicAPI
	}
	address := fmt.Sprintf("%s/app/installations/%d/access_tokens", api, a.Installation)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("Authorization", "Bearer "+signed)
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var answer struct{ Token, Message string }
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("read the answer of %s: %w", address, err)
	}
	err = json.NewDecoder(bytes.NewReader(body)).Decode(&answer)
	switch {
	case resp.StatusCode != http.StatusCreated:
		return "", fmt.Errorf("%s answers %s: %.200q", address, resp.Status, answer.Message)
	case err != nil || answer.Token == "":
		return "", fmt.Errorf("%s answers without a token", address)
	}
	return answer.Token, nil
}

// sign makes the token by which an App asks: signed by its key, for ten minutes at most, and
// from a minute ago, for clocks that differ. Go's library has all of it.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
func (a App) sign(now time.Time) (string, error) {
	key, err := ParseKey(a.Key)
	if err != nil {
		return "", fmt.Errorf("the private key of the GitHub App %w", err)
	}
	claims, err := json.Marshal(map[string]any{
		"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(5 * time.Minute).Unix(), "iss": strconv.Itoa(a.ID),
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign with the private key of the GitHub App: %w", err)
	}
	return text + "." + encode(signature), nil
}
