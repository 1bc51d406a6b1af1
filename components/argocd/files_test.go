package argocd

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/components/distribution"
)

// more is what charts and manifests of one's own have, beside the release.
const more = `---
apiVersion: v1
kind: Namespace
metadata: {name: argocd}
---
# its own text stays
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cmd-params-cm}
data: {controller.diff.server.side: "false", server.insecure: "true"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm}
---
apiVersion: batch/v1
kind: Job
metadata: {name: init, annotations: {argocd.argoproj.io/sync-options: Force=true}}
spec: {ttlSecondsAfterFinished: 60, template: {}}
---
{}
`

func filesOf(t *testing.T, args *EngineArgs) (application, install string) {
	t.Helper()
	files, err := Files(args)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(files, 2))
	return string(files[ApplicationFile]), string(files[InstallFile])
}

// TestFilesAddOnlyDirections: what Git has is what bootstrap applies, without what bootstrap goes on
// to decide about.
func TestFilesAddOnlyDirections(t *testing.T) {
	args := engineArgs(t)
	args.Manifest = append(args.Manifest, more...)
	_, install := filesOf(t, args)
	for _, left := range []string{"kind: Secret", "kind: Namespace", "controller.diff.server.side", "ttlSecondsAfterFinished"} {
		assert.Check(t, !strings.Contains(install, left), left)
	}
	for _, kept := range []string{
		"# its own text stays", `server.insecure: "true"`, "git.example.org ssh-ed25519", "resource.customizations.ignoreResourceUpdates.all",
		"tombolo/distribution: " + distribution.Digest(args.Manifest), "Force=true,Prune=false,Delete=false",
	} {
		assert.Check(t, is.Contains(install, kept))
	}
	want, err := Product().Parse(args.Manifest)
	assert.NilError(t, err)
	got, err := Product().Parse([]byte(install))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(got, len(want)-1), "all but the Secret")
	assert.Check(t, is.Equal(strings.Count(install, "compare-options: IgnoreExtraneous"), len(got)))
	assert.Check(t, is.Equal(strings.Count(install, "Prune=false,Delete=false"), len(got)))
}

// TestFilesLeaveSettings: what the cluster file sets in the distribution's ConfigMaps is not Git's.
func TestFilesLeaveSettings(t *testing.T) {
	args := engineArgs(t)
	args.Manifest = append(args.Manifest, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {url: https://argocd.example.com, timeout.reconciliation: 180s}\n"...)
	_, install := filesOf(t, args)
	assert.Check(t, strings.Contains(install, "argocd.example.com") && !strings.Contains(install, "180s"), install)
	args.SignIn = &SignIn{URL: "https://a.test", IssuerURL: "https://b.test", ClientID: "c", Secret: "d"}
	args.Auth.KnownHosts = "github.com ssh-ed25519 AAAA"
	_, install = filesOf(t, args)
	assert.Check(t, !strings.Contains(install, "argocd.example.com") && !strings.Contains(install, "ssh_known_hosts"), install)
}

// TestFilesLeaveNotifications to the systems of a tree, unless the distribution itself has some.
func TestFilesLeaveNotifications(t *testing.T) {
	const empty = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-notifications-cm}\n"
	for more, left := range map[string]bool{empty: true, empty + "data: {context: a}\n": false} {
		args := engineArgs(t)
		args.Manifest = append(args.Manifest, more...)
		_, install := filesOf(t, args)
		assert.Check(t, strings.Contains(install, "argocd-notifications-cm") != left, more)
	}
}

// TestItsOwnApplication applies in the way that leaves alone what no file has, and takes nothing away
// when it goes.
func TestItsOwnApplication(t *testing.T) {
	text, _ := filesOf(t, engineArgs(t))
	var got struct {
		Metadata map[string]any
		Spec     struct {
			Source     map[string]string
			SyncPolicy struct{ SyncOptions []string }
		}
	}
	assert.NilError(t, yaml.Unmarshal([]byte(text), &got))
	assert.DeepEqual(t, got.Metadata, map[string]any{"name": "argocd", "namespace": "argocd"})
	assert.DeepEqual(t, got.Spec.Source, map[string]string{
		"repoURL": "https://git.example.com/platform.git", "targetRevision": "main", "path": "clusters/dev/argocd",
	})
	assert.DeepEqual(t, got.Spec.SyncPolicy.SyncOptions, []string{"ServerSideApply=true"})
}

func TestFilesRefuse(t *testing.T) {
	for want, change := range map[string]func(*EngineArgs){
		"files for Argo CD: branch is required":                                  func(a *EngineArgs) { a.Branch = "" },
		"files for Argo CD: a sign-in needs URL, issuer, client and Secret":      func(a *EngineArgs) { a.SignIn = &SignIn{} },
		"files for Argo CD: the distribution has no Deployment; is it Argo CD's": func(a *EngineArgs) { a.Manifest = nil },
	} {
		args := engineArgs(t)
		change(args)
		_, err := Files(args)
		assert.Check(t, is.ErrorContains(err, want))
	}
}
