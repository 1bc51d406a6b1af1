package distribution

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/internal/names"
)

// Egress is how an engine reaches what is outside of the cluster's network. The zero Egress
// is directly.
type Egress struct {
	// Proxy is the URL of an HTTP proxy, and NoProxy what is reached without it, beside the
	// engine's own Services.
	Proxy   string
	NoProxy []string
	// CertificateAuthority is trusted beside the public ones: certificates in PEM, which
	// are in the ConfigMap names.CompanyCA of the engine's namespace.
	CertificateAuthority string
	// Mirrors of registries, as host[:port][/path], by the registry's name.
	Mirrors map[string]string
	// PullSecret says that the images need the Secret names.ImagePull.
	PullSecret bool
}

func (e Egress) changes() bool {
	return e.Proxy != "" || e.CertificateAuthority != "" || len(e.Mirrors) > 0 || e.PullSecret
}

// authorityDir is where pods find the certificates. Go's programs read them beside the
// bundle of their image, and so does Git with GnuTLS, which images of Debian and Ubuntu have:
// libcurl sets a directory beside its file. Sources: https://pkg.go.dev/crypto/x509,
// "SSL_CERT_DIR"; https://git-scm.com/docs/git-config, "http.sslCAPath"; and
// https://curl.se/libcurl/c/CURLOPT_CAPATH.html
const authorityDir = "/etc/company-ca"

// authorityAnnotation of pods has the digest of the certificates: programs read them when
// they start, so others roll the pods.
const authorityAnnotation = "tombolo/company-ca"

// Change makes the manifest of a product go by e. Without anything to say it is left as it is,
// byte by byte; otherwise order and comments stay, so that a reader can compare it with the
// release.
func (e Egress) Change(manifest []byte) ([]byte, error) {
	if !e.changes() {
		return manifest, nil
	}
	documents, err := documentsOf(manifest)
	if err != nil {
		return nil, err
	}
	inside := e.NoProxy
	for i, document := range documents {
		d := document.Content[0]
		documents[i] = d
		if text(d, "kind") == "Service" {
			inside = append(slices.Clip(inside), text(Member(d, "metadata"), "name"))
		}
	}
	for _, d := range documents {
		if slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Job"}, text(d, "kind")) {
			if err := e.changePods(Member(Member(d, "spec"), "template"), inside); err != nil {
				return nil, fmt.Errorf("%s %s of the distribution: %w", text(d, "kind"), text(Member(d, "metadata"), "name"), err)
			}
		}
	}
	return Encode(documents...)
}

// documentsOf a manifest that are mappings, with the comments around them.
func documentsOf(manifest []byte) ([]*yaml.Node, error) {
	var out []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(manifest)); ; {
		var d yaml.Node
		err := decoder.Decode(&d)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d of the distribution: %w", len(out)+1, err)
		}
		if len(d.Content) > 0 && d.Content[0].Kind == yaml.MappingNode {
			out = append(out, &d)
		}
	}
}

