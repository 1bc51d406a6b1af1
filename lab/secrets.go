package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/secretsmanager"
	"tombolo/lab/aws/sigv4"
)

// SecretsRequest is a request to Secrets Manager.
type SecretsRequest struct {
	// Operation of the API, such as GetSecretValue.
	Operation string `json:"operation"`
	// Region that it is for. Default: Region.
	Region string `json:"region"`
	// Input in the API's JSON.
	Input json.RawMessage `json:"input"`
	// By are the credentials of the request; the account's one user without any.
	By sigv4.Credentials `json:"by"`
}

// secretsAnswer has what Secrets Manager answers, or its refusal.
type secretsAnswer struct {
	Body          json.RawMessage `json:"body,omitempty"`
	Code, Message string
}

// SecretsManager returns what the stand-in's Secrets Manager answers, in JSON. It asks with
// the credentials in this process's environment, and fails with an AWSError where the
// service refuses.
func (l *Lab) SecretsManager(ctx context.Context, r SecretsRequest) (json.RawMessage, error) {
	r.By = environmentCredentials()
	var a secretsAnswer
	if err := l.ask(ctx, http.MethodPost, "/secretsmanager", r, &a); err != nil {
		return nil, fmt.Errorf("ask Secrets Manager: %w", err)
	}
	if a.Code != "" {
		return nil, &AWSError{r.Operation, a.Code, a.Message}
	}
	return a.Body, nil
}

// serveSecrets answers SecretsManager.
func (d *daemon) serveSecrets(mux *http.ServeMux) {
	handle(mux, "POST /secretsmanager", func(_ context.Context, r SecretsRequest) (secretsAnswer, error) {
		body, err := d.secrets(r)
		var refused *jsonapi.Refused
		if errors.As(err, &refused) {
			return secretsAnswer{Code: refused.Code, Message: refused.Message}, nil
		}
		return secretsAnswer{Body: body}, err
	})
}

func (d *daemon) secrets(r SecretsRequest) (json.RawMessage, error) {
	who, err := d.accounts.sts().Holder(r.By)
	if err != nil {
		return nil, jsonapi.Unidentified(err)
	}
	answer, err := secretsmanager.Service().Call(who, cmp.Or(r.Region, Region), r.Operation, r.Input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
