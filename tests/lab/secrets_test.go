//go:build lab

package lab

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// fetched are ExternalSecrets of the full cluster: one whose secret the cluster's role may
// read, by a property and as a whole, and one whose it may not.
const fetched = `
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app, namespace: default}
spec:
  refreshInterval: 2s
  secretStoreRef: {kind: ClusterSecretStore, name: secrets-manager}
  target:
    template:
      data: {url: "postgres://app:{{ .password }}@{{ .host }}/app", password: "{{ .password }}"}
  data: [{secretKey: password, remoteRef: {key: full/app, property: password}}]
  dataFrom: [{extract: {key: full/app}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: foreign, namespace: default}
spec:
  refreshInterval: 2s
  secretStoreRef: {kind: ClusterSecretStore, name: secrets-manager}
  data: [{secretKey: password, remoteRef: {key: other/app, property: password}}]
`

// secretsArrive: what is in Secrets Manager arrives, and again when it has changed, with the
// role that core made: what this may not read does not, and the object says so.
func (p project) secretsArrive(t *testing.T) {
	p.opened(t, full, "authentik", "authentik", "AUTHENTIK_POSTGRESQL__HOST", "authentik.db.lab.test")
	p.secretsManager(t, "create-secret", "--name", "full/app", "--secret-string", `{"host":"db.lab.test","password":"one"}`)
	p.secretsManager(t, "create-secret", "--name", "other/app", "--secret-string", `{"password":"secret"}`)
	p.write(t, "fetched.yaml", fetched)
	p.kubectl(t, full, "apply", "-f", filepath.Join(p.dir, "fetched.yaml"))
	p.opened(t, full, "default", "app", "url", "postgres://app:one@db.lab.test/app")
	p.secretsManager(t, "put-secret-value", "--secret-id", "full/app", "--secret-string", `{"host":"db.lab.test","password":"two"}`)
	p.opened(t, full, "default", "app", "password", "two")

	const denied = "assumed-role/full-external-secrets/"
	eventually(t, time.Minute, func() string {
		state := p.kubectl(t, full, "-n", "default", "get", "externalsecret", "foreign", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
		told := p.kubectl(t, full, "-n", "default", "get", "events", "--field-selector", "involvedObject.name=foreign", "-o", "jsonpath={.items[*].message}")
		if state == "SecretSyncedError" && strings.Contains(told, denied) &&
			strings.Contains(told, "is not authorized to perform: secretsmanager:GetSecretValue on resource: other/app because no identity-based policy allows") {
			return ""
		}
		return fmt.Sprintf("ExternalSecret foreign is %q, and its events say %q", state, told)
	})
	p.kubectl(t, full, "delete", "-f", filepath.Join(p.dir, "fetched.yaml"))
	eventually(t, time.Minute, func() string {
		return p.kubectl(t, full, "-n", "default", "get", "secrets", "app", "foreign", "--ignore-not-found", "-o", "name")
	})
	for _, name := range []string{"full/app", "other/app"} {
		p.secretsManager(t, "delete-secret", "--secret-id", name, "--force-delete-without-recovery")
	}
	left := p.secretsManager(t, "list-secrets")
	assert.Check(t, strings.Contains(left, "full/authentik") && !strings.Contains(left, "/app"), left)
}

// secretsManager asks the lab's Secrets Manager as people do, by the AWS CLI.
func (p project) secretsManager(t *testing.T, args ...string) string {
	t.Helper()
	return p.mustTool(t, filepath.Join(p.dir, ".lab", "bin", "aws"), append([]string{"secretsmanager"}, args...)...)
}
