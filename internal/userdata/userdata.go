// Package userdata writes the user data of a node: what an instance is started with so that
// it becomes a node of its cluster. EKS adds a part of its own to that of a managed node
// group, unless the group has an image of its own.
package userdata

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
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
