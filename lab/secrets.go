package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/secretsmanager"
	"tombolo/lab/control"
)

// serveSecrets answers the requests to Secrets Manager.
func (d *daemon) serveSecrets(mux *http.ServeMux) {
	handle(mux, "POST /secretsmanager", func(_ context.Context, r control.SecretsRequest) (control.ServiceAnswer, error) {
		body, err := d.secrets(r)
		var refused *jsonapi.Refused
		if errors.As(err, &refused) {
			return control.ServiceAnswer{Code: refused.Code, Message: refused.Message}, nil
		}
		return control.ServiceAnswer{Body: body}, err
	})
}

func (d *daemon) secrets(r control.SecretsRequest) (json.RawMessage, error) {
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
