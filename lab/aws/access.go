package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
)

const (
	accessEntryType  = "aws:eks/accessEntry:AccessEntry"
	accessPolicyType = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
	podIdentityType  = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
)

// accessPolicies of EKS. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
var accessPolicies = []string{
	"AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSSecretReaderPolicy", "AmazonEKSViewPolicy",
}

func eksAccessTypes() map[string]*resourceType {
	return map[string]*resourceType{
		accessEntryType: {
			constructor: eks.NewAccessEntry,
			noun:        "EKS Access Entry",
			api:         api{service: "EKS", create: "CreateAccessEntry", update: "UpdateAccessEntry", remove: "DeleteAccessEntry"},
			// internal/service/eks/access_entry.go
			forceNew:   []string{"clusterName", "principalArn", "type"},
			defaults:   props{"type": "STANDARD"},
			references: []reference{toCluster(true)},
			create:     createAccessEntry,
			update: func(c *call) error {
				c.out()["modifiedAt"] = c.cloud.now().UTC().Format(time.RFC3339)
				describeIdentity(c.out(), c.in().str("principalArn"))
				return checkIdentity(c)
			},
			remove: removeAccessEntry,
			takes:  timing{create: 2 * time.Second, remove: time.Second},
		},
		accessPolicyType: {
			constructor: eks.NewAccessPolicyAssociation,
			noun:        "EKS Access Policy Association",
			api:         api{service: "EKS", create: "AssociateAccessPolicy", remove: "DisassociateAccessPolicy"},
			// internal/service/eks/access_policy_association.go
			forceNew:   []string{"accessScope", "clusterName", "policyArn", "principalArn"},
			references: []reference{toCluster(true)},
			create:     createAccessPolicy,
			takes:      timing{create: 2 * time.Second, remove: time.Second},
		},
		podIdentityType: {
			constructor: eks.NewPodIdentityAssociation,
			noun:        "EKS Pod Identity Association",
			api:         api{service: "EKS", create: "CreatePodIdentityAssociation", update: "UpdatePodIdentityAssociation", remove: "DeletePodIdentityAssociation"},
			// internal/service/eks/pod_identity_association.go
			forceNew:   []string{"clusterName", "namespace", "serviceAccount"},
			references: []reference{toCluster(true)},
			create:     createPodIdentity,
			update:     checkPodRole,
			identifies: func(r *record, id string) bool { return id == r.Inputs.str("clusterName")+","+r.ID },
			arn:        func(_ *Cloud, r *record) string { return r.Outputs.str("associationArn") },
			takes:      timing{create: 2 * time.Second, remove: time.Second},
		},
	}
}

