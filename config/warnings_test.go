package config

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// TestWarnings: a file with warnings is right, and each has its place and remedy.
func TestWarnings(t *testing.T) {
	content := files.Read(t, baseFile)
	for name, test := range map[string]struct{ kubernetes, flux, addons, want string }{
		"an engine that is not tested with the version": {
			"1.35", "v2.7.5", "",
			"22:14: warning: gitops.distribution.version: is tested by upstream with Kubernetes 1.32, 1.33 and 1.34, and the cluster has 1.35; use a release of v2.8 or v2.9",
		},
		"one that is":                            {"1.34", "v2.7.5", "", ""},
		"a release that the table does not have": {"1.35", "v2.99.0", "", ""},
		"an addon that has ended": {
			"1.34", "v2.7.5", "addons:\n  loki: {}\n  promtail: {}\n",
			"19:3: warning: addons.promtail: gets no releases since 2026-03-02; turn alloy on in its place",
		},
		"an addon without what it sends to": {
			"1.34", "v2.7.5", "addons:\n  alloy: {}\n",
			"18:3: warning: addons.alloy: sends logs to the addon loki, which is off, unless the tree names another Loki; turn loki on, or set global.loki.url in the tree",
		},
		"one of two that do the same": {
			"1.34", "v2.7.5", "addons:\n  alloy: {}\n  loki: {}\n  promtail: {}\n",
			"20:3: warning: addons.promtail: gets no releases since 2026-03-02; turn it off: alloy is on and does the same",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := loadText(t, strings.NewReplacer(
				`"1.35"`, `"`+test.kubernetes+`"`, "v2.7.5", test.flux, "gitops:", test.addons+"gitops:").Replace(content))
			var got []string
			for _, w := range c.Warnings {
				got = append(got, strings.TrimPrefix(w.Warning(), c.File+":"))
			}
			assert.Equal(t, strings.Join(got, "\n"), test.want)
		})
	}
}

// TestWarningsOfTheWebhook: a host that is known by its name is of one kind; of another nothing is known.
func TestWarningsOfTheWebhook(t *testing.T) {
	content := files.Read(t, baseFile)
	for _, test := range []struct{ url, kind, want string }{
		{"https://github.com/acme/platform.git", "github", ""},
		{"https://git.example.com/platform.git", "gitlab", ""},
		{"https://github.com.example.com/platform.git", "gitlab", ""},
		{"https://gitlab.com/acme/platform.git", "github", "20:19: warning: gitops.webhook.type: is github, and gitops.url is at gitlab.com; use gitlab"},
		{"https://dev.azure.com/acme/p/_git/platform", "gitlab", "20:19: warning: gitops.webhook.type: is gitlab, and gitops.url is at dev.azure.com; use azure-devops"},
		{"https://acme.visualstudio.com/p/_git/platform", "azure-devops", ""},
	} {
		c := loadText(t, strings.NewReplacer(
			"v2.7.5", "v2.9.3", "https://git.example.com/platform.git\n", test.url+"\n  webhook: {type: "+test.kind+", secret: {config: hook}}\n").Replace(content))
		got := ""
		for _, w := range c.Warnings {
			got += strings.TrimPrefix(w.Warning(), c.File+":")
		}
		assert.Equal(t, got, test.want, test.url)
	}
}
