package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/efs"
	"tombolo/lab/standin"
)

const (
	oneInterface   = "aws:ec2/getNetworkInterface:getNetworkInterface"
	manyInterfaces = "aws:ec2/getNetworkInterfaces:getNetworkInterfaces"
)

// filtered asks with filters of one value each.
func filtered(filters map[string]string) props {
	list := []any{}
	for name, value := range filters {
		list = append(list, map[string]any{"name": name, "values": []any{value}})
	}
	return props{"filters": list}
}

// mounted is a network with a mount target in each of its subnets.
func mounted(t *testing.T) (w *world, files, a, b *thing) {
	t.Helper()
	w = newNetwork(t)
	files = w.fileSystem(nil)
	target := func(name string, subnet *thing) *thing {
		return w.Make(efs.MountTargetType, name, props{"fileSystemId": files.ID, "subnetId": subnet.ID, "securityGroups": []any{w.group.ID}})
	}
	return w, files, target("a", w.subnetA), target("b", w.subnetB)
}

// TestInterfacesOfMountTargets: the description names the mount target, by
// which one is found that is in no state.
func TestInterfacesOfMountTargets(t *testing.T) {
	w, files, a, b := mounted(t)
	inA, inB := a.Out.Str("networkInterfaceId"), b.Out.Str("networkInterfaceId")
	ours := "EFS mount target for " + files.ID + " (*)"
	for _, tc := range []struct {
		filters map[string]string
		want    []any
	}{
		{map[string]string{"interface-type": "efs"}, standin.Values(inA, inB)},
		{map[string]string{"subnet-id": w.subnetA.ID, "description": ours}, standin.Values(inA)},
		{map[string]string{"subnet-id": w.subnetB.ID, "description": ours}, standin.Values(inB)},
		{map[string]string{"subnet-id": w.subnetB.ID, "description": "EFS mount target for fs-1 (*)"}, []any{}},
		{map[string]string{"subnet-id": "subnet-1", "description": ours}, []any{}},
		{map[string]string{"description": "EFS * (" + a.ID + ")"}, standin.Values(inA)},
		{map[string]string{"network-interface-id": inB}, standin.Values(inB)},
		{map[string]string{"vpc-id": w.vpc.ID, "private-ip-address": a.Out.Str("ipAddress")}, standin.Values(inA)},
		{map[string]string{"availability-zone": "eu-central-1b", "interface-type": "efs", "owner-id": "111122223333"}, standin.Values(inB)},
	} {
		found, err := w.Invoke(manyInterfaces, filtered(tc.filters))
		if err != nil {
			t.Errorf("%v: %v", tc.filters, err)
		} else if diff := cmp.Diff(tc.want, found["ids"]); diff != "" {
			t.Errorf("%v: %s", tc.filters, diff)
		}
	}
}

func TestInterfaceOfAMountTarget(t *testing.T) {
	w, files, a, _ := mounted(t)
	id, address := a.Out.Str("networkInterfaceId"), a.Out.Str("ipAddress")
	found, err := w.Invoke(oneInterface, props{"id": id})
	assert.NilError(t, err)
	want := props{
		"id":               id,
		"arn":              "arn:aws:ec2:eu-central-1:111122223333:network-interface/" + id,
		"availabilityZone": "eu-central-1a",
		"description":      "EFS mount target for " + files.ID + " (" + a.ID + ")",
		"interfaceType":    "efs",
		"ownerId":          "111122223333",
		"privateIp":        address,
		"privateIps":       standin.Values(address),
		"securityGroups":   standin.Values(w.group.ID),
		"subnetId":         w.subnetA.ID,
		"vpcId":            w.vpc.ID,
		"associations":     []any{}, "attachments": []any{}, "ipv6Addresses": []any{}, "tags": map[string]any{},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("interface (-want +got):\n%s", diff)
	}
}

// TestInterfaceFollowsItsTarget: groups change with the target's, and it goes
// with the target.
func TestInterfaceFollowsItsTarget(t *testing.T) {
	w, _, a, _ := mounted(t)
	group := w.Make(ec2.SecurityGroupType, "other", props{"vpcId": w.vpc.ID})
	assert.NilError(t, w.Update(a, props{"securityGroups": []any{group.ID}}))
	asked := props{"id": a.Out.Str("networkInterfaceId")}
	found, err := w.Invoke(oneInterface, asked)
	if err != nil || !cmp.Equal(found.List("securityGroups"), []string{group.ID}) {
		t.Errorf("groups are %v, error %v", found["securityGroups"], err)
	}
	assert.NilError(t, w.Delete(a))
	w.unanswered(oneInterface, asked, "no matching EC2 Network Interface found")
}

func TestInterfaceRefusals(t *testing.T) {
	w, _, _, _ := mounted(t)
	for token, tc := range map[string]struct {
		args props
		want string
	}{
		oneInterface: {
			filtered(map[string]string{"vpc-id": w.vpc.ID}),
			"multiple EC2 Network Interfaces matched; use additional constraints to reduce matches to a single EC2 Network Interface",
		},
		manyInterfaces: {
			filtered(map[string]string{"attachment.instance-id": "i-1"}),
			"the AWS stand-in does not filter network interfaces by attachment.instance-id",
		},
	} {
		w.unanswered(token, tc.args, tc.want)
	}
}

func TestFilterWildcard(t *testing.T) {
	for _, tc := range []struct {
		pattern, value string
		want           bool
	}{
		{"demo", "demo", true},
		{"demo", "demo-1", false},
		{"demo*", "demo-1", true},
		{"*-1", "demo-1", true},
		{"d*-*", "demo-1", true},
		{"d*x*", "demo-1", false},
		{"*demo*", "demo", true},
		{"a*a", "a", false},
		{"ab*ba", "aba", false},
		{"*", "", true},
	} {
		if got := ec2.MatchesAny([]string{"other", tc.pattern}, tc.value); got != tc.want {
			t.Errorf("%q matches %q: %t, want %t", tc.pattern, tc.value, got, tc.want)
		}
	}
}
