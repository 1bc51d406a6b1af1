package pipelines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks/owner"
)

const file = `version: 1
name: acme
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
tags: {team: platform}
state: {bucketArn: "arn:aws:s3:::acme-state"}
pipelines:
  host: github
  repository: acme/clusters
  apply: {policyArns: ["arn:aws:iam::111122223333:policy/clusters"]}
`

func run(t *testing.T, text, account string) (*recorder.Recorder, error) {
	t.Helper()
	return runBeside(t, "acme", text, account, nil)
}

// runBeside runs with other account files in the directory.
func runBeside(t *testing.T, name, text, account string, others map[string]string) (*recorder.Recorder, error) {
	t.Helper()
	dir := t.TempDir()
	for other, text := range others {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, other+".yaml"), []byte(text), 0o600))
	}
	path := filepath.Join(dir, name+".yaml")
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	a, err := config.LoadAccount(path)
	assert.NilError(t, err)
	answer := func(key, value string) func(resource.PropertyMap) (resource.PropertyMap, error) {
		return func(resource.PropertyMap) (resource.PropertyMap, error) {
			return resource.PropertyMap{resource.PropertyKey(key): resource.NewStringProperty(value)}, nil
		}
	}
	r := &recorder.Recorder{Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:index/getCallerIdentity:getCallerIdentity": answer("accountId", account),
		"aws:index/getPartition:getPartition":           answer("partition", "aws"),
	}}
	return r, r.Run(name+"-pipelines", func(ctx *pulumi.Context) error { return Run(ctx, a, "file:///state") })
}

func TestRoles(t *testing.T) {
	r, err := run(t, strings.Replace(file, "name: acme", "name: acme\nprotect: true", 1), "111122223333")
	assert.NilError(t, err)
	provider := r.OfType("pulumi:providers:aws")[0]
	provider.Expect(t, map[string]string{
		"allowedAccountIds[0]": "111122223333", `defaultTags.tags["tombolo:pipelines"]`: "acme", "defaultTags.tags.team": "platform",
	})
	_, clusters := provider.Value(`defaultTags.tags["tombolo:cluster"]`)
	assert.Check(t, !clusters, "a cluster of the account's name would take the roles for its own")
	r.OfType("aws:iam/openIdConnectProvider:OpenIdConnectProvider")[0].Expect(t, map[string]string{
		"url": "https://token.actions.githubusercontent.com", "clientIdLists[0]": "sts.amazonaws.com",
	})
	for name, subjects := range map[string]string{
		"preview": `["repo:acme/clusters:environment:preview","repo:acme/clusters:environment:preview-program","repo:acme/clusters:environment:plan","repo:acme/clusters:environment:drift"]`,
		"apply":   `["repo:acme/clusters:environment:apply"]`,
	} {
		role, found := r.Named("aws:iam/role:Role", "acme-"+name+"-role")
		assert.Assert(t, found, "no role to %s", name)
		role.Expect(t, map[string]string{"name": "acme-pipelines-" + name})
		assert.Check(t, is.Contains(role.String("assumeRolePolicy"), `:sub":`+subjects+"}"))
	}
	apply, _ := r.Named("aws:iam/role:Role", "acme-apply-role")
	apply.Expect(t, map[string]string{"maxSessionDuration": "21600"})
	assert.Check(t, is.Len(r.OfType("aws:iam/rolePolicyAttachment:RolePolicyAttachment"), 1))
}

func TestRolesOfGitLab(t *testing.T) {
	r, err := run(t, strings.NewReplacer("github", "gitlab\n  issuer: git.example.com\n"+
		"  providerArn: arn:aws:iam::111122223333:oidc-provider/git.example.com").Replace(file), "111122223333")
	assert.NilError(t, err)
	assert.Check(t, is.Len(r.OfType("aws:iam/openIdConnectProvider:OpenIdConnectProvider"), 0), "the account has one")
	for name, condition := range map[string]string{
		"preview": `"StringLike":{"git.example.com:sub":["project_path:acme/clusters:ref_type:branch:ref:*"]}`,
		"apply":   `"git.example.com:sub":["project_path:acme/clusters:ref_type:branch:ref:main"]`,
	} {
		role, _ := r.Named("aws:iam/role:Role", "acme-"+name+"-role")
		trust := role.String("assumeRolePolicy")
		assert.Check(t, is.Contains(trust, condition))
		assert.Check(t, is.Contains(trust, `"git.example.com:aud":["https://git.example.com"]`))
		assert.Check(t, is.Contains(trust, "arn:aws:iam::111122223333:oidc-provider/git.example.com"))
	}
}

