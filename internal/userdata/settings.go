package userdata

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"
)

// settings is the user data of Bottlerocket. A table may be in a file of TOML once only, so
// both are merged. Source of the settings: https://bottlerocket.dev/en/os/latest/#/api/settings/kubernetes/
func settings(own Own, text string) (string, error) {
	all := map[string]any{}
	if _, err := toml.Decode(text, &all); err != nil {
		return "", fmt.Errorf("is not TOML: %w", err)
	}
	if !blank(text) {
		if _, ok := all["settings"].(map[string]any); !ok {
			return "", errors.New("has no table settings")
		}
	}
	if !own.says() {
		return text, nil
	}
	ours := own.Egress.settings()
	kubernetes, err := kubernetesSettings(own)
	if err != nil {
		return "", err
	}
	if len(kubernetes) > 0 {
		ours["kubernetes"] = kubernetes
	}
	for name, settings := range ours {
		given, err := table(all, "settings", name)
		if err != nil {
			return "", err
		}
		for key, value := range settings {
			if _, there := given[key]; !there {
				given[key] = value
			}
		}
	}
	var b bytes.Buffer
	encoder := toml.NewEncoder(&b)
	encoder.Indent = ""
	if err := encoder.Encode(all); err != nil {
		return "", fmt.Errorf("write it as TOML: %w", err)
	}
	return b.String(), nil
}

func splitSettings(composed string) (own Own, text string) {
	var all struct {
		Settings struct {
			Kubernetes struct {
				MaxPods int `toml:"max-pods"`
			} `toml:"kubernetes"`
			Network struct {
				Proxy   string   `toml:"https-proxy"`
				NoProxy []string `toml:"no-proxy"`
			} `toml:"network"`
			PKI struct {
				Bundle struct {
					Data    string `toml:"data"`
					Trusted bool   `toml:"trusted"`
				} `toml:"company-ca"`
			} `toml:"pki"`
			Registries struct {
				Mirrors []struct {
					Registry string   `toml:"registry"`
					Endpoint []string `toml:"endpoint"`
				} `toml:"mirrors"`
			} `toml:"container-registry"`
		} `toml:"settings"`
	}
	meta, err := toml.Decode(composed, &all)
	if err != nil {
		return Own{}, composed
	}
	for _, key := range meta.Undecoded() {
		if !slices.Contains(joining, key.String()) {
			text = composed
		}
	}
	own.MaxPods = all.Settings.Kubernetes.MaxPods
	own.Egress = Egress{Proxy: all.Settings.Network.Proxy, NoProxy: all.Settings.Network.NoProxy}
	if authority, err := base64.StdEncoding.DecodeString(all.Settings.PKI.Bundle.Data); err == nil {
		own.Egress.CertificateAuthority = string(authority)
	}
	for _, m := range all.Settings.Registries.Mirrors {
		if len(m.Endpoint) != 1 {
			continue
		}
		if own.Egress.Mirrors == nil {
			own.Egress.Mirrors = map[string]string{}
		}
		own.Egress.Mirrors[m.Registry] = mirrorOf(m.Endpoint[0])
	}
	return own, text
}

// joining are the settings by which a node joins a cluster.
var joining = []string{
	"settings.kubernetes.cluster-name", "settings.kubernetes.api-server", "settings.kubernetes.cluster-certificate", "settings.kubernetes.cluster-dns-ip",
}

func kubernetesSettings(own Own) (map[string]any, error) {
	out := map[string]any{}
	if own.MaxPods > 0 {
		out["max-pods"] = own.MaxPods
	}
	if c := own.Cluster; c != nil {
		dns, err := c.dns()
		if err != nil {
			return nil, err
		}
		out["cluster-name"], out["api-server"], out["cluster-certificate"], out["cluster-dns-ip"] = c.Name, c.Endpoint, c.CA, dns
	}
	return out, nil
}

// table within tables, which is made where it is not there.
func table(in map[string]any, path ...string) (map[string]any, error) {
	for _, key := range path {
		if in[key] == nil {
			in[key] = map[string]any{}
		}
		next, ok := in[key].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("has %s, which is not a table", key)
		}
		in = next
	}
	return in, nil
}
