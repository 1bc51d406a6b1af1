package distribution

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

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
	var out bytes.Buffer
	if document.Match(one) {
		out.WriteString("---\n")
	}
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&d); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}
