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
	"gotest.tools/v3/golden"

	"tombolo/automation/cloud/aws"
	"tombolo/automation/plan"
	"tombolo/cmd/tombolo/cli/webpage/pagetest"
	"tombolo/config"
	"tombolo/config/strict"
)

type object = map[string]any

// step is what the engine says before it works on a resource.
func step(op apitype.OpType, token, name string, old, now object, detailed ...string) events.EngineEvent {
	m := apitype.StepEventMetadata{Op: op, Type: token, URN: "urn:pulumi:s::tombolo::" + token + "::" + name}
	if old != nil {
		m.Old = &apitype.StepEventStateMetadata{Custom: true, ID: idOf(old), Inputs: old, Outputs: old}
	}
	if now != nil {
		m.New = &apitype.StepEventStateMetadata{Custom: true, Inputs: now}
	}
	for _, path := range detailed {
		if m.DetailedDiff == nil {
			m.DetailedDiff = map[string]apitype.PropertyDiff{}
		}
		kind := apitype.DiffUpdate
		if op == apitype.OpReplace {
			kind = apitype.DiffUpdateReplace
		}
		m.DetailedDiff[path] = apitype.PropertyDiff{Kind: kind}
	}
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: m, Planning: true}}}
}

func idOf(inputs object) string {
	if meta, ok := inputs["metadata"].(object); ok {
		return fmt.Sprintf("%v/%v", meta["namespace"], meta["name"])
	}
	return "id-1"
}

// outputs is what the engine says of the stack at the end.
func outputs(old, now object) events.EngineEvent {
	return events.EngineEvent{EngineEvent: apitype.EngineEvent{ResOutputsEvent: &apitype.ResOutputsEvent{Metadata: apitype.StepEventMetadata{
		Op: apitype.OpSame, Type: "pulumi:pulumi:Stack", URN: "urn:pulumi:s::tombolo::pulumi:pulumi:Stack::s",
		Old: &apitype.StepEventStateMetadata{Outputs: old}, New: &apitype.StepEventStateMetadata{Outputs: now},
	}}}}
}

func configMap(namespace, name string, data object) object {
	return object{"metadata": object{"namespace": namespace, "name": name}, "data": data}
}

// previewed is a cluster of which previews said so.
func previewed(name, reason string, core, bootstrap []events.EngineEvent) plan.Cluster {
	c := plan.Cluster{Name: name, Labels: map[string]string{"environment": "prod"}, Reasons: []string{reason}, Secrets: []config.SecretUse{
		{Setting: "gitops.auth.password", Source: "environment variable TOMBOLO_GIT_TOKEN", For: "https://git.example.com/platform.git"},
	}}
	for _, part := range []struct {
		kind string
		all  []events.EngineEvent
	}{{"core", core}, {"bootstrap", bootstrap}} {
		r := &plan.Reader{}
		for _, e := range part.all {
			r.Read(e)
		}
		c.Stacks = append(c.Stacks, r.Stack(aws.Cloud{}, name+"-"+part.kind, part.kind))
	}
	c.Settle()
	if err := c.Trace(published); err != nil {
		panic(err) // published has no errors
	}
	return c
}

// published is what GitOps reads in these tests.
func published(outputs, _ map[string]any) (plan.Contents, error) {
	keys := map[string]string{"cluster_version": fmt.Sprint(outputs["clusterVersion"])}
	made, _ := outputs["addonOutputs"].(map[string]any)
	return plan.Contents{
		Data: map[string]map[string]string{
			"argocd/infra-config": keys,
			"external-secrets/external-secrets-values": {
				"values.yaml": fmt.Sprintf("installCRDs: true\nserviceAccount:\n  role: %v\n", made["external-secrets/role_arn"]),
			},
		},
		Annotations: map[string]map[string]string{"argocd/cluster-demo": keys, "argocd/cluster-second": keys},
	}, nil
}

const (
	vpcType       = "aws:ec2/vpc:Vpc"
	nodesType     = "aws:eks/nodeGroup:NodeGroup"
	configMapType = "kubernetes:core/v1:ConfigMap"
	fileChanged   = "cluster file: clusters/demo.yaml changed"
)

