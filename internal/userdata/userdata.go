// Package userdata writes the user data of a node: what an instance is started with so that
// it becomes a node of its cluster. EKS adds a part of its own to that of a managed node
// group, unless the group has an image of its own.
package userdata

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Most is how long user data may be, in bytes before it is written in base64. Source:
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
const Most = 16 * 1024

// Family is a family of images, which share the format of user data.
type Family string

// The families.
const (
	// AL2023 is Amazon Linux 2023: its user data is a MIME archive with NodeConfigs, which
	// nodeadm reads, and scripts.
	AL2023 Family = "al2023"
	// Bottlerocket has settings in TOML.
	Bottlerocket Family = "bottlerocket"
)

// Own is what Tombolo says in user data. The zero Own says nothing.
type Own struct {
	// MaxPods is the largest number of pods on a node; 0 leaves it to EKS.
	MaxPods int
	// Cluster to join, for an image to which EKS adds nothing; nil for others.
	Cluster *Cluster
	// Egress of the node.
	Egress Egress
}

func (o Own) says() bool { return o.MaxPods > 0 || o.Cluster != nil || o.Egress.says() }

// Cluster is what a node needs to know to join a cluster.
type Cluster struct {
	// Name, Endpoint and CA (base64 of PEM) of the cluster.
	Name, Endpoint, CA string
	// ServiceCIDR is the block of its Services.
	ServiceCIDR string
}

// dns is the address of the cluster's DNS, the tenth of the block. Source: "cluster-dns-ip"
// in https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
func (c *Cluster) dns() (string, error) {
	block, err := netip.ParsePrefix(c.ServiceCIDR)
	if err != nil || !block.Addr().Is4() {
		return "", fmt.Errorf("the service block %q is not an IPv4 block", c.ServiceCIDR)
	}
	address := block.Masked().Addr().As4()
	address[3] += 10
	return netip.AddrFrom4(address).String(), nil
}

// Compose writes user data of what Tombolo says and of a person's text; "" when there is
// nothing to say. Where both say the same setting, the person's text wins. It fails for a
// text that the family cannot read, and for more than Most bytes.
func Compose(family Family, own Own, text string) (string, error) {
	compose := map[Family]func(Own, string) (string, error){AL2023: archive, Bottlerocket: settings}[family]
	if compose == nil {
		return "", fmt.Errorf("there is no family of images %q", family)
	}
	out, err := compose(own, text)
	if err != nil {
		return "", err
	}
	if len(out) > Most {
		return "", fmt.Errorf("has %d bytes; EC2 takes %d", len(out), Most)
	}
	return out, nil
}

// Split takes apart what Compose wrote, as far as it can be told: what Tombolo says, without
// the cluster, and the person's text.
func Split(family Family, composed string) (own Own, text string) {
	if family == Bottlerocket {
		return splitSettings(composed)
	}
	return splitArchive(composed)
}

// ErrForm says that a text has none of the forms that AL2023 reads.
var ErrForm = errors.New("is neither a NodeConfig, nor a script, nor a MIME archive")

func blank(text string) bool { return strings.TrimSpace(text) == "" }

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
