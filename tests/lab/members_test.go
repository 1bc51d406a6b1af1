//go:build lab

package lab

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// entraGroups are the object ids of the teams' groups.
var entraGroups = map[string]string{
	"sellers": "00000000-0000-4000-8000-0000000000b1", "editors": "00000000-0000-4000-8000-0000000000b2", "strangers": "00000000-0000-4000-8000-0000000000b3",
}

// asked is kubectl as somebody.
type asked func(args ...string) outcome

// signedIn is a person whom the provider of a cluster in AWS has signed in, as kubectl's plugin oidc-login has
// it.
func signedIn(s systems, t *testing.T, name string, groups ...string) asked {
	t.Helper()
	file := s.personsFile(t, teams, s.personsToken(t, name, groups, "sub", name))
	return func(args ...string) outcome {
		return s.tool(t, "kubectl", append([]string{"--kubeconfig", file}, args...)...)
	}
}

// loggedIn is a person who has signed in by the Azure CLI, whom kubelogin asks for the tokens of the file that
// the platform team gives away.
func loggedIn(s systems, t *testing.T, name string, groups ...string) asked {
	t.Helper()
	file := s.at(t, teams, nil)
	s.env = append(slices.Clone(s.env), "TOMBOLO_LAB_PERSON="+name+"@lab.test")
	id := strings.TrimSpace(s.must(t, "lab", "az", "ad", "signed-in-user", "show", "--query", "id", "--output", "tsv"))
	for _, group := range groups {
		s.must(t, "lab", "az", "ad", "group", "member", "add", "--group", entraGroups[group], "--member-id", id)
	}
	return func(args ...string) outcome { return s.tool(t, "kubectl", append(slices.Clone(file), args...)...) }
}

// refusals are how many requests the API server has refused somebody's rights.
func (o outcome) refusals() int { return strings.Count(o.stderr, " is forbidden: User ") }

// members: who is in the team's group of the directory looks at what the system has, and restarts its pods.
// Everything else is refused by the API server, and all of it to people of other groups and of none.
func (s systems) members(t *testing.T) {
	ada, bob, eve := s.cloud.person(s, t, "ada", "sellers"), s.cloud.person(s, t, "bob", "editors"), s.cloud.person(s, t, "eve")
	who := ada("auth", "whoami", "-o", "jsonpath={.status.userInfo.username} {.status.userInfo.groups}")
	assert.Assert(t, who.code == 0, who.stderr)
	assert.Check(t, is.Contains(who.stdout, "ada"))
	assert.Check(t, is.Contains(who.stdout, `"`+s.cloud.group("sellers")+`"`))

	const all = "pods,services,deployments,configmaps,events,resourcequotas,rolebindings,networkpolicies,kustomizations.kustomize.toolkit.fluxcd.io," +
		"gitrepositories.source.toolkit.fluxcd.io,sealedsecrets.bitnami.com,externalsecrets.external-secrets.io"
	own := ada("-n", "shop", "get", all, "-o", "name")
	assert.Assert(t, own.code == 0, own.stderr)
	contains(t, own.stdout,
		"deployment.apps/web", "sealedsecret.bitnami.com/database", "kustomization.kustomize.toolkit.fluxcd.io/system",
		"gitrepository.source.toolkit.fluxcd.io/system", "resourcequota/system", "rolebinding.rbac.authorization.k8s.io/system-team")
	assert.Check(t, is.Equal(ada("-n", "shop", "auth", "can-i", "get", "pods/log").stdout, "yes\n")) // pods of the lab write none
	pod := ada("-n", "shop", "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[0].metadata.name}").stdout
	restart := ada("-n", "shop", "delete", "pod", pod, "--wait=false")
	assert.Check(t, restart.code == 0, restart.stderr)
	s.runs(t, "shop")

	for _, c := range [][]string{
		{"-n", "shop", "get", "secrets"},
		{"-n", "shop", "get", "secret", "database"},
		{"-n", "shop", "create", "configmap", "x"},
		{"-n", "shop", "scale", "deployment", "web", "--replicas", "5"},
		{"-n", "shop", "delete", "networkpolicies", "--all"},
		{"-n", "shop", "create", "token", "system"},
		{"-n", "shop", "create", "rolebinding", "x", "--clusterrole", "cluster-admin", "--user", "ada"},
		{"-n", "shop", "annotate", "gitrepository", "system", "reconcile.fluxcd.io/requestedAt=now", "--overwrite"},
		{"-n", "shop", "exec", "deployment/web", "--", "env"},
		{"get", "pods", "--all-namespaces"},
		{"get", "namespace", "shop"},
		{"get", "pods", "--as", "admin", "--as-group", "system:masters"},
		{"-n", "flux-system", "delete", "pods", "--all"},
	} {
		o := ada(c...)
		assert.Check(t, o.code != 0 && o.refusals() > 0, "%v: %s%s", c, o.stdout, o.stderr)
	}
	platforms := ada("get", "nodes,namespaces,persistentvolumes,clusterroles,customresourcedefinitions,priorityclasses")
	assert.Check(t, is.Equal(platforms.refusals(), 6), platforms.stderr)
	for _, namespace := range []string{"blog", "flux-system", "systems", "kube-system", "sealed-secrets"} {
		o := ada("-n", namespace, "get", "pods,secrets,configmaps,helmreleases.helm.toolkit.fluxcd.io")
		assert.Check(t, is.Equal(o.refusals(), 4), "%s: %s", namespace, o.stderr)
	}
	for name, other := range map[string]asked{"of another team": bob, "of no team": eve} {
		o := other("-n", "shop", "get", all)
		assert.Check(t, is.Equal(o.refusals(), 1+strings.Count(all, ",")), "%s: %s", name, o.stderr)
	}
	theirs := bob("-n", "blog", "get", all)
	assert.Check(t, theirs.code == 0, theirs.stderr)
	assert.Check(t, is.Equal(eve("auth", "whoami", "-o", "name").code, 0), "she has signed in")
}
