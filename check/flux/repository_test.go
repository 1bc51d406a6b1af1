package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
	"tombolo/check/published"
)

// git is a GitRepository with more of its spec, and a Kustomization of it, at a path.
func git(name, spec, path string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n  interval: 1m\n" + spec + "---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec:\n" +
		"  path: " + path + "\n  sourceRef: {kind: GitRepository, name: " + name + "}\n" + variables + "---\n"
}

// TestRepositories: a GitRepository of this tree is followed, with what it asks for.
func TestRepositories(t *testing.T) {
	const own, main = "  url: ssh://git@git.test/acme/platform\n", "  ref: {branch: main}\n"
	const stops = "apps/web/cm.yaml:4:12 ${regoin} is not published: Kustomization flux-system/web stops at it"
	const noWeb = `Kustomization flux-system/web: path "./apps/web" is not a directory of `
	const elsewhere = "Kustomization flux-system/web is not followed: its path is in GitRepository flux-system/other"
	for name, test := range map[string]struct{ start, want string }{
		"by SSH":                  {git("other", own+main, "./apps/web"), stops},
		"by HTTPS in upper case":  {git("other", "  url: https://GIT.test:443/Acme/platform.git\n"+main, "./apps/web"), stops},
		"in scp's form":           {git("other", "  url: git@git.test:acme/platform.git\n"+main, "./apps/web"), "start/a.yaml:6:8 GitRepository flux-system/other: spec.url has scp's form, which the API refuses\n" + stops},
		"another repository":      {git("other", "  url: https://git.test/acme/apps\n"+main, "./apps/web"), "start/a.yaml:14:42 " + elsewhere + ", not in this tree"},
		"a name of the branch":    {git("other", own+"  ref: {name: refs/heads/main, tag: v1}\n", "./apps/web"), stops},
		"another branch":          {git("other", own+"  ref: {branch: stable}\n", "./apps/web"), "start/a.yaml:14:42 " + elsewhere + ", and it follows another revision of this repository than the branch main"},
		"a tag":                   {git("other", own+"  ref: {branch: main, tag: v1}\n", "./apps/web"), "start/a.yaml:14:42 " + elsewhere + ", and it follows another revision of this repository than the branch main"},
		"no branch":               {git("other", own, "./apps/web"), "start/a.yaml:13:42 " + elsewhere + ", and it follows another revision of this repository than the branch main"},
		"what it ignores":         {git("other", own+main+"  ignore: |\n    /*\n    !/start\n", "./apps/web"), "start/a.yaml:16:9 " + noWeb + "GitRepository flux-system/other"},
		"what it does not ignore": {git("other", own+main+"  ignore: |\n    /*\n    !/apps\n", "./apps/web"), stops},
		"what it checks out":      {git("other", own+main+"  sparseCheckout: [./apps/web]\n", "./apps/web"), stops},
		"what it leaves out":      {git("other", own+main+"  sparseCheckout: [start]\n", "./apps/web"), "start/a.yaml:14:9 " + noWeb + "GitRepository flux-system/other"},
		"no such directory": {
			git("other", own+main+"  sparseCheckout: [app]\n", "./apps/web"),
			`start/a.yaml:8:20 GitRepository flux-system/other: sparseCheckout names "app", which the repository does not have: it is not fetched` +
				"\nstart/a.yaml:15:42 " + elsewhere + ", and it is not fetched",
		},
		"what it includes":             {git("other", own+main+"  include: [{repository: {name: platform}, fromPath: apps, toPath: x/y}]\n", "./x/y/web"), stops},
		"what it includes by its name": {git("other", own+main+"  include: [{repository: {name: platform}}]\n", "./platform/apps/web"), stops},
		"an include that is not there": {
			git("other", own+main+"  include: [{repository: {name: platfor}}]\n", "./apps/web"),
			"start/a.yaml:15:42 " + elsewhere + ", not in this tree\n" +
				"start/a.yaml:8:33 GitRepository flux-system/other: include refers to GitRepository flux-system/platfor, which is not in the tree",
		},
		"the tree's own, with what it ignores": {git("platform", own+main+"  ignore: |\n    /apps/web/\n", "./apps/web"), "start/a.yaml:15:9 " + noWeb + "the platform tree"},
		"the tree's own, as it is":             {git("platform", own+main, "./apps/web"), stops},
	} {
		w := of(t, map[string]string{"start/a.yaml": test.start, "apps/web/cm.yaml": wrong})
		w.Published.Repository = published.Repository{URL: "https://git.test/acme/platform.git", Branch: "main"}
		w.Follow()
		w.CheckSources()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}
