package lab

import (
	"fmt"
	"net/http"
	"time"

	"tombolo/lab/secretskey"
)

// mayUseKey asks the policies of the role whose session has signed a request. Whoever has none, as
// the user of an account or who asks without a signature, may do all.
func (d *daemon) mayUseKey(r *http.Request, body []byte, action string) bool {
	who, err := d.accounts.sts().Identify(r, body, "kms", Region)
	return err != nil || who.May(action, secretskey.ARN(who.Cloud().Account, Region), nil)
}

// serveSecretsKey serves that key to this user's processes.
func (d *daemon) serveSecretsKey(failed chan<- error) (end func(), err error) {
	text, err := secret(d.lab.paths().secretsKey())
	if err != nil {
		return nil, err
	}
	key, err := secretskey.New(text)
	if err != nil {
		return nil, err
	}
	key.Allows = d.mayUseKey
	listener, err := listenForOwn(loopback(d.ports.secrets), d.log)
	if err != nil {
		return nil, fmt.Errorf("listen for the key of secrets: %w", err)
	}
	server := &http.Server{Handler: key, ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- server.Serve(listener) }()
	return func() { server.Close() }, nil
}
