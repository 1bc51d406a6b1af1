package reach

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"tombolo/config"
)

// tryTimeout bounds the connection. A security group drops packets: nothing refuses them.
const tryTimeout = 10 * time.Second

// Try connects to the API of a cluster that is there, and says what happened. ca is its
// authority as base64 of PEM. Any answer will do: whom the API lets in is another question.
func Try(ctx context.Context, c *config.Cluster, m Machine, endpoint, ca string) Judgement {
	if m.Everywhere {
		return Judgement{Verdict: Reachable, Silent: true, Why: toEverywhere}
	}
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	err := connect(ctx, m, endpoint, ca)
	if err == nil {
		return Judgement{Verdict: Reachable, Silent: true, Why: "it answers"}
	}
	j := Judgement{Verdict: Unreachable, Why: m.because(c, err), Remedy: remedies(c)}
	j.Why += "; by the cluster file it is reachable " + From(c)
	return j
}

func connect(ctx context.Context, m Machine, endpoint, ca string) error {
	pem, err := base64.StdEncoding.DecodeString(ca)
	if err != nil {
		return fmt.Errorf("read the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	transport := m.transport()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(endpoint, "/")+"/version", nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// because says in words why a connection failed.
func (m Machine) because(c *config.Cluster, err error) string {
	why := plain(err)
	if proxy, through := m.proxyTo(c); through {
		return "through the proxy " + proxy + ": " + why
	}
	return why
}

func plain(err error) string {
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.As(err, &dns):
		return "its name " + dns.Name + " is not known here"
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("nothing answered within %s, as where a security group or a route does not let in", tryTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &authority) || errors.As(err, &name):
		return "what answered is not the cluster: " + err.Error()
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err.Error()
}
