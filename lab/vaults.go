package lab

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/lab/azure/keyvault"
	"tombolo/lab/control"
	"tombolo/lab/entra"
)

// VaultRequest is a request to the secrets of a key vault.
type VaultRequest = control.VaultRequest

// VaultError is a refusal of a key vault, or of Entra.
type VaultError = control.VaultError

// vaultVersion of the API.
const vaultVersion = "7.4"

// KeyVault returns what a key vault of the stand-in answers, in JSON. It asks as any client
// does, by the lab's proxy and with a token of Entra's for the credentials in this process's
// environment. It fails with a VaultError where it is refused.
func (l *Lab) KeyVault(ctx context.Context, r VaultRequest) (json.RawMessage, error) {
	body, err := l.askVault(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("ask key vault %s: %w", r.Vault, err)
	}
	return body, nil
}

func (l *Lab) askVault(ctx context.Context, r VaultRequest) (json.RawMessage, error) {
	client, err := l.cloudClient()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	token, err := vaultToken(ctx, client)
	if err != nil {
		return nil, err
	}
	at := "https://" + keyvault.HostOf(r.Vault) + r.Path + "?api-version=" + vaultVersion
	request, err := http.NewRequestWithContext(ctx, r.Method, at, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	var answer struct {
		Error struct{ Code, Message string }
	}
	body, status, err := exchange(client, request, &answer)
	if err == nil && status != http.StatusOK {
		err = &VaultError{Code: answer.Error.Code, Message: answer.Error.Message}
	}
	return body, err
}

// cloudClient reaches the clouds' hosts of the lab.
func (l *Lab) cloudClient() (*http.Client, error) {
	own, err := l.ownProxy()
	if err != nil {
		return nil, err
	}
	proxy, err := url.Parse(own)
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(l.paths().pki(), "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("read the lab's certificates: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12},
	}}, nil
}

// vaultToken gets a token for vaults with the token in a file that the environment names.
func vaultToken(ctx context.Context, client *http.Client) (string, error) {
	file := os.Getenv("AZURE_FEDERATED_TOKEN_FILE")
	assertion, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the token in AZURE_FEDERATED_TOKEN_FILE: %w; run: eval \"$(tombolo lab env)\"", err)
	}
	form := entra.Federated(os.Getenv("AZURE_CLIENT_ID"), string(assertion), keyvault.Resource)
	at := "https://" + entra.LoginHost + "/" + os.Getenv("AZURE_TENANT_ID") + "/oauth2/v2.0/token"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token       string `json:"access_token"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_, status, err := exchange(client, request, &answer)
	if err == nil && status != http.StatusOK {
		err = &VaultError{Code: answer.Error, Message: answer.Description}
	}
	return answer.Token, err
}

// exchange sends a request, and reads the answer into a value.
func exchange(client *http.Client, request *http.Request, into any) (json.RawMessage, int, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	var body json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return nil, 0, fmt.Errorf("read the answer of %s: %w", request.URL.Host, err)
	}
	return body, response.StatusCode, json.Unmarshal(body, into)
}

// vaults is the API of the lab's key vaults.
func (d *daemon) vaults() http.Handler {
	return keyvault.Secrets(d.azure, keyvault.Options{Address: outsideAddress, Caller: func(token string) (keyvault.Caller, error) {
		who, err := d.entra.Holder(token)
		return keyvault.Caller{Object: who.ObjectID, Application: who.ClientID, Audience: who.Audience}, err
	}})
}