func TestAnotherAccount(t *testing.T) {
	r, err := run(t, file, "999988887777")
	assert.ErrorContains(t, err, "pipelines of acme: the AWS credentials are of account 999988887777, but the account file allows 111122223333 only")
	for _, res := range r.All() {
		assert.Check(t, res.Type == "pulumi:providers:aws" || res.Type == owner.Type, "%s %s was registered", res.Type, res.Name)
	}
}

// TestPreviewReadsParameters: those that the file names, and without it none.
func TestPreviewReadsParameters(t *testing.T) {
	for text, want := range map[string]string{
		file: "",
		strings.Replace(file, "  apply:", "  preview: {parameters: [/shop/*, zone]}\n  apply:", 1): `{"Sid":"ReadParameters","Effect":"Allow","Action":["ssm:GetParameter"],` +
			`"Resource":["arn:aws:ssm:*:111122223333:parameter/shop/*","arn:aws:ssm:*:111122223333:parameter/zone"]}`,
	} {
		r, err := run(t, text, "111122223333")
		assert.NilError(t, err)
		policies := r.OfType("aws:iam/rolePolicy:RolePolicy")
		assert.Assert(t, len(policies) > 0)
		all := ""
		for _, p := range policies {
			all += p.String("policy")
		}
		assert.Check(t, is.Contains(all, want))
		assert.Check(t, strings.Contains(all, "ssm:") == (want != ""))
	}
}

// TestRolesThroughAnotherAccount: the roles trust those of the other account and nobody
// else, and those may assume them and no others.
func TestRolesThroughAnotherAccount(t *testing.T) {
	const prod = `version: 1
name: acme-prod
cloud: {provider: aws, region: eu-central-1, account: "444455556666"}
pipelines:
  from: acme
  apply: {policyArns: ["arn:aws:iam::444455556666:policy/clusters"]}
`
	beside := map[string]string{"acme-prod": prod}
	r, err := runBeside(t, "acme-prod", prod, "444455556666", map[string]string{"acme": file})
	assert.NilError(t, err)
	assert.Check(t, is.Len(r.OfType("aws:iam/openIdConnectProvider:OpenIdConnectProvider"), 0), "no job signs in to the account")
	for _, name := range []string{"preview", "apply"} {
		role, found := r.Named("aws:iam/role:Role", "acme-prod-"+name+"-role")
		assert.Assert(t, found, name)
		assert.Equal(t, role.String("assumeRolePolicy"), `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:role/acme-pipelines-`+
			name+`"},"Action":["sts:AssumeRole"]}]}`)
		_, long := role.Value("maxSessionDuration")
		assert.Check(t, !long, "a session of a role's session lasts an hour")
	}
	for _, p := range r.OfType("aws:iam/rolePolicy:RolePolicy") {
		assert.Check(t, !strings.Contains(p.String("policy"), "s3:GetObject"), "the state is used with the other account's roles")
	}

	r, err = runBeside(t, "acme", file, "111122223333", beside)
	assert.NilError(t, err)
	for _, name := range []string{"preview", "apply"} {
		p, found := r.Named("aws:iam/rolePolicy:RolePolicy", "acme-"+name+"-policy")
		assert.Assert(t, found, name)
		assert.Check(t, is.Contains(p.String("policy"), `{"Sid":"AssumeRolesOfAccounts","Effect":"Allow","Action":["sts:AssumeRole"],"Resource":["arn:aws:iam::444455556666:role/acme-prod-pipelines-`+name+`"]}`))
	}
}
