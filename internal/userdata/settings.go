package userdata

import (
	"bytes"
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
	if own == (Own{}) {
		return text, nil
	}
	kubernetes, err := table(all, "settings", "kubernetes")
	if err != nil {
		return "", err
	}
	ours, err := kubernetesSettings(own)
	if err != nil {
		return "", err
	}
	for key, value := range ours {
		if _, given := kubernetes[key]; !given {
			kubernetes[key] = value
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

func splitSettings(composed string) (maxPods int, text string) {
	var all struct {
		Settings struct {
			Kubernetes struct {
				MaxPods int `toml:"max-pods"`
			} `toml:"kubernetes"`
		} `toml:"settings"`
	}
	meta, err := toml.Decode(composed, &all)
	if err != nil {
		return 0, composed
	}
	for _, key := range meta.Undecoded() {
		if !slices.Contains(joining, key.String()) {
			text = composed
		}
	}
	return all.Settings.Kubernetes.MaxPods, text
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
