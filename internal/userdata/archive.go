package userdata

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// nodeConfigType is the type of a part that nodeadm reads. Source:
// https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/examples/
const nodeConfigType = "application/node.eks.aws"

// scriptType is the header of a part that cloud-init runs.
const scriptType = `Content-Type: text/x-shellscript; charset="utf-8"`

// part of a MIME archive.
type part struct {
	// headers are whole lines, in order.
	headers []string
	body    string
}

// archive is the user data of AL2023. EKS adds its part to a MIME archive only, and nodeadm
// takes a setting from the last NodeConfig that has it, so a person's parts come last.
// Sources: "Amazon EC2 user data" in
// https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html and
// https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/examples/
func archive(own Own, text string) (string, error) {
	parts, err := partsOf(text)
	if err != nil {
		return "", err
	}
	if !own.says() && (len(parts) == 0 || isArchive(text)) {
		return text, nil
	}
	if script := own.Egress.script(); script != "" {
		parts = slices.Insert(parts, 0, part{[]string{scriptType}, script})
	}
	if config := nodeConfig(own); config != "" {
		parts = slices.Insert(parts, 0, part{[]string{"Content-Type: " + nodeConfigType}, config})
	}
	return write(parts), nil
}

// ownPods is the number of pods in a NodeConfig of Tombolo's.
var ownPods = regexp.MustCompile(`^apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n(?:  cluster:\n(?:    .*\n)*)?(?:  kubelet:\n    config:\n      maxPods: ([0-9]+)\s*)?$`)

func splitArchive(composed string) (own Own, text string) {
	parts, err := partsOf(composed)
	if err != nil {
		return Own{}, composed
	}
	if len(parts) > 0 {
		var egress Egress
		if m := ownPods.FindStringSubmatch(egress.readEnvironment(strings.TrimRight(parts[0].body, "\n") + "\n")); m != nil {
			own.MaxPods, _ = strconv.Atoi(m[1])
			own.Egress = egress
			parts = parts[1:]
		}
	}
	if len(parts) > 0 && own.Egress.readScript(parts[0].body) {
		parts = parts[1:]
	}
	switch len(parts) {
	case 0:
		return own, ""
	case 1:
		return own, parts[0].body
	}
	return own, write(parts)
}

// nodeConfig is Tombolo's own, "" when it has nothing to say. Source of its fields:
// https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
func nodeConfig(own Own) string {
	if own.MaxPods == 0 && own.Cluster == nil && own.Egress.Proxy == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n")
	if c := own.Cluster; c != nil {
		fmt.Fprintf(&b, "  cluster:\n    name: %s\n    apiServerEndpoint: %s\n    certificateAuthority: %s\n    cidr: %s\n",
			c.Name, c.Endpoint, c.CA, c.ServiceCIDR)
	}
	b.WriteString(own.Egress.environment())
	if own.MaxPods > 0 {
		fmt.Fprintf(&b, "  kubelet:\n    config:\n      maxPods: %d\n", own.MaxPods)
	}
	return b.String()
}

func isArchive(text string) bool {
	start := strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(start, "mime-version:") || strings.HasPrefix(start, "content-type: multipart/")
}

// partsOf a person's text.
func partsOf(text string) ([]part, error) {
	switch {
	case blank(text):
		return nil, nil
	case isArchive(text):
		return read(text)
	case strings.HasPrefix(text, "#!"):
		return []part{{[]string{scriptType}, text}}, nil
	case strings.Contains(text, "kind: NodeConfig") && strings.Contains(text, "apiVersion: node.eks.aws/"):
		return []part{{[]string{"Content-Type: " + nodeConfigType}, text}}, nil
	}
	return nil, ErrForm
}

// read takes a MIME archive apart.
func read(text string) ([]part, error) {
	message, err := mail.ReadMessage(strings.NewReader(strings.TrimLeft(text, "\r\n\t ")))
	if err != nil {
		return nil, fmt.Errorf("is not a MIME archive: %w", err)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return nil, fmt.Errorf("is not a MIME archive: its Content-Type %q is not multipart with a boundary", message.Header.Get("Content-Type"))
	}
	var parts []part
	for reader := multipart.NewReader(message.Body, params["boundary"]); ; {
		p, err := reader.NextRawPart()
		if err == io.EOF { //nolint:errorlint // wrapped, it is the end of an archive without its last boundary
			break
		}
		if err != nil {
			return nil, fmt.Errorf("is not a MIME archive: %w", err)
		}
		body, err := io.ReadAll(p)
		if err != nil {
			return nil, fmt.Errorf("is not a MIME archive: %w", err)
		}
		one := part{body: string(body)}
		for key, values := range p.Header {
			for _, value := range values {
				one.headers = append(one.headers, key+": "+value)
			}
		}
		slices.Sort(one.headers)
		parts = append(parts, one)
	}
	return parts, nil
}

// write puts an archive together, the same one for the same parts: another text would roll
// the nodes.
func write(parts []part) string {
	boundary := "tombolo"
	for slices.ContainsFunc(parts, func(p part) bool { return strings.Contains(p.body, "--"+boundary) }) {
		boundary += "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=%q\n", boundary)
	for _, p := range parts {
		fmt.Fprintf(&b, "\n--%s\n%s\n\n%s\n", boundary, strings.Join(p.headers, "\n"), strings.TrimRight(p.body, "\r\n"))
	}
	fmt.Fprintf(&b, "\n--%s--\n", boundary)
	return b.String()
}
