//go:build browser

package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plan"
	"tombolo/config"
	"tombolo/tests/browser"
)

// unfold is a script that a person's hands stand for: it counts what is seen,
// unfolds everything, counts again, and writes down what it saw.
const unfold = `(function () {
    ` + browser.Readable + `
    const seen = [];
    const note = (what) => {
      const shown = (of) => Array.from(document.querySelectorAll(of)).filter((e) => e.checkVisibility()).length;
      seen.push(what + ": " + shown("td.after[data-label]") + " values, " + shown(".note") + " notes");
    };
    seen.push("alarms: " + document.querySelectorAll(".alarm li").length);
    note("folded");
    document.querySelectorAll("summary").forEach((e) => e.click());
    note("unfolded");
    seen.push("unreadable: " + unreadable());
    const page = document.documentElement;
    seen.push("too wide: " + (page.scrollWidth > page.clientWidth));
    seen.push("loaded: " + performance.getEntriesByType("resource").length);
    document.body.dataset.seen = seen.join("; ");
  })();`

// crowded is a change of much that is long.
func crowded() plan.Cluster {
	list := []any{}
	for i := range 6 {
		list = append(list, fmt.Sprintf("subnet-0123456789abcde%02d", i))
	}
	arn := "arn:aws:iam::111122223333:role/" + strings.Repeat("a-role-with-a-long-name", 3)
	data := object{"private_subnet_ids": plugin.UnknownStringValue, "cluster_version": "1.35"}
	for i := range 12 {
		data[fmt.Sprintf("a_key_with_a_long_name_of_an_addon_%d", i)] = arn
	}
	return previewed("a-cluster-with-quite-a-long-name-eu-central-1", fileChanged, []events.EngineEvent{
		step(apitype.OpReplace, nodesType, "a-cluster-with-quite-a-long-name-eu-central-1-nodes-system", object{"nodeRoleArn": "x"}, object{"nodeRoleArn": arn}, "nodeRoleArn"),
		outputs(object{"privateSubnetIds": list, "nodeRoleArn": "arn:old", "clusterVersion": "1.34"},
			object{"privateSubnetIds": list[:5], "nodeRoleArn": arn, "clusterVersion": "1.35"}),
	}, []events.EngineEvent{
		step(apitype.OpCreate, configMapType, "crowded-general", nil, configMap("argocd", "infra-config", data)),
	})
}

// The page forbids all scripts; the test's own is let in.
const (
	scriptless = `default-src 'none'; `
	scripted   = `default-src 'none'; script-src 'unsafe-inline'; `
)

// TestPageInABrowser opens the page in a real browser, narrow and wide, with a
// change that has all there may be: everything can be unfolded, nothing is wider
// than the window, nothing is loaded, and the browser has nothing to complain of.
func TestPageInABrowser(t *testing.T) {
	all := changesOfRequests()
	set := all["upgrade"]
	for _, name := range []string{"addon", "node-group"} {
		set.Clusters = append(set.Clusters, all[name].Clusters...)
	}
	set.Clusters = append(set.Clusters, crowded())
	set.Removed = all["removed-file"].Removed
	policy := &config.Policy{File: config.PolicyFile, Rules: []config.PolicyRule{
		{Name: "nodes", Match: config.PolicyMatch{Dangers: []string{config.AnyDanger}}, Decision: config.SecondApproval},
	}}
	assert.NilError(t, set.Judge(policy, func(string) (int, error) { return 1, nil }))
	text, err := Page(set)
	assert.NilError(t, err)
	page := string(text)
	assert.Assert(t, strings.Count(page, scriptless) == 1, "the page's policy is not %q", scriptless)
	visited := strings.Replace(browser.Visited(t, page, unfold), scriptless, scripted, 1)
	for _, width := range []int{browser.Narrow, browser.Wide} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			if _, complaints := browser.Open(t, page, width); complaints != "" {
				t.Errorf("the browser complains of the page:\n%s", complaints)
			}
			dom, complaints := browser.Open(t, visited, width)
			want := fmt.Sprintf(`data-seen="alarms: 2; folded: 0 values, 0 notes; unfolded: %d values, %d notes; unreadable: 0; too wide: false; loaded: 0"`,
				strings.Count(page, `<td class="after" data-label`), strings.Count(page, `<span class="note">`))
			if !strings.Contains(dom, want) {
				_, seen, _ := strings.Cut(dom, "data-seen=")
				t.Errorf("want %s, got %.300s", want, seen)
			}
			assert.Check(t, is.Equal(complaints, ""))
		})
	}
}
