package previewers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const (
	policyType  = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
	boundType   = policyType + "Binding"
	roleType    = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
	bindingType = roleType + "Binding"
)

func made(t *testing.T, groups ...string) *recorder.Recorder {
	t.Helper()
	r := &recorder.Recorder{}
	return r.Sound(t, r.Run("demo-bootstrap", func(ctx *pulumi.Context) error {
		_, err := NewPreviewers(ctx, "demo", &PreviewersArgs{Groups: groups})
		return err
	}))
}

// TestGroupsOfADirectory: the API server knows groups of Entra by their object ids.
func TestGroupsOfADirectory(t *testing.T) {
	for _, groups := range [][]string{{"p1"}, {"p1", "p2"}} {
		r := made(t, groups...)
		binding, _ := r.Named(bindingType, "demo-previews")
		for i, group := range groups {
			binding.Expect(t, map[string]string{fmt.Sprintf("subjects[%d].name", i): group, fmt.Sprintf("subjects[%d].kind", i): "Group"})
		}
		policy, _ := r.Named(policyType, "demo-previews")
		policy.Expect(t, map[string]string{"spec.matchConditions[0].expression": map[int]string{
			1: "'p1' in request.userInfo.groups", 2: "request.userInfo.groups.exists(group, group in ['p1', 'p2'])",
		}[len(groups)]})
	}
	_, err := recorder.Make("demo-bootstrap", "demo", NewPreviewers, &PreviewersArgs{})
	assert.Check(t, is.ErrorContains(err, "previewers demo: at least one group is required"))
}

// TestThePolicyComesFirst: rights to write exist only where the policy holds them
// to dry runs, and they go before it does.
func TestThePolicyComesFirst(t *testing.T) {
	r := made(t, Group)
	for _, pair := range [][2]string{{boundType, policyType}, {roleType, boundType}, {bindingType, roleType}} {
		after, _ := r.Named(pair[0], "demo-previews")
		assert.Check(t, after.WaitsFor("$"+pair[1]+"::"), "%s does not wait for %s, but for %v", pair[0], pair[1], after.DependsOn)
	}
	policy, _ := r.Named(policyType, "demo-previews")
	policy.Expect(t, map[string]string{
		"spec.failurePolicy":                                  "Fail",
		"spec.matchConditions[0].expression":                  "'tombolo:preview' in request.userInfo.groups",
		"spec.validations[0].expression":                      "request.operation != 'CONNECT' && has(request.dryRun) && request.dryRun",
		"spec.validations[0].message":                         Refusal,
		"spec.matchConstraints.matchPolicy":                   "Equivalent",
		"spec.matchConstraints.resourceRules[0].resources[0]": "*/*",
	})
	bound, _ := r.Named(boundType, "demo-previews")
	bound.Expect(t, map[string]string{"spec.policyName": PolicyName, "spec.validationActions[0]": "Deny"})
}

// TestRights: no Secrets, no way around the policy, and nothing that runs.
func TestRights(t *testing.T) {
	role, _ := made(t, Group).Named(roleType, "demo-previews")
	rules, _ := role.Value("rules")
	for _, rule := range rules.ArrayValue() {
		list := func(key string) []string {
			var out []string
			for _, v := range rule.ObjectValue()[resource.PropertyKey(key)].ArrayValue() {
				out = append(out, v.StringValue())
			}
			return out
		}
		groups, resources, verbs := list("apiGroups"), list("resources"), list("verbs")
		writes := slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
		switch {
		case slices.Contains(groups, "*"):
			t.Errorf("the rule of %v is for every group", groups)
		case slices.Contains(groups, "") && (slices.Contains(resources, "*") || slices.Contains(resources, "secrets")):
			t.Errorf("Secrets are among %v", resources)
		case slices.Contains(groups, "") && writes && slices.Contains(resources, "pods"):
			t.Error("pods may be written")
		case slices.Contains(groups, "admissionregistration.k8s.io") && writes:
			t.Error("policies may be written, by those whom a policy holds")
		}
		for _, verb := range []string{"*", "bind", "escalate", "impersonate", "deletecollection", "approve", "sign"} {
			assert.Check(t, !slices.Contains(verbs, verb), "%v may be used to %s", resources, verb)
		}
	}
}