// changePods changes a template of pods.
func (e Egress) changePods(template *yaml.Node, noProxy []string) error {
	spec := Member(template, "spec")
	if e.CertificateAuthority != "" {
		sum := sha256.Sum256([]byte(e.CertificateAuthority))
		SetText(Member(Member(template, "metadata"), "annotations"), authorityAnnotation, hex.EncodeToString(sum[:8]))
		err := add(spec, "volumes", map[string]any{"name": names.CompanyCA, "configMap": map[string]any{"name": names.CompanyCA}})
		if err != nil {
			return err
		}
	}
	if e.PullSecret {
		if err := add(spec, "imagePullSecrets", map[string]any{"name": names.ImagePull}); err != nil {
			return err
		}
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range member(spec, list).Content {
			if err := e.changeContainer(container, noProxy); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e Egress) changeContainer(container *yaml.Node, noProxy []string) error {
	if image := text(container, "image"); image != "" {
		SetText(container, "image", e.image(image))
	}
	env := [][2]string{}
	if e.Proxy != "" {
		env = append(env, [2]string{"HTTP_PROXY", e.Proxy}, [2]string{"HTTPS_PROXY", e.Proxy}, [2]string{"NO_PROXY", strings.Join(noProxy, ",")})
	}
	if e.CertificateAuthority != "" {
		env = append(env, [2]string{"SSL_CERT_DIR", authorityDir}, [2]string{"GIT_SSL_CAPATH", authorityDir})
		err := add(container, "volumeMounts", map[string]any{"name": names.CompanyCA, "mountPath": authorityDir, "readOnly": true})
		if err != nil {
			return err
		}
	}
	for _, v := range env {
		if _, err := setVariable(container, v); err != nil {
			return err
		}
	}
	return nil
}

// setVariable adds a variable to a container, unless it is given, as by the values of a chart.
func setVariable(container *yaml.Node, v [2]string) (added bool, err error) {
	if slices.ContainsFunc(member(container, "env").Content, func(n *yaml.Node) bool { return text(n, "name") == v[0] }) {
		return false, nil
	}
	return true, add(container, "env", map[string]any{"name": v[0], "value": v[1]})
}

// dockerHub is the registry of images that name none, and library that of those without a
// path. Source: https://docs.docker.com/reference/cli/docker/image/tag/
const (
	dockerHub = "docker.io"
	library   = "library/"
)

// image is the image at the mirror of its registry; the same when that has none.
func (e Egress) image(name string) string {
	registry, path, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(registry, ".:") && registry != "localhost" {
		registry, path = dockerHub, name
	}
	if registry == dockerHub && !strings.Contains(path, "/") {
		path = library + path
	}
	mirror, there := e.Mirrors[registry]
	if !there {
		return name
	}
	return mirror + "/" + path
}

// Member is the value of a mapping's key, which is added, as an empty mapping, if it is
// missing.
func Member(mapping *yaml.Node, key string) *yaml.Node {
	if value := member(mapping, key); value.Kind != 0 {
		return value
	}
	value := &yaml.Node{Kind: yaml.MappingNode}
	if mapping.Kind != yaml.MappingNode { // "annotations:" with nothing after it
		*mapping = yaml.Node{Kind: yaml.MappingNode}
	}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

// member is the value of a mapping's key; an empty node for none.
func member(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// SetText sets the value of a mapping's key to a text.
func SetText(mapping *yaml.Node, key, value string) {
	*Member(mapping, key) = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

func text(mapping *yaml.Node, key string) string { return member(mapping, key).Value }

// add appends an item to a mapping's list.
func add(mapping *yaml.Node, key string, item map[string]any) error {
	var n yaml.Node
	if err := n.Encode(item); err != nil {
		return err
	}
	list := Member(mapping, key)
	if list.Kind != yaml.SequenceNode {
		*list = yaml.Node{Kind: yaml.SequenceNode}
	}
	list.Style = 0 // a list in one line would take comments with it
	list.Content = append(list.Content, &n)
	return nil
}

// Environment is what one container of a distribution gets beside what the manifest says.
type Environment struct {
	// Deployment of the container.
	Deployment string
	// Containers are the names that manifests and charts give it.
	Containers []string
	// Variables are names and values, in the order in which they are added.
	Variables [][2]string
}

// document is the beginning of one in a manifest.
var document = regexp.MustCompile(`(?m)^---`)

// Set adds the environment to a manifest. A variable that the manifest has is left to it: who
// makes a manifest of their own has decided. A Deployment without the container is an error, as
// what protects it would be lost; a manifest without the Deployment has nothing to protect.
// All other documents are left as they are, byte by byte.
func (e Environment) Set(manifest []byte) ([]byte, error) {
	if e.Deployment == "" {
		return manifest, nil
	}
	var out []byte
	for rest := manifest; len(rest) > 0; {
		one := rest
		if next := document.FindIndex(rest[1:]); next != nil {
			one = rest[:next[0]+1]
		}
		rest = rest[len(one):]
		if bytes.Contains(one, []byte(e.Deployment)) {
			changed, err := e.inDocument(one)
			if err != nil {
				return nil, err
			}
			one = changed
		}
		out = append(out, one...)
	}
	return out, nil
}

// inDocument is the text of a document with the environment, if it is the Deployment.
func (e Environment) inDocument(one []byte) ([]byte, error) {
	var d yaml.Node
	if yaml.Unmarshal(one, &d) != nil || len(d.Content) == 0 {
		return one, nil // Parse says what is wrong with it
	}
	root := d.Content[0]
	if text(root, "kind") != "Deployment" || text(member(root, "metadata"), "name") != e.Deployment {
		return one, nil
	}
	containers := member(member(member(member(root, "spec"), "template"), "spec"), "containers").Content
	i := slices.IndexFunc(containers, func(c *yaml.Node) bool { return slices.Contains(e.Containers, text(c, "name")) })
	if i < 0 {
		return nil, fmt.Errorf("deployment %s of the distribution has no container named %s, in which no team may start Git; take a manifest or a chart that names it so",
			e.Deployment, strings.Join(e.Containers, " or "))
	}
	changed := false
	for _, v := range e.Variables {
		added, err := setVariable(containers[i], v)
		if err != nil {
			return nil, err
		}
		changed = changed || added
	}
	if !changed {
		return one, nil
	}
	out, err := Encode(&d)
	if document.Match(one) {
		out = append([]byte("---\n"), out...)
	}
	return out, err
}
