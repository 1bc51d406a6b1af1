package project

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/config"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/enginefacts"
	"tombolo/config/strict"
	"tombolo/internal/file"
)

// Cluster describes a new cluster. The fields are those of the cluster file.
type Cluster struct {
	Name, Environment       string
	Provider                config.Provider
	Region, Account, Tenant string
	// AdminGroup is the object id of a group of Entra, for a cluster in Azure.
	AdminGroup string
	// CIDR of the network. Network is one that exists, in its place, with its way out in Azure.
	CIDR     string
	Network  *config.ExistingNetwork
	Outbound config.Outbound
	// NetworkFrom says where the ids of Network are from.
	NetworkFrom string
	// AllowedCIDRs may reach the Kubernetes API from the internet. Default: none, and the API is
	// reached from inside.
	AllowedCIDRs []string
	Engine       config.Engine
	// URL of the repository with the platform tree, and the Branch that the engine follows. Default: main.
	URL, Branch string
}

// OnAzure says that the cluster is in Azure.
func (c Cluster) OnAzure() bool { return c.Provider == config.Azure }

// IsFlux says that Flux is the cluster's engine.
func (c Cluster) IsFlux() bool { return c.Engine == config.Flux }

// Partition of AWS that the region is in.
func (c Cluster) Partition() string { return awsfacts.Partition(c.Region) }

// EngineVersion is the release of the engine that clusters begin with.
func (c Cluster) EngineVersion() string { return enginefacts.Install(string(c.Engine)).Version }

// EngineSHA256 is the checksum of its manifest.
func (c Cluster) EngineSHA256() string { return enginefacts.Install(string(c.Engine)).SHA256 }

// Kubernetes is the newest version that the cloud has in standard support, and that the engine's
// release is tested with.
func (c Cluster) Kubernetes() string {
	calendar, now := awsfacts.Calendar, config.Today()
	if c.OnAzure() {
		calendar = azurefacts.Calendar
	}
	for _, r := range slices.Backward(calendar) {
		_, gap := enginefacts.Untested(string(c.Engine), c.EngineVersion(), r.Minor)
		if !gap && !r.Released.After(now) && r.Extended.After(now) {
			return r.Minor
		}
	}
	return calendar[len(calendar)-1].Minor // this tombolo is old: validate says so
}

// File is the cluster file. The error is strict.Problems, with the keys that are wrong, when the file
// would not be valid.
func (c Cluster) File() (string, error) {
	text, err := render("cluster.yaml.tmpl", c)
	if err != nil {
		return "", err
	}
	_, err = load(c.Name, text)
	return text, err
}

// load reads the text of a cluster file as config.Load does, in a directory of its own.
func load(name, text string) (_ *config.Cluster, err error) {
	dir, err := os.MkdirTemp("", "tombolo-")
	if err != nil {
		return nil, fmt.Errorf("check the cluster file: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The name may be none of a file: it is not checked yet.
	path := filepath.Join(dir, "cluster.yaml")
	if err := file.Create(path, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("check the cluster file of %s: %w", name, err)
	}
	return config.Load(path)
}

// FreeBlock is a /16 that none of the clusters' networks overlaps; "" when none is left. It is none of
// those that the services of a cluster have by default.
func FreeBlock(clusters []*config.Cluster) string {
	for n := byte(20); n < 240; n++ {
		block := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, n, 0, 0}), 16)
		if n != 100 && !slices.ContainsFunc(clusters, func(c *config.Cluster) bool {
			taken, err := netip.ParsePrefix(c.Network.CIDR)
			return err == nil && taken.Overlaps(block)
		}) {
			return block.String()
		}
	}
	return ""
}

// Like is the text of a cluster file with the name, the path and the network of another cluster.
// Everything else stays as people wrote it. The error is strict.Problems when the file has a form
// that cannot be edited.
func Like(path, text, name, cidr string) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	lines := strings.SplitAfter(text, "\n")
	for key, value := range map[string]string{"name": name, "gitops.path": "clusters/" + name, "network.cidr": cidr} {
		node := at(&doc, strings.Split(key, "."))
		if node == nil {
			continue // a spoke has no path, and a network of others no block
		}
		line := lines[node.Line-1]
		start := len(string([]rune(line)[:node.Column-1]))
		quote := ""
		if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			quote = line[start : start+1]
		}
		rest, found := strings.CutPrefix(line[start:], quote+node.Value+quote)
		if !found {
			problem := strict.Problem{File: path, Line: node.Line, Column: node.Column, Path: key, Message: "has a form that cannot be edited", Remedy: "write it on one line, as a plain text"}
			return "", strict.Problems{problem}
		}
		lines[node.Line-1] = line[:start] + quote + value + quote + rest
	}
	return strings.Join(lines, ""), nil
}

// at is the value of a key of a key; nil when there is none.
func at(node *yaml.Node, keys []string) *yaml.Node {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	if len(keys) == 0 {
		return node
	}
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == keys[0] {
			return at(node.Content[i+1], keys[1:])
		}
	}
	return nil
}
