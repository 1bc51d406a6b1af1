//go:build lab

package lab

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stackDefinition is enough of the operator's CRD for objects to be stored. The
// finalizer that its controller sets is set by the test.
const stackDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: stacks.pulumi.com}
spec:
  group: pulumi.com
  scope: Namespaced
  names: {kind: Stack, listKind: StackList, plural: stacks, singular: stack}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// deletionOrder applies what `tombolo export operator` writes to a real API
// server: core is kept until bootstrap is gone.
func (p project) deletionOrder(t *testing.T) {
	p.write(t, "definition.yaml", stackDefinition)
	p.write(t, "objects.yaml", p.must(t, "export", "operator", "demo", "--image", "registry.example/tombolo:1.4.0", "--image-dir", "/project"))
	p.kubectl(t, "demo", "apply", "-f", filepath.Join(p.dir, "definition.yaml"))
	p.kubectl(t, "demo", "wait", "--for=condition=Established", "crd/stacks.pulumi.com", "--timeout=60s")
	p.write(t, "namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: tombolo}\n")
	p.kubectl(t, "demo", "apply", "-f", filepath.Join(p.dir, "namespace.yaml"))
	p.kubectl(t, "demo", "apply", "-f", filepath.Join(p.dir, "objects.yaml"))
	p.kubectl(t, "demo", "patch", "stacks.pulumi.com", "demo-bootstrap", "-n", "tombolo", "--type=merge",
		"-p", `{"metadata":{"finalizers":["test.example/destroying"]}}`)
	remove := func(args ...string) outcome {
		return p.tool(t, "kubectl", append([]string{
			"--kubeconfig", filepath.Join(p.dir, ".lab", "demo.kubeconfig"), "delete", "stacks.pulumi.com", "-n", "tombolo", "--wait=false",
		}, args...)...)
	}
	refused := func(why string) {
		eventually(t, time.Minute, func() string {
			o := remove("demo-core", "--dry-run=server")
			if o.code == 0 || !strings.Contains(o.stderr, "delete Stack demo-bootstrap first, and wait until it is gone") {
				return why + ": core may be deleted: " + o.stdout + o.stderr
			}
			return ""
		})
	}
	refused("bootstrap is there")
	if o := remove("demo-bootstrap"); o.code != 0 {
		t.Fatalf("bootstrap may not be deleted: %s", o.stderr)
	}
	refused("bootstrap is being destroyed")
	p.kubectl(t, "demo", "patch", "stacks.pulumi.com", "demo-bootstrap", "-n", "tombolo", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	eventually(t, time.Minute, func() string {
		if o := remove("demo-core"); o.code != 0 {
			return "bootstrap is gone, and core may not be deleted: " + o.stderr
		}
		return ""
	})
}
