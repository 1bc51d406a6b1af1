package lab

import (
	"fmt"
	"net/http"
	"time"

	"tombolo/lab/secretskey"
)

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
	listener, err := listenForOwn(loopback(d.ports.secrets), d.log)
	if err != nil {
		return nil, fmt.Errorf("listen for the key of secrets: %w", err)
	}
	server := &http.Server{Handler: key, ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- server.Serve(listener) }()
	return func() { server.Close() }, nil
}
