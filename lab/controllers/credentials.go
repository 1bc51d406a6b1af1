package controllers

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"tombolo/internal/file"
	"tombolo/lab/kubeconfig"
)

const (
	tokenLifetime = time.Hour
	// renewBefore the end of a token's life. The controllers read the file
	// again every minute.
	renewBefore = 15 * time.Minute
)

// tokenFile is a file with a token of a controller's service account.
type tokenFile struct {
	path string
	// audience of the token; the cluster's API where it is empty.
	audience string
}

// apiToken is the token that the kubeconfig in a controller's directory is for.
func apiToken(dir string) tokenFile { return tokenFile{path: filepath.Join(dir, "token")} }

// writeCredentials writes the kubeconfig of a controller and the tokens of its
// service account, as a pod would have them, in files that are renewed.
func (w *watch) writeCredentials(ctx context.Context, p plan, dir string, tokens []tokenFile) (expires time.Time, _ error) {
	expires, err := w.writeTokens(ctx, p, tokens)
	if err != nil {
		return time.Time{}, err
	}
	user := &api.AuthInfo{TokenFile: apiToken(dir).path}
	return expires, kubeconfig.Write(filepath.Join(dir, "kubeconfig"), w.config.Host, w.config.CAData, user, p.namespace)
}

// writeTokens writes tokens that live equally long.
func (w *watch) writeTokens(ctx context.Context, p plan, tokens []tokenFile) (expires time.Time, err error) {
	for _, t := range tokens {
		if expires, err = w.writeToken(ctx, p, t); err != nil {
			return time.Time{}, err
		}
	}
	return expires, nil
}

// writeToken asks for a token and puts it in place in one step.
func (w *watch) writeToken(ctx context.Context, p plan, t tokenFile) (expires time.Time, _ error) {
	seconds := int64(tokenLifetime.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if t.audience != "" {
		request.Spec.Audiences = []string{t.audience}
	}
	answer, err := w.client.CoreV1().ServiceAccounts(p.namespace).CreateToken(ctx, p.serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return time.Time{}, fmt.Errorf("get a token of service account %s/%s: %w", p.namespace, p.serviceAccount, err)
	}
	if err := file.Replace(t.path, []byte(answer.Status.Token), 0o600); err != nil {
		return time.Time{}, fmt.Errorf("write a token: %w", err)
	}
	return answer.Status.ExpirationTimestamp.Time, nil
}

// renew keeps a controller's tokens fresh. It looks at the wall clock once a
// minute: a timer does not run while a laptop sleeps.
func (w *watch) renew(ctx context.Context, p plan, tokens []tokenFile, expires time.Time) {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if now.Round(0).Before(expires.Add(-renewBefore)) {
				continue
			}
		}
		renewed, err := w.writeTokens(ctx, p, tokens)
		if err != nil {
			w.log.Warn("token not renewed, next try in a minute", "process", p.process, "error", err)
			continue
		}
		expires = renewed
	}
}
