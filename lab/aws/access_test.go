package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/eks"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

const viewPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"

func (w *world) karpenterNodes() props {
	role := w.Make(iam.RoleType, "karpenter-nodes", props{"assumeRolePolicy": nodeTrust})
	return props{"clusterName": "demo", "principalArn": role.Out["arn"], "type": "EC2_LINUX"}
}

func TestNodeEntryRefusals(t *testing.T) {
	refused(t, newWorld, []attempt{
		{"groups", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"kubernetesGroups": []any{"nodes"}})
		}, "InvalidParameterException: The kubernetesGroups cannot be specified for access entries of type EC2_LINUX"},
		{"user", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"userName": "node"})
		}, "InvalidParameterException: The userName cannot be specified for access entries of type EC2_LINUX"},
		{"type", eks.AccessEntryType, func(w *world) props { return standin.Merged(w.karpenterNodes(), props{"type": "LINUX"}) }, `type: expected type to be one of ["STANDARD" "EC2_LINUX"`},
		{"no role", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"principalArn": "arn:aws:iam::111122223333:role/nobody"})
		}, "InvalidParameterException: The specified principalArn is invalid: invalid principal."},
		{"role of a node group", eks.AccessEntryType, func(w *world) props {
			return standin.Merged(w.karpenterNodes(), props{"principalArn": w.nodeRole.Out["arn"]})
		}, "ResourceInUseException: The specified access entry resource is already in use on this cluster."},
		{"policy", eks.AccessPolicyType, func(w *world) props {
			in := w.karpenterNodes()
			w.Make(eks.AccessEntryType, "nodes", in)
			return props{
				"clusterName": "demo", "principalArn": in["principalArn"], "policyArn": viewPolicy, "accessScope": map[string]any{"type": "cluster"},
			}
		}, "InvalidRequestException: Access policies cannot be associated with an access entry of type EC2_LINUX"},
	})
}

func TestNodeEntry(t *testing.T) {
	w := newWorld(t)
	entry := w.Make(eks.AccessEntryType, "nodes", w.karpenterNodes())
	assert.Check(t, is.DeepEqual([]string{"system:nodes"}, entry.Out.List("kubernetesGroups")))
	if user := entry.Out.Str("userName"); user != "system:node:{{EC2PrivateDNSName}}" {
		t.Errorf("the user is %s", user)
	}
	if err := w.Update(entry, props{"tags": map[string]any{"a": "b"}}); err != nil || len(entry.Out.List("kubernetesGroups")) != 1 {
		t.Errorf("an update gives %v, %v", err, entry.Out)
	}
}
