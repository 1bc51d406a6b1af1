package cirole

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/identity"
	"tombolo/components/recorder"
)

const (
	provider = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"
	managed  = "arn:aws:iam::111122223333:policy/clusters"
)

func state() State {
	return State{BucketARN: "arn:aws:s3:::acme-state", KeyARN: "arn:aws:kms:eu-central-1:111122223333:key/1"}
}

func roleArgs() *RoleArgs {
	return &RoleArgs{
		RoleName: "tombolo-preview", Issuer: GitHubIssuer, Audience: GitHubAudience,
		Subjects:   []string{GitHubEnvironment("acme/clusters", "preview"), GitHubEnvironment("acme/clusters", "drift")},
		Statements: Reading(state()), ProviderARN: pulumi.String(provider),
	}
}

func built(t *testing.T, args *RoleArgs) *recorder.Recorder {
	t.Helper()
	r, err := recorder.Make("roles", "preview", NewRole, args)
	return r.Sound(t, err)
}

func TestTrust(t *testing.T) {
	built(t, roleArgs()).OfType("aws:iam/role:Role")[0].Expect(t, map[string]string{
		"name": "tombolo-preview",
		"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"` + provider + `"},` +
			`"Action":["sts:AssumeRoleWithWebIdentity"],"Condition":{"StringEquals":{` +
			`"token.actions.githubusercontent.com:aud":["sts.amazonaws.com"],` +
			`"token.actions.githubusercontent.com:sub":["repo:acme/clusters:environment:preview","repo:acme/clusters:environment:drift"]}}}]}`,
	})
}

// TestTrustOfMergeRequests: a merge request's branch has any name, and its project
// has one.
func TestTrustOfMergeRequests(t *testing.T) {
	args := roleArgs()
	args.Issuer, args.Audience = GitLabIssuer, GitLabAudience
	args.Subjects = []string{GitLabBranches("acme/clusters")}
	built(t, args).OfType("aws:iam/role:Role")[0].Expect(t, map[string]string{
		"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"` + provider + `"},` +
			`"Action":["sts:AssumeRoleWithWebIdentity"],"Condition":{` +
			`"StringEquals":{"gitlab.com:aud":["https://gitlab.com"]},` +
			`"StringLike":{"gitlab.com:sub":["project_path:acme/clusters:ref_type:branch:ref:*"]}}}]}`,
	})
}

// TestTrustOfGitLabsBranch: a request from the branch into another one has the branch's
// subject, and runs what the other one has. gitlab.com's tokens say what started them; of
// other instances AWS reads the subject alone.
func TestTrustOfGitLabsBranch(t *testing.T) {
	for issuer, pushed := range map[string]string{
		GitLabIssuer:      `"gitlab.com:pipeline_source":["push","schedule"],"gitlab.com:ref_protected":["true"],`,
		"git.example.com": "",
	} {
		args := roleArgs()
		args.Issuer, args.Audience = issuer, "https://"+issuer
		args.Subjects = []string{GitLabBranch("acme/clusters", "main")}
		built(t, args).OfType("aws:iam/role:Role")[0].Expect(t, map[string]string{
			"assumeRolePolicy": `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"` + provider + `"},` +
				`"Action":["sts:AssumeRoleWithWebIdentity"],"Condition":{"StringEquals":{"` + issuer + `:aud":["https://` + issuer + `"],` + pushed +
				`"` + issuer + `:sub":["project_path:acme/clusters:ref_type:branch:ref:main"]}}}]}`,
		})
	}
}

func TestApply(t *testing.T) {
	args := roleArgs()
	args.Statements, args.PolicyARNs = WritingState(state()), []string{managed}
	args.MaxSession, args.Place = 21600, identity.Place{Path: "/ci/", PermissionsBoundary: "arn:aws:iam::111122223333:policy/boundary"}
	r := built(t, args)
	r.OfType("aws:iam/role:Role")[0].Expect(t, map[string]string{
		"maxSessionDuration": "21600", "permissionsBoundary": "arn:aws:iam::111122223333:policy/boundary", "path": "/ci/",
	})
	r.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment")[0].Expect(t, map[string]string{"policyArn": managed, "role": "tombolo-preview"})
}

// TestReadingReads: nothing that the reading role may do changes anything, and of
// what is stored it reads the state alone.
func TestReadingReads(t *testing.T) {
	for _, s := range Reading(state()) {
		for _, action := range s.Actions {
			_, verb, _ := strings.Cut(action, ":")
			reads := strings.HasPrefix(verb, "Describe") || strings.HasPrefix(verb, "Get") || strings.HasPrefix(verb, "List")
			// See TestPreviewsDecryptNothing.
			if decrypts := action == "kms:Decrypt" && s.Resources[0] == state().KeyARN && len(s.Conditions) > 0; !reads && !decrypts {
				t.Errorf("%s: %s may change something", s.Sid, action)
			}
			stored := action == "s3:GetObject" || action == "s3:Get*" || strings.HasPrefix(action, "secretsmanager:") || strings.HasPrefix(action, "ssm:")
			if stored && (len(s.Resources) != 1 || s.Resources[0] != "arn:aws:s3:::acme-state/*") {
				t.Errorf("%s: %s reads what is stored in %v", s.Sid, action, s.Resources)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	recorder.Refuses(t, "preview", NewRole, "preview: ", roleArgs, map[string]func(*RoleArgs){
		"no subject: any job of the issuer's":               func(a *RoleArgs) { a.Subjects = nil },
		`subject "repo:acme/*": a subject is given in full`: func(a *RoleArgs) { a.Subjects = []string{"repo:acme/*"} },
		`subject "project_path:*:ref_type:branch:ref:*"`:    func(a *RoleArgs) { a.Subjects = []string{GitLabBranches("*")} },
		`subject ":ref_type:branch:ref:*"`:                  func(a *RoleArgs) { a.Subjects = []string{":ref_type:branch:ref:*"} },
		`issuer "https://gitlab.com" without https://`:      func(a *RoleArgs) { a.Issuer = "https://gitlab.com" },
		"the role would allow nothing":                      func(a *RoleArgs) { a.Statements = []identity.Statement{} },
		"role name":                                         func(a *RoleArgs) { a.RoleName = strings.Repeat("r", 65) },
	})
	assert.Check(t, is.Equal(GitLabBranch("acme/clusters", "main"), "project_path:acme/clusters:ref_type:branch:ref:main"))
}
