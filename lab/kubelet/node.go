package kubelet

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"
	"golang.org/x/net/http/httpproxy"
)

// Egress is what a node was told of the way out, by its user data.
type Egress struct {
	// Proxy of containerd and the kubelet, and what they reach without it.
	Proxy, NoProxy string
	// Trusted certificates beside the public ones, PEM.
	Trusted string
	// Endpoints of registries that are asked in place of them, or before them.
	Endpoints map[string]string
}

// What a node of Amazon Linux 2023 reads: the environment of a NodeConfig, an anchor of its
// trust, and a hosts.toml for each registry. Sources: the documentation of nodeadm in
// https://github.com/awslabs/amazon-eks-ami, update-ca-trust(8), and
// https://github.com/containerd/containerd/blob/main/docs/hosts.md
var (
	variable    = regexp.MustCompile(`(?m)^\s*(HTTPS_PROXY|NO_PROXY): "?([^"\n]*)"?$`)
	certificate = regexp.MustCompile(`(?s)-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n`)
	hostsFile   = regexp.MustCompile(`(?s)/etc/containerd/certs\.d/([^/\s]+)/hosts\.toml <<'(\w+)'\n(.*?)\n?(?m:^)EOF`)
)

// ReadEgress reads user data, as text, of Amazon Linux 2023 or of Bottlerocket. What it says
// of other things is not looked at.
func ReadEgress(data string) (Egress, error) {
	e := Egress{Endpoints: map[string]string{}}
	if strings.Contains(data, "[settings") {
		return e, e.readSettings(data)
	}
	for _, m := range variable.FindAllStringSubmatch(data, -1) {
		if m[1] == "HTTPS_PROXY" {
			e.Proxy = m[2]
		} else {
			e.NoProxy = m[2]
		}
	}
	if strings.Contains(data, "update-ca-trust") {
		e.Trusted = strings.Join(certificate.FindAllString(data, -1), "")
	}
	for _, m := range hostsFile.FindAllStringSubmatch(data, -1) {
		var file struct {
			Server       string `toml:"server"`
			OverridePath bool   `toml:"override_path"`
		}
		if _, err := toml.Decode(m[3], &file); err != nil {
			return e, fmt.Errorf("hosts.toml of %s: %w", m[1], err)
		}
		if !file.OverridePath {
			file.Server += "/v2"
		}
		e.Endpoints[m[1]] = file.Server
	}
	return e, nil
}

// readSettings reads Bottlerocket's. Source: https://bottlerocket.dev/en/os/latest/#/api/settings/
func (e *Egress) readSettings(data string) error {
	var all struct {
		Settings struct {
			Network struct {
				Proxy   string   `toml:"https-proxy"`
				NoProxy []string `toml:"no-proxy"`
			} `toml:"network"`
			PKI map[string]struct {
				Data    string
				Trusted bool
			} `toml:"pki"`
			Registry struct {
				Mirrors []struct {
					Registry string
					Endpoint []string
				}
			} `toml:"container-registry"`
		}
	}
	if _, err := toml.Decode(data, &all); err != nil {
		return err
	}
	s := all.Settings
	e.Proxy, e.NoProxy = s.Network.Proxy, strings.Join(s.Network.NoProxy, ",")
	for name, bundle := range s.PKI {
		pem, err := base64.StdEncoding.DecodeString(bundle.Data)
		if err != nil {
			return fmt.Errorf("settings.pki.%s: %w", name, err)
		}
		if bundle.Trusted {
			e.Trusted += string(pem)
		}
	}
	for _, m := range s.Registry.Mirrors {
		if len(m.Endpoint) > 0 {
			e.Endpoints[m.Registry] = m.Endpoint[0]
		}
	}
	return nil
}

// client asks as containerd does on the node. proxies are where the proxies that a node may
// name listen, by host and port.
func (e Egress) client(proxies map[string]string) *http.Client {
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(e.Trusted))
	choose := (&httpproxy.Config{HTTPSProxy: e.Proxy, HTTPProxy: e.Proxy, NoProxy: e.NoProxy}).ProxyFunc()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	transport.DisableKeepAlives = true
	transport.Proxy = func(r *http.Request) (*url.URL, error) {
		chosen, err := choose(r.URL)
		if err != nil {
			return nil, err
		}
		if chosen == nil {
			return nil, fmt.Errorf("no route to host: the node goes to %s by no proxy", r.URL.Hostname())
		}
		real, ok := proxies[chosen.Host]
		if !ok {
			return nil, fmt.Errorf("no such host: the proxy %s", chosen.Host)
		}
		return url.Parse(real)
	}
	return &http.Client{Transport: transport, Timeout: pullTimeout}
}