// usesEntries refuses access entries where the cluster does not use them.
func usesEntries(c *call, cluster *record) error {
	if cluster.Outputs.sub("accessConfig").str("authenticationMode") == "CONFIG_MAP" {
		return c.refusef("InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	return nil
}

var accessPrincipal = regexp.MustCompile(`^arn:[a-z-]+:iam::\d{12}:(root|(user|role)/.+)$`)

func createAccessEntry(c *call) (string, error) {
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	if err := usesEntries(c, cluster); err != nil {
		return "", err
	}
	principal := c.in().str("principalArn")
	// EKS asks IAM whether the principal exists. Principals that people use
	// are not made in the lab, so their shape has to do.
	if !accessPrincipal.MatchString(principal) {
		return "", c.refusef("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	}
	id := cluster.ID + ":" + principal
	if c.find(accessEntryType, id) != nil {
		return "", c.refuse(refusal{code: "ResourceInUseException", status: 409, message: "The specified access entry resource is already in use on this cluster."})
	}
	if err := checkEntryKind(c, principal); err != nil {
		return "", err
	}
	describeEntry(c, c.out(), cluster.ID, principal)
	return id, checkIdentity(c)
}

// nodeUser is the Kubernetes user of a node.
const nodeUser = "system:node:{{EC2PrivateDNSName}}"

// The types of access entries. The ones that are for nodes come with the user
// and the groups that nodes have, and with no policies. Source:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAccessEntry.html
var (
	entryKinds  = []string{"STANDARD", "EC2_LINUX", "EC2_WINDOWS", "EC2", "FARGATE_LINUX", "HYBRID_LINUX", "HYPERPOD_LINUX"}
	nodeEntries = map[string][]string{
		"EC2_LINUX":     {"system:nodes"},
		"EC2_WINDOWS":   {"eks:kube-proxy-windows", "system:nodes"},
		"FARGATE_LINUX": {"system:node-proxier", "system:nodes"},
	}
)

// checkEntryKind refuses unknown types, and entries for nodes whose role does
// not exist: unlike people's, that is made along with the cluster.
func checkEntryKind(c *call, principal string) error {
	kind := c.in().str("type")
	if !slices.Contains(entryKinds, kind) {
		return c.refusef("InvalidParameterException", "The specified type is invalid: %s. Valid types: %v", kind, entryKinds)
	}
	if role := c.find(roleType, principal); kind != "STANDARD" && (role == nil || role.Outputs.str("arn") != principal) {
		return c.refusef("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	}
	return nil
}

func describeEntry(c *call, out props, cluster, principal string) {
	kind, name, _ := strings.Cut(principal[strings.LastIndex(principal, ":")+1:], "/")
	out["accessEntryArn"] = c.arn("eks", fmt.Sprintf("access-entry/%s/%s/%s/%s/%s", cluster, kind, c.cloud.options.Account, name, uuid()))
	out["createdAt"] = c.cloud.now().UTC().Format(time.RFC3339)
	out["modifiedAt"] = out["createdAt"]
	describeIdentity(out, principal)
}

// describeIdentity says whom Kubernetes takes a principal for.
func describeIdentity(out props, principal string) {
	if groups, isNode := nodeEntries[out.str("type")]; isNode {
		out.setDefault("userName", nodeUser)
		out.setDefault("kubernetesGroups", anys(groups...))
	}
	out.setDefault("userName", defaultUser(principal))
	out.setDefault("kubernetesGroups", []any{})
}

// defaultUser is the Kubernetes user that EKS takes a principal for.
func defaultUser(principal string) string {
	parts := strings.SplitN(principal, ":", 6)
	if name, isRole := strings.CutPrefix(parts[5], "role/"); isRole {
		return fmt.Sprintf("arn:%s:sts::%s:assumed-role/%s/{{SessionName}}", parts[1], parts[4], name[strings.LastIndex(name, "/")+1:])
	}
	return principal
}

// checkIdentity refuses users and groups of one's own for nodes, and groups that
// Kubernetes or AWS keep for themselves. The wording of AWS's messages for nodes
// is not documented.
func checkIdentity(c *call) error {
	if kind := c.in().str("type"); kind != "STANDARD" {
		for _, key := range []string{"kubernetesGroups", "userName"} {
			if len(c.in().at(key)) > 0 {
				return c.refusef("InvalidParameterException", "The %s cannot be specified for access entries of type %s", key, kind)
			}
		}
	}
	for _, group := range c.in().list("kubernetesGroups") {
		for _, reserved := range []string{"system:", "eks:", "aws:", "amazon:", "iam:"} {
			if strings.HasPrefix(group, reserved) {
				return c.refusef("InvalidParameterException", "The kubernetes group name %s is invalid, it cannot start with %s", group, reserved)
			}
		}
	}
	return nil
}

// removeAccessEntry takes the entry's policies along.
func removeAccessEntry(c *call) error {
	for r := range c.cloud.each(accessPolicyType, c.region) {
		if r.Inputs.str("clusterName") == c.r.Inputs.str("clusterName") && r.Inputs.str("principalArn") == c.r.Inputs.str("principalArn") {
			if err := c.cloud.store.remove(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func createAccessPolicy(c *call) (string, error) {
	in := c.in()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	if err := usesEntries(c, cluster); err != nil {
		return "", err
	}
	principal, policy := in.str("principalArn"), in.str("policyArn")
	entry := c.find(accessEntryType, cluster.ID+":"+principal)
	if entry == nil {
		return "", c.refuse(refusal{code: "ResourceNotFoundException", status: 404, message: "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'."})
	}
	if kind := entry.Inputs.str("type"); kind != "STANDARD" && kind != "EC2" {
		return "", c.refusef("InvalidRequestException", "Access policies cannot be associated with an access entry of type %s", kind)
	}
	name, ok := strings.CutPrefix(policy, "arn:"+partition(c.region)+":eks::aws:cluster-access-policy/")
	if !ok || !slices.Contains(accessPolicies, name) {
		return "", c.refusef("InvalidParameterException", "The specified policyArn is invalid: %s", policy)
	}
	scope := in.sub("accessScope")
	switch kind := scope.str("type"); {
	case kind != "cluster" && kind != "namespace":
		return "", c.refusef("InvalidParameterException", "The specified access scope type is invalid: %s", kind)
	case kind == "namespace" && len(scope.list("namespaces")) == 0:
		return "", c.refusef("InvalidParameterException", "The access scope type is namespace, but no namespaces are specified.")
	case kind == "cluster" && len(scope.list("namespaces")) > 0:
		return "", c.refusef("InvalidParameterException", "The access scope type is cluster, but namespaces are specified.")
	}
	c.out()["associatedAt"] = c.r.Created.UTC().Format(time.RFC3339)
	c.out()["modifiedAt"] = c.out()["associatedAt"]
	return strings.Join([]string{cluster.ID, principal, policy}, "#"), nil
}

// implyAdmin makes a principal a cluster administrator, as EKS does for the
// creator of a cluster.
func implyAdmin(c *call, cluster, principal string) error {
	entry := props{"clusterName": cluster, "principalArn": principal, "type": "STANDARD"}
	out := props{}
	describeEntry(c, out, cluster, principal)
	if err := c.imply(accessEntryType, cluster+":"+principal, entry, out); err != nil {
		return err
	}
	policy := "arn:" + partition(c.region) + ":eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
	return c.imply(accessPolicyType, strings.Join([]string{cluster, principal, policy}, "#"), props{
		"clusterName": cluster, "principalArn": principal, "policyArn": policy, "accessScope": map[string]any{"type": "cluster"},
	}, props{"associatedAt": out["createdAt"], "modifiedAt": out["createdAt"]})
}

// implyNodeEntry lets the nodes of a managed node group in, as EKS does.
func implyNodeEntry(c *call, cluster, role string) error {
	id := cluster + ":" + role
	mode := c.find(clusterType, cluster).Outputs.sub("accessConfig").str("authenticationMode")
	if mode == "CONFIG_MAP" || c.find(accessEntryType, id) != nil {
		return nil
	}
	out := props{"type": "EC2_LINUX"}
	describeEntry(c, out, cluster, role)
	return c.imply(accessEntryType, id, props{"clusterName": cluster, "principalArn": role, "type": "EC2_LINUX"}, out)
}

func createPodIdentity(c *call) (string, error) {
	in := c.in()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	for r := range c.others() {
		if r.Inputs.str("clusterName") == cluster.ID && r.Inputs.str("namespace") == in.str("namespace") && r.Inputs.str("serviceAccount") == in.str("serviceAccount") {
			return "", c.refuse(refusal{code: "ResourceInUseException", status: 409, message: "Association already exists: %s"}, r.ID)
		}
	}
	if err := checkPodRole(c); err != nil {
		return "", err
	}
	id := "a-" + randomHex(17)
	c.out()["associationId"] = id
	c.out()["associationArn"] = c.arn("eks", "podidentityassociation/"+cluster.ID+"/"+id)
	return id, nil
}

// checkPodRole refuses roles that the Pod Identity agent cannot assume: it needs
// sts:TagSession as well. The wording of AWS's message is not documented.
func checkPodRole(c *call) error {
	arn := c.in().str("roleArn")
	role := c.find(roleType, arn)
	if role == nil || role.Outputs.str("arn") != arn {
		return c.refusef("InvalidParameterException", "Role provided in the request does not exist: %s", arn)
	}
	if !trusts(role, "pods.eks", "sts:AssumeRole", "sts:TagSession") {
		return c.refusef("InvalidParameterException", "Trust policy of role %s does not allow pods.eks.amazonaws.com to use sts:AssumeRole and sts:TagSession", arn)
	}
	return nil
}