func upgraded(name string) plan.Cluster {
	registration := func(version string) object {
		return object{
			"metadata": object{"namespace": "argocd", "name": "cluster-" + name, "annotations": object{"cluster_version": version}},
			"data":     object{"config": "hunter2 " + version},
		}
	}
	return previewed(name, strings.ReplaceAll(fileChanged, "demo", name), []events.EngineEvent{
		step(apitype.OpUpdate, "aws:eks/cluster:Cluster", name, object{"version": "1.34"}, object{"version": "1.35"}, "version"),
		step(apitype.OpUpdate, nodesType, name+"-system", object{"version": "1.34"}, object{"version": "1.35"}, "version"),
		outputs(object{"clusterVersion": "1.34", "vpcId": "vpc-1"}, object{"clusterVersion": "1.35", "vpcId": "vpc-1"}),
	}, []events.EngineEvent{
		step(apitype.OpRead, "pulumi:pulumi:StackReference", "core", nil, object{"name": "core"}),
		step(apitype.OpUpdate, configMapType, name+"-general", configMap("argocd", "infra-config", object{"cluster_version": "1.34"}),
			configMap("argocd", "infra-config", object{"cluster_version": "1.35"}), "data.cluster_version"),
		step(apitype.OpUpdate, "kubernetes:core/v1:Secret", name+"-secret", registration("1.34"), registration("1.35"),
			"metadata.annotations.cluster_version", "data.config"),
	})
}

// changes are what pull requests do.
func changesOfRequests() map[string]plan.Set {
	one := func(c plan.Cluster) plan.Set {
		return plan.Set{Since: "origin/main", Clusters: []plan.Cluster{c}, Unchanged: []string{"other"}}
	}
	values := func(role string) object {
		return configMap("kube-system", "karpenter-values", object{"values.yaml": "installCRDs: true\nserviceAccount:\n  role: " + role + "\n"})
	}
	return map[string]plan.Set{
		"vpc-tags": one(previewed("demo", fileChanged, []events.EngineEvent{
			step(apitype.OpUpdate, vpcType, "demo-vpc", object{"tags": object{"team": "platform"}}, object{"tags": object{"team": "infra"}}, "tags.team"),
		}, nil)),
		"addon": one(previewed("demo", fileChanged, []events.EngineEvent{
			step(apitype.OpCreate, "aws:iam/role:Role", "demo-external-secrets-role-role", nil, object{
				"name": "demo-external-secrets", "assumeRolePolicy": `{"Version":"2012-10-17"}`,
			}),
			outputs(object{"addonOutputs": object{"karpenter/role_arn": "arn:karpenter"}},
				object{"addonOutputs": object{"karpenter/role_arn": "arn:karpenter", "external-secrets/role_arn": plugin.UnknownStringValue}}),
		}, []events.EngineEvent{
			step(apitype.OpCreate, "kubernetes:core/v1:Namespace", "demo-external-secrets", nil, object{"metadata": object{"name": "external-secrets"}}),
			step(apitype.OpCreate, configMapType, "demo-addon-external-secrets", nil, configMap("external-secrets", "external-secrets-values", object{"values.yaml": plugin.UnknownStringValue})),
			step(apitype.OpUpdate, configMapType, "demo-addon-karpenter", values("a"), values("b"), `data["values.yaml"]`),
			step(apitype.OpUpdate, configMapType, "demo-general", object{"metadata": object{"namespace": "flux-system", "name": "infra-config", "annotations": object{"tombolo/addons": "karpenter"}}},
				object{"metadata": object{"namespace": "flux-system", "name": "infra-config", "annotations": object{"tombolo/addons": "external-secrets,karpenter"}}}, "metadata.annotations.tombolo/addons"),
		})),
		"node-group": one(previewed("demo", fileChanged, []events.EngineEvent{
			step(apitype.OpCreate, nodesType, "demo-nodes-general", nil, object{"nodeGroupName": "general"}),
			step(apitype.OpDelete, nodesType, "demo-nodes-system", object{"nodeGroupName": "system"}, nil),
		}, nil)),
		"upgrade": {Since: "origin/main", Clusters: []plan.Cluster{upgraded("demo"), upgraded("second")}},
		"removed-file": {Since: "origin/main", Unchanged: []string{"demo"}, Removed: []plan.Removed{
			{File: "clusters/old.yaml", Cluster: "old", Stacks: []plan.Left{{Name: "old-core", Resources: 88}, {Name: "old-bootstrap", Resources: 41}}},
			{File: "clusters/never.yaml", Cluster: "never"},
		}},
		"bootstrap": one(previewed("demo", fileChanged, []events.EngineEvent{outputs(object{"vpcId": "vpc-1"}, object{"vpcId": "vpc-1"})}, []events.EngineEvent{
			step(apitype.OpUpdate, configMapType, "demo-general", configMap("flux-system", "infra-config", object{}),
				configMap("flux-system", "infra-config", object{"extra_key": "hello | *world*\nand more"}), "data.extra_key"),
		})),
		"nothing": {Since: "origin/main", Unchanged: []string{"demo", "other"}},
	}
}

