package identity

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

func args(mode Mode) *RoleArgs {
	return &RoleArgs{
		RoleName: "demo-service-dns", Mode: mode, Namespace: "dns", ServiceAccount: "external-dns",
		AccountID: "111122223333",
		PolicyARNs: []string{
			"arn:aws:iam::aws:policy/AmazonRoute53ReadOnlyAccess",
		},
		Statements: []Statement{
			{Actions: []string{"route53:ChangeResourceRecordSets"}, Resources: []string{"arn:aws:route53:::hostedzone/Z1"}},
		},
		OIDCProviderARN: pulumi.String("arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/ABC"),
		OIDCIssuer:      pulumi.String("https://oidc.eks.eu-central-1.amazonaws.com/id/ABC"),
		ClusterName:     pulumi.String("demo"),
		ClusterARN:      pulumi.String("arn:aws:eks:eu-central-1:111122223333:cluster/demo"),
	}
}

func run(t *testing.T, a *RoleArgs) *recorder.Recorder {
	t.Helper()
	r := &recorder.Recorder{}
	return r.Sound(t, r.Run("demo-core", recorder.Probing("demo-dns", NewRole, a, func(role *Role) pulumi.Map {
		return pulumi.Map{"arn": role.ARN}
	})))
}

func TestTrustAndPolicy(t *testing.T) {
	for _, mode := range []Mode{IRSA, PodIdentity} {
		r := run(t, args(mode))
		recorder.Golden(t, string(mode)+"-trust.json", r.OfType("aws:iam/role:Role")[0].String("assumeRolePolicy"))
		recorder.Golden(t, "policy.json", r.OfType("aws:iam/rolePolicy:RolePolicy")[0].String("policy"))
		assert.Check(t, is.Len(r.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment"), 1), mode)
	}
}

func TestAssociationOnlyForPodIdentity(t *testing.T) {
	const token = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
	assert.Check(t, is.Len(run(t, args(IRSA)).OfType(token), 0))
	r := run(t, args(PodIdentity))
	associations := r.OfType(token)
	assert.Assert(t, len(associations) == 1, "pod-identity made %d associations, expected 1", len(associations))
	for path, want := range map[string]string{"clusterName": "demo", "namespace": "dns", "serviceAccount": "external-dns"} {
		assert.Check(t, is.Equal(associations[0].String(path), want), path)
	}
}

func TestSeveralServiceAccounts(t *testing.T) {
	for _, mode := range []Mode{IRSA, PodIdentity} {
		a := args(mode)
		a.OtherServiceAccounts = []string{"external-dns-private"}
		r := run(t, a)
		role := r.OfType("aws:iam/role:Role")[0]
		role.Expect(t, map[string]string{"description": "Service accounts dns/external-dns external-dns-private by " + string(mode)})
		if mode == IRSA {
			recorder.Golden(t, "irsa-several-trust.json", role.String("assumeRolePolicy"))
			continue
		}
		more, ok := r.Named("aws:eks/podIdentityAssociation:PodIdentityAssociation", "demo-dns-external-dns-private-association")
		assert.Check(t, ok && more.String("serviceAccount") == "external-dns-private", "the second service account's association is %+v", more)
	}
}

func TestServiceTrust(t *testing.T) {
	trust, err := ServiceTrust([]string{"eks.amazonaws.com"}, false)
	assert.NilError(t, err)
	recorder.Golden(t, "service-trust.json", trust)

	trust, err = ServiceTrust([]string{"eks.amazonaws.com"}, true)
	assert.NilError(t, err)
	recorder.Golden(t, "service-trust-tags.json", trust)
}

func TestDocument(t *testing.T) {
	document, err := Document([]Statement{
		{Actions: []string{"route53:ListHostedZones"}, Resources: []string{"*"}},
		{
			Sid: "ChangeRecords", Actions: []string{"route53:ChangeResourceRecordSets"}, Resources: []string{"arn:aws:route53:::hostedzone/Z1"},
			Conditions: map[string]map[string][]string{
				"ForAllValues:StringLike":   {"route53:ChangeResourceRecordSetsNormalizedRecordNames": {"*.example.com"}},
				"ForAllValues:StringEquals": {"route53:ChangeResourceRecordSetsRecordTypes": {"A", "TXT"}, "route53:ChangeResourceRecordSetsActions": {"UPSERT"}},
			},
		},
	})
	assert.NilError(t, err)
	recorder.Golden(t, "document.json", document)
}

func TestLargestPolicyIsTaken(t *testing.T) {
	a := args(IRSA)
	sized(t, a, maxInlinePolicy)
	policy := run(t, a).OfType("aws:iam/rolePolicy:RolePolicy")[0].String("policy")
	assert.Check(t, len(policy) == maxInlinePolicy, "the policy has %d characters, expected %d", len(policy), maxInlinePolicy)
}

// sized gives the role statements whose policy has so many characters.
func sized(t *testing.T, a *RoleArgs, characters int) {
	t.Helper()
	document, err := Document(a.Statements)
	assert.NilError(t, err)
	a.Statements[0].Resources[0] += strings.Repeat("x", characters-len(document))
}

func TestARNWaitsForThePolicies(t *testing.T) {
	made := run(t, args(IRSA)).Probed()
	made.Expect(t, map[string]string{"arn": "arn:aws:test:eu-central-1:111122223333:demo-dns-role"})
	made.ExpectAfter(t, "arn", "demo-dns-AmazonRoute53ReadOnlyAccess", "demo-dns-policy")
}

func TestRoleValidate(t *testing.T) {
	recorder.Refuses(t, "demo-dns", NewRole, "identity demo-dns: ", func() *RoleArgs { return args(IRSA) }, map[string]func(*RoleArgs){
		"has 65 characters; IAM allows 1 to 64":                         func(a *RoleArgs) { a.RoleName = strings.Repeat("x", 65) },
		"namespace and service account are required":                    func(a *RoleArgs) { a.ServiceAccount = "" },
		`mode "kiam" is unknown; expected irsa or pod-identity`:         func(a *RoleArgs) { a.Mode = "kiam" },
		"irsa needs the OIDC provider's ARN and the issuer":             func(a *RoleArgs) { a.OIDCIssuer = nil },
		"pod-identity needs the cluster's name and ARN and the account": func(a *RoleArgs) { a.Mode, a.ClusterARN = PodIdentity, nil },
		"statement 1 needs actions and resources":                       func(a *RoleArgs) { a.Statements[0].Actions = nil },
		`statement 1: Sid "Read-It" has more than letters and digits`:   func(a *RoleArgs) { a.Statements[0].Sid = "Read-It" },
		`statement 2: Sid "Read" is given twice`: func(a *RoleArgs) {
			a.Statements[0].Sid = "Read"
			a.Statements = append(a.Statements, a.Statements[0])
		},
		"statement 1: condition StringEquals has no keys": func(a *RoleArgs) {
			a.Statements[0].Conditions = map[string]map[string][]string{"StringEquals": nil}
		},
		"statement 1: condition StringEquals of aws:RequestedRegion has no values": func(a *RoleArgs) {
			a.Statements[0].Conditions = map[string]map[string][]string{"StringEquals": {"aws:RequestedRegion": nil}}
		},
		"the statements make a policy of 10241 characters; IAM allows a role 10240: move some to a managed policy and give its ARN": func(a *RoleArgs) {
			sized(t, a, maxInlinePolicy+1)
		},
	})
}

// TestGivenRole: of a role that others own nothing is made, but for the association that
// gives it to the service account.
func TestGivenRole(t *testing.T) {
	const arn = "arn:aws:iam::111122223333:role/team/orders"
	for mode, want := range map[Mode]int{IRSA: 0, PodIdentity: 1} {
		r := run(t, &RoleArgs{
			RoleARN: arn, Mode: mode, Namespace: "shop", ServiceAccount: "orders", AccountID: "111122223333",
			ClusterName: pulumi.String("demo"), ClusterARN: pulumi.String("arn:cluster"),
		})
		assert.Check(t, is.Len(r.OfType("aws:iam/role:Role"), 0))
		r.Probed().Expect(t, map[string]string{"arn": arn})
		associations := r.OfType("aws:eks/podIdentityAssociation:PodIdentityAssociation")
		assert.Check(t, is.Len(associations, want), "%s", mode)
		for _, a := range associations {
			a.Expect(t, map[string]string{"roleArn": arn, "serviceAccount": "orders", "namespace": "shop", "clusterName": "demo"})
		}
	}
	_, err := NewRole(nil, "orders", &RoleArgs{RoleARN: arn, Mode: IRSA, Namespace: "shop", ServiceAccount: "orders", PolicyARNs: []string{"arn:policy"}})
	assert.ErrorContains(t, err, "a role that others own gets no policies")
}
