//go:build lab

package lab

import (
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/secretskey"
	"tombolo/tests/tier"
)

// TestWhatLooksCannotWrite: what the role of previews can read and decrypt of a fleet in both clouds,
// with both engines, is nothing that a write could be done with; and it previews all the same.
func TestWhatLooksCannotWrite(t *testing.T) {
	tier.Long(t, "a fleet in both clouds, and what the role of previews reads of it")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	p.write(t, "accounts/acme.yaml", strings.Replace(accountFile, "KEY", keyOfStates, 1))
	inOrder(t, p, []step[project]{
		{"the account's roles", func(p project, t *testing.T) { p.must(t, "pipelines", "up", "acme", "--yes") }},
		{"a fleet in two clouds, with a token and a sealing key", project.fleetOfTwoClouds},
		{"the role looks without secrets", project.looksWithoutSecrets},
		{"nothing that it reads writes", project.nothingReadWrites},
	})
}

// fleetOfBoth are the clusters: with Flux, a hub in AWS, and its spoke in Azure, whose token
// the states have.
var fleetOfBoth = []string{"demo", hub, spokeB}

// fleetOfTwoClouds brings up the hub and the spoke, too, and gives the other a sealing key.
func (p project) fleetOfTwoClouds(t *testing.T) {
	for _, name := range fleetOfBoth[1:] {
		p.write(t, clusterFile(name), testdata(t, "argocd/"+name+".yaml"))
	}
	for _, file := range []string{demoFile, clusterFile(hub)} {
		p.edit(t, file, "\n  nodeGroups:\n", "\n  previewers:\n    - {name: pipelines, principalArn: \""+previewRole+"\"}\n  nodeGroups:\n")
	}
	p.edit(t, demoFile, "  distribution:\n", "  sealedSecrets:\n    key: {env: TOMBOLO_SEALING_KEY}\n    certificate: {env: TOMBOLO_SEALING_CERTIFICATE}\n  distribution:\n")
	p.edit(t, demoFile, "\naddons:\n", "\naddons:\n  sealed-secrets: {}\n")
	made := make(chan error, 1)
	go func() { made <- p.makeToken(t.Context()) }()
	p.must(t, append([]string{"up", "--yes"}, fleetOfBoth...)...)
	assert.NilError(t, <-made)
}