func TestComments(t *testing.T) {
	for name, set := range changesOfRequests() {
		t.Run(name, func(t *testing.T) {
			comment := Comment(set, Options{Key: "preview"})
			golden.Assert(t, comment, name+".md")
			assert.Check(t, is.Equal(Comment(changesOfRequests()[name], Options{Key: "preview"}), comment))
			page, err := Page(set)
			assert.NilError(t, err)
			for _, text := range []string{comment, string(page)} {
				if strings.Contains(text, "hunter2") || strings.Contains(text, plugin.UnknownStringValue) {
					t.Errorf("it has a secret, or the engine's mark of what is unknown:\n%s", text)
				}
			}
		})
	}
}

func TestPage(t *testing.T) {
	page, err := Page(changesOfRequests()["upgrade"])
	assert.NilError(t, err)
	pagetest.Golden(t, string(page), "upgrade.html")
}

// A comment fits, and every fence and every fold in it is closed.
func TestCommentFits(t *testing.T) {
	set := plan.Set{Since: "main"}
	for i := range 120 {
		c := upgraded(fmt.Sprintf("cluster-%03d", i))
		for j := range 10 {
			c.Stacks[0].Resources = append(c.Stacks[0].Resources, plan.Resource{
				Type: nodesType, Name: fmt.Sprintf("nodes-%d", j), Op: plan.Replace, Danger: plan.NodeGroupDanger,
				Diffs: []plan.Diff{{Path: "text", Before: strings.Repeat("`", j), After: strings.Repeat("x", 300)}},
			})
		}
		set.Clusters = append(set.Clusters, c)
	}
	whole := Comment(set, Options{Key: "k", MaxSize: GitLabSize})
	if strings.Contains(whole, "Shortened") || len(whole) < GitHubSize {
		t.Fatalf("%d bytes are shortened already", len(whole))
	}
	for _, most := range []int{GitHubSize, 30_000, 12_000, LeastSize} {
		comment := Comment(set, Options{Key: "k", MaxSize: most})
		if len(comment) > most || !strings.HasPrefix(comment, Marker("k")+"\n") || !strings.HasSuffix(comment, "\n") {
			t.Errorf("%d bytes do not fit into %d", len(comment), most)
		}
		if !strings.Contains(comment, "## ⚠️ Preview: 120 clusters, 480 to update, 1200 to replace") || !strings.Contains(comment, "--html") {
			t.Errorf("within %d the counts are lost:\n%.300s", most, comment)
		}
		if strings.Count(comment, "<details>") != strings.Count(comment, "</details>") || strings.Count(comment, "diff\n")*2 != strings.Count(comment, "```")+0 && most == GitHubSize && !strings.Contains(comment, "````") {
			t.Errorf("within %d a fold or a fence is not closed", most)
		}
	}
}

