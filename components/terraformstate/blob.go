package terraformstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
)

// Reading a blob takes Entra's tokens since this version, which has all that is needed.
// Source: https://learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory
const blobVersion = "2019-12-12"

// blob reads from a container as Terraform's backend azurerm does with use_azuread_auth, as whom the Azure CLI is signed in.
// Keys of accounts are not used: they may do everything. The token goes to no host but the storage of Azure.
func (r Reader) blob(ctx context.Context, at *url.URL) ([]byte, error) {
	to := url.URL{Scheme: "https", Host: at.Query().Get("storage_account") + ".blob.core.windows.net", Path: "/" + at.Host + at.Path}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, err
	}
	token, err := r.storageToken(ctx)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("x-ms-version", blobVersion)
	answer, err := r.client().Do(request)
	if err != nil {
		return nil, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return all(answer.Body)
	case http.StatusNotFound:
		err = ErrMissing
	case http.StatusForbidden:
		err = errors.New("the storage refuses to show it; whoever az is signed in as needs the role Storage Blob Data Reader, and the account's network has to let this machine in")
	default:
		err = fmt.Errorf("the storage answers %s", answer.Status)
	}
	return nil, errors.Join(err, answer.Body.Close())
}

func (r Reader) storageToken(ctx context.Context) (string, error) {
	az := exec.CommandContext(ctx, "az", "account", "get-access-token", "--resource", "https://storage.azure.com/", "--output", "json")
	out, err := az.Output()
	if err != nil {
		return "", fmt.Errorf("ask az for a token of Azure's storage (az login signs in): %w", err)
	}
	var token struct {
		Text string `json:"accessToken"`
	}
	if json.Unmarshal(out, &token) != nil || token.Text == "" {
		return "", errors.New("az gave no token of Azure's storage; update the Azure CLI")
	}
	return token.Text, nil
}