// makeToken gives the spoke's account its token, as a controller does that no light lab has: with all
// rights of the account.
func (p project) makeToken(ctx context.Context) error {
	const namespace, account = "tombolo", "argocd-manager"
	for {
		client, err := p.admin(spokeB)
		if err == nil {
			var secret *corev1.Secret
			if secret, err = client.CoreV1().Secrets(namespace).Get(ctx, account+"-1", metav1.GetOptions{}); err == nil {
				token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
				if err != nil {
					return err
				}
				secret.Data = map[string][]byte{"token": []byte(token.Status.Token), "namespace": []byte(namespace), "ca.crt": []byte("x")}
				_, err = client.CoreV1().Secrets(namespace).Update(ctx, secret, metav1.UpdateOptions{})
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the Secret of %s: %w", account, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// admin is an administrator's client of a cluster.
func (p project) admin(cluster string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, ".lab", "clusters", cluster, "admin.kubeconfig"))
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// looksWithoutSecrets: with nothing decrypted, all that only looks says what it says to an
// administrator: nothing would change, and nothing has changed.
func (p project) looksWithoutSecrets(t *testing.T) {
	job := p.as(previewRole)
	for _, args := range [][]string{
		{"preview", "--exit-code"},
		{"preview", "--refresh", "--exit-code", "--plan", filepath.Join(p.dir, ".lab", "plan.json")},
		{"drift"},
	} {
		job.must(t, slices.Concat(args, []string{"--without-secrets"}, fleetOfBoth)...)
	}
	o := job.run(t, "preview", "demo")
	assert.Check(t, o.code != 0 && strings.Contains(o.stderr, "--without-secrets"), "exit code %d: a preview that decrypts names what does not\n%s", o.code, o.stderr)
}

// credentials are what a write could be done with: tokens, private keys, passwords of the lab.
var credentials = regexp.MustCompile(`eyJhbGciOi[\w-]+\.[\w-]+\.[\w-]+|-----BEGIN (RSA |EC |OPENSSH )?PRIVATE KEY-----`)

// found are the credentials in a text, in base64 as Secrets have them too.
func found(text string) []string {
	out := credentials.FindAllString(text, -1)
	for _, part := range regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`).FindAllString(text, -1) {
		if plain, err := base64.StdEncoding.DecodeString(part); err == nil {
			out = append(out, credentials.FindAllString(string(plain), -1)...)
		}
	}
	return out
}

// nothingReadWrites takes all that the role may read: the backend with all that is in it, and what
// the CLI exports. There is no credential in it. An administrator finds some by the same search,
// and writes with one.
func (p project) nothingReadWrites(t *testing.T) {
	git := p.labEnv(t)["TOMBOLO_GIT_TOKEN"]
	none := func(what, text string) {
		t.Helper()
		assert.Check(t, is.Len(found(text), 0), "%s has credentials", what)
		assert.Check(t, !strings.Contains(text, git) && !strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(git))), "%s has the token for Git", what)
	}
	job, read := p.as(previewRole), 0
	err := filepath.WalkDir(filepath.Join(p.dir, ".lab", "state"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, readErr := os.ReadFile(path)
			none(path, string(text))
			read, err = read+1, readErr
		}
		return err
	})
	assert.NilError(t, err)
	assert.Check(t, read >= 2*len(fleetOfBoth), "only %d files were read", read)
	none("the plan", p.read(t, ".lab/plan.json"))

	var tokens []string
	for _, cluster := range fleetOfBoth {
		for _, stack := range []string{cluster + "-core", cluster + "-bootstrap"} {
			export := []string{"stack", "export", "--show-secrets", "--stack", stack, "--cwd", p.workdir()}
			all := p.mustTool(t, "pulumi", export...)
			tokens = append(tokens, found(all)...)
			o := job.tool(t, "pulumi", export...)
			none(stack, o.stdout)
			if strings.Contains(p.state(t, stack), "ciphertext") {
				assert.Check(t, o.code != 0 && strings.Contains(o.stderr, "AccessDenied"), "%s: exit code %d\n%s", stack, o.code, o.stderr)
			}
		}
	}
	slices.Sort(tokens)
	tokens = slices.Compact(tokens)
	t.Logf("an administrator finds %d credentials", len(tokens))
	bearer := slices.IndexFunc(tokens, func(s string) bool { return strings.HasPrefix(s, "eyJ") })
	assert.Assert(t, bearer >= 0 && slices.ContainsFunc(tokens, func(s string) bool { return strings.HasPrefix(s, "-----BEGIN") }), "the search finds neither the token nor the key")
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, ".lab", "clusters", spokeB, "admin.kubeconfig"))
	assert.NilError(t, err)
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = tokens[bearer]
	client, err := kubernetes.NewForConfig(config)
	assert.NilError(t, err)
	_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written"}}, metav1.CreateOptions{})
	assert.NilError(t, err, "the token that the search is for writes nothing")
}

// keyOfStates is the state's key, for the account file.
var keyOfStates = secretskey.ARN("111122223333", "eu-central-1")

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
	objects := asFile(t, fetched)
	p.kubectl(t, full, "apply", "-f", objects)
	p.opened(t, full, "default", "app", "url", "postgres://app:one@db.lab.test/app")
	p.secretsManager(t, "put-secret-value", "--secret-id", "full/app", "--secret-string", `{"host":"db.lab.test","password":"two"}`)
	p.opened(t, full, "default", "app", "password", "two")

	const denied = "assumed-role/full-external-secrets/"
	eventually(t, func() (bool, string) {
		state := p.kubectl(t, full, "-n", "default", "get", "externalsecret", "foreign", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
		told := p.kubectl(t, full, "-n", "default", "get", "events", "--field-selector", "involvedObject.name=foreign", "-o", "jsonpath={.items[*].message}")
		return state == "SecretSyncedError" && strings.Contains(told, denied) &&
				strings.Contains(told, "is not authorized to perform: secretsmanager:GetSecretValue on resource: other/app because no identity-based policy allows"),
			fmt.Sprintf("ExternalSecret foreign is %q, and its events say %q", state, told)
	})
	p.kubectl(t, full, "delete", "-f", objects)
	p.vanishes(t, full, "-n", "default", "get", "secrets", "app", "foreign")
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