func TestPolicyInTheComment(t *testing.T) {
	set := changesOfRequests()["node-group"]
	policy := &config.Policy{File: "/somewhere/tombolo.policy.yaml", Rules: []config.PolicyRule{
		{Name: "nodes", Match: config.PolicyMatch{Dangers: []string{config.AnyDanger}}, Decision: config.SecondApproval, Reason: "nodes are drained"},
		{Name: "test", Match: config.PolicyMatch{Clusters: "environment=test"}, Decision: config.Deny},
		{Name: "aws", Match: config.PolicyMatch{Types: []string{"aws:eks/*"}, Operations: []string{"delete"}}, Decision: config.Deny},
	}}
	for approvals, want := range map[int][2]string{
		1: {"- ❌ **nodes** needs a second approval, as nodes are drained: `demo: delete aws:eks/nodeGroup:NodeGroup demo-nodes-system`\n", "nodes aws"},
		2: {"- ✅ **nodes** has its second approval, as nodes are drained: ", "aws"},
	} {
		judged := set
		assert.NilError(t, judged.Judge(policy, func(string) (int, error) { return approvals, nil }))
		comment := Comment(judged, Options{Key: "preview"})
		for _, text := range []string{want[0], "### Policy `tombolo.policy.yaml`\n", "- ❌ **aws** is denied: "} {
			assert.Check(t, strings.Contains(comment, text), "with %d approvals nobody reads %q:\n%s", approvals, text, comment)
		}
		var unmet []string
		for _, v := range judged.Unmet() {
			unmet = append(unmet, v.Rule)
		}
		if got := strings.Join(unmet, " "); got != want[1] {
			t.Errorf("with %d approvals %q are not met, want %q", approvals, got, want[1])
		}
	}
}

// TestOwnStacksInTheComment: own stacks have a column where there are some, and their resources are listed and judged
// like all others.
func TestOwnStacksInTheComment(t *testing.T) {
	c := upgraded("demo")
	r := &plan.Reader{}
	r.Read(step(apitype.OpDelete, "aws:s3/bucketV2:BucketV2", "data", object{"bucket": "demo-data"}, nil))
	c.Stacks = append(c.Stacks, r.Stack(aws.Cloud{}, "demo-database", "database"))
	comment := Comment(plan.Set{Clusters: []plan.Cluster{c}}, Options{Key: "preview"})
	for _, text := range []string{"| cluster | wave | core | bootstrap | own stacks | why |\n", "| database: 1 to delete |", "**demo-database**: 1 to delete", "deletes data: `aws:s3:BucketV2 data`"} {
		assert.Check(t, strings.Contains(comment, text), "nobody reads %q:\n%s", text, comment)
	}
}

// TestWarningsInTheReview: a reviewer reads the warnings of the cluster file, in the comment
// and on the page.
func TestWarningsInTheReview(t *testing.T) {
	c := upgraded("demo")
	c.Warnings = strict.Problems{{Line: 9, Path: "kubernetes.version", Message: "1.34 is old", Remedy: "run `tombolo upgrade demo --to 1.35`"}}
	c.Warnings = append(c.Warnings, strict.Problem{File: "clusters/_prod.yaml", With: "demo.yaml", Line: 3, Path: "kubernetes.version", Message: "is old", Remedy: "upgrade"})
	set := plan.Set{Since: "main", Clusters: []plan.Cluster{c}, Shared: []string{"clusters/_prod.yaml changed: 12 clusters"}}
	assert.Check(t, is.Contains(Comment(set, Options{}), "\n\nclusters/&#95;prod.yaml changed: 12 clusters.\n"))
	assert.Check(t, is.Contains(Comment(set, Options{}), "\nWarning of &#95;prod.yaml, line 3: `kubernetes.version` is old; upgrade\n"))
	assert.Check(t, is.Contains(Comment(set, Options{}), "\nWarning of the cluster file, line 9: `kubernetes.version` 1&#46;34 is old; run &#96;tombolo upgrade demo --to 1.35&#96;\n"))
	page, err := Page(set)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(page), `<p class="faint">clusters/_prod.yaml changed: 12 clusters</p>`))
	assert.Check(t, is.Contains(string(page), "<p>Warning of the cluster file, line 9: <code>kubernetes.version</code> 1.34 is old; run `tombolo upgrade demo --to 1.35`</p>"))
}
