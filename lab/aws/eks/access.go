package eks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

// The types of what lets somebody into a cluster.
const (
	AccessEntryType  = "aws:eks/accessEntry:AccessEntry"
	AccessPolicyType = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
	PodIdentityType  = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
)

// accessPolicies of EKS. Source:
// https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
var accessPolicies = []string{
	"AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSSecretReaderPolicy", "AmazonEKSViewPolicy",
}

func eksAccessTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		AccessEntryType: {
			Constructor: eks.NewAccessEntry,
			Noun:        "EKS Access Entry",
			API:         standin.API{Service: "EKS", Create: "CreateAccessEntry", Update: "UpdateAccessEntry", Remove: "DeleteAccessEntry"},
			// internal/service/eks/access_entry.go
			ForceNew:   []string{"clusterName", "principalArn", "type"},
			Defaults:   standin.Props{"type": "STANDARD"},
			References: []standin.Reference{toCluster(true)},
			// internal/service/eks/access_entry.go checks it; the model has mere text.
			Validate: func(in standin.Props) []standin.Problem { return standin.OneOf(in, "type", entryKinds...) },
			Create:   createAccessEntry,
			Update: func(c *standin.Call) error {
				c.Out()["modifiedAt"] = c.Cloud.Now().UTC().Format(time.RFC3339)
				describeIdentity(c.Out(), c.In().Str("principalArn"))
				return checkIdentity(c)
			},
			Remove: removeAccessEntry,
			Takes:  standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
		AccessPolicyType: {
			Constructor: eks.NewAccessPolicyAssociation,
			Noun:        "EKS Access Policy Association",
			API:         standin.API{Service: "EKS", Create: "AssociateAccessPolicy", Remove: "DisassociateAccessPolicy"},
			// internal/service/eks/access_policy_association.go
			ForceNew:   []string{"accessScope", "clusterName", "policyArn", "principalArn"},
			References: []standin.Reference{toCluster(true)},
			Create:     createAccessPolicy,
			Takes:      standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
		PodIdentityType: {
			Constructor: eks.NewPodIdentityAssociation,
			Noun:        "EKS Pod Identity Association",
			API:         standin.API{Service: "EKS", Create: "CreatePodIdentityAssociation", Update: "UpdatePodIdentityAssociation", Remove: "DeletePodIdentityAssociation"},
			// internal/service/eks/pod_identity_association.go
			ForceNew:   []string{"clusterName", "namespace", "serviceAccount"},
			References: []standin.Reference{toCluster(true)},
			Put:        checkPodRole,
			Create:     createPodIdentity,
			Identifies: func(r *standin.Record, id string) bool { return id == r.Inputs.Str("clusterName")+","+r.ID },
			Takes:      standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
	}
}

// usesEntries refuses access entries where the cluster does not use them.
func usesEntries(c *standin.Call, cluster *standin.Record) error {
	if cluster.Outputs.Sub("accessConfig").Str("authenticationMode") == "CONFIG_MAP" {
		return c.Refusef("InvalidRequestException", "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.")
	}
	return nil
}

var accessPrincipal = regexp.MustCompile(`^arn:[a-z-]+:iam::\d{12}:(root|(user|role)/.+)$`)

func createAccessEntry(c *standin.Call) (string, error) {
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	if err := usesEntries(c, cluster); err != nil {
		return "", err
	}
	principal := c.In().Str("principalArn")
	// EKS asks IAM whether the principal exists. Principals that people use
	// are not made in the lab, so their shape has to do.
	if !accessPrincipal.MatchString(principal) {
		return "", c.Refusef("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	}
	id := cluster.ID + ":" + principal
	if c.Find(AccessEntryType, id) != nil {
		return "", c.Refuse(standin.Refusal{Code: "ResourceInUseException", Status: 409, Message: "The specified access entry resource is already in use on this cluster."})
	}
	if err := checkEntryKind(c, principal); err != nil {
		return "", err
	}
	describeEntry(c, c.Out(), cluster.ID, principal)
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

// checkEntryKind refuses entries for nodes whose role does not exist: unlike
// people's, that is made along with the cluster.
func checkEntryKind(c *standin.Call, principal string) error {
	if c.In().Str("type") != "STANDARD" && iam.RoleOf(c.Cloud, principal) == nil {
		return c.Refusef("InvalidParameterException", "The specified principalArn is invalid: invalid principal.")
	}
	return nil
}

func describeEntry(c *standin.Call, out standin.Props, cluster, principal string) {
	kind, name, _ := strings.Cut(principal[strings.LastIndex(principal, ":")+1:], "/")
	out["accessEntryArn"] = account.ARN(c, "eks", fmt.Sprintf("access-entry/%s/%s/%s/%s/%s", cluster, kind, c.Cloud.Account, name, account.UUID()))
	out["createdAt"] = c.Cloud.Now().UTC().Format(time.RFC3339)
	out["modifiedAt"] = out["createdAt"]
	describeIdentity(out, principal)
}

// describeIdentity says whom Kubernetes takes a principal for.
func describeIdentity(out standin.Props, principal string) {
	if groups, isNode := nodeEntries[out.Str("type")]; isNode {
		out.SetDefaults(standin.Props{"userName": nodeUser, "kubernetesGroups": standin.Values(groups...)})
	}
	out.SetDefaults(standin.Props{"userName": defaultUser(principal), "kubernetesGroups": []any{}})
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
func checkIdentity(c *standin.Call) error {
	if kind := c.In().Str("type"); kind != "STANDARD" {
		for _, key := range []string{"kubernetesGroups", "userName"} {
			if len(c.In().At(key)) > 0 {
				return c.Refusef("InvalidParameterException", "The %s cannot be specified for access entries of type %s", key, kind)
			}
		}
	}
	for _, group := range c.In().List("kubernetesGroups") {
		for _, reserved := range []string{"system:", "eks:", "aws:", "amazon:", "iam:"} {
			if strings.HasPrefix(group, reserved) {
				return c.Refusef("InvalidParameterException", "The kubernetes group name %s is invalid, it cannot start with %s", group, reserved)
			}
		}
	}
	return nil
}

// removeAccessEntry takes the entry's policies along.
func removeAccessEntry(c *standin.Call) error {
	for r := range c.Cloud.Each(AccessPolicyType, c.Region) {
		if r.Inputs.Str("clusterName") == c.Record.Inputs.Str("clusterName") && r.Inputs.Str("principalArn") == c.Record.Inputs.Str("principalArn") {
			if err := c.Cloud.Forget(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func createAccessPolicy(c *standin.Call) (string, error) {
	in := c.In()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	if err := usesEntries(c, cluster); err != nil {
		return "", err
	}
	principal, policy := in.Str("principalArn"), in.Str("policyArn")
	entry := c.Find(AccessEntryType, cluster.ID+":"+principal)
	if entry == nil {
		return "", c.Refuse(standin.Refusal{Code: "ResourceNotFoundException", Status: 404, Message: "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'."})
	}
	if kind := entry.Inputs.Str("type"); kind != "STANDARD" && kind != "EC2" {
		return "", c.Refusef("InvalidRequestException", "Access policies cannot be associated with an access entry of type %s", kind)
	}
	name, ok := strings.CutPrefix(policy, "arn:"+account.Partition(c.Region)+":eks::aws:cluster-access-policy/")
	if !ok || !slices.Contains(accessPolicies, name) {
		return "", c.Refusef("InvalidParameterException", "The specified policyArn is invalid: %s", policy)
	}
	scope := in.Sub("accessScope")
	switch kind := scope.Str("type"); {
	case kind != "cluster" && kind != "namespace":
		return "", c.Refusef("InvalidParameterException", "The specified access scope type is invalid: %s", kind)
	case kind == "namespace" && len(scope.List("namespaces")) == 0:
		return "", c.Refusef("InvalidParameterException", "The access scope type is namespace, but no namespaces are specified.")
	case kind == "cluster" && len(scope.List("namespaces")) > 0:
		return "", c.Refusef("InvalidParameterException", "The access scope type is cluster, but namespaces are specified.")
	}
	c.Out()["associatedAt"] = c.Record.Created.UTC().Format(time.RFC3339)
	c.Out()["modifiedAt"] = c.Out()["associatedAt"]
	return strings.Join([]string{cluster.ID, principal, policy}, "#"), nil
}

// implyAdmin makes a principal a cluster administrator, as EKS does for the
// creator of a cluster.
func implyAdmin(c *standin.Call, cluster, principal string) error {
	entry := standin.Props{"clusterName": cluster, "principalArn": principal, "type": "STANDARD"}
	out := standin.Props{}
	describeEntry(c, out, cluster, principal)
	if err := c.Imply(AccessEntryType, cluster+":"+principal, entry, out); err != nil {
		return err
	}
	policy := "arn:" + account.Partition(c.Region) + ":eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
	return c.Imply(AccessPolicyType, strings.Join([]string{cluster, principal, policy}, "#"), standin.Props{
		"clusterName": cluster, "principalArn": principal, "policyArn": policy, "accessScope": map[string]any{"type": "cluster"},
	}, standin.Props{"associatedAt": out["createdAt"], "modifiedAt": out["createdAt"]})
}

// implyNodeEntry lets the nodes of a managed node group in, as EKS does.
func implyNodeEntry(c *standin.Call, cluster, role string) error {
	id := cluster + ":" + role
	mode := c.Find(ClusterType, cluster).Outputs.Sub("accessConfig").Str("authenticationMode")
	if mode == "CONFIG_MAP" || c.Find(AccessEntryType, id) != nil {
		return nil
	}
	out := standin.Props{"type": "EC2_LINUX"}
	describeEntry(c, out, cluster, role)
	return c.Imply(AccessEntryType, id, standin.Props{"clusterName": cluster, "principalArn": role, "type": "EC2_LINUX"}, out)
}

func createPodIdentity(c *standin.Call) (string, error) {
	in := c.In()
	cluster, err := activeCluster(c)
	if err != nil {
		return "", err
	}
	for r := range c.Others() {
		if r.Inputs.Str("clusterName") == cluster.ID && r.Inputs.Str("namespace") == in.Str("namespace") && r.Inputs.Str("serviceAccount") == in.Str("serviceAccount") {
			return "", c.Refuse(standin.Refusal{Code: "ResourceInUseException", Status: 409, Message: "Association already exists: %s"}, r.ID)
		}
	}
	id := "a-" + account.RandomHex(17)
	c.Out()["associationId"] = id
	c.Out()["associationArn"] = account.ARN(c, "eks", "podidentityassociation/"+cluster.ID+"/"+id)
	return id, nil
}

// checkPodRole refuses roles that the Pod Identity agent cannot assume: it needs
// sts:TagSession as well. The wording of AWS's message is not documented.
func checkPodRole(c *standin.Call) error {
	arn := c.In().Str("roleArn")
	role := iam.RoleOf(c.Cloud, arn)
	if role == nil {
		return c.Refusef("InvalidParameterException", "Role provided in the request does not exist: %s", arn)
	}
	if !iam.Trusts(role, "pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession") {
		return c.Refusef("InvalidParameterException", "Trust policy of role %s does not allow pods.eks.amazonaws.com to use sts:AssumeRole and sts:TagSession", arn)
	}
	return nil
}
