package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config/strict"
)

const goodAccount = `version: 1
name: acme
protect: true
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
tags: {team: platform}
state: {bucketArn: "arn:aws:s3:::acme-state", keyArn: "arn:aws:kms:eu-central-1:111122223333:key/1"}
pipelines:
  host: github
  repository: acme/clusters
  apply: {policyArns: ["arn:aws:iam::111122223333:policy/clusters"]}
`

func accountOf(t *testing.T, text string) (*Account, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "acme.yaml")
	assert.NilError(t, os.WriteFile(file, []byte(text), 0o600))
	return LoadAccount(file)
}

func TestLoadAccount(t *testing.T) {
	a, err := accountOf(t, goodAccount)
	assert.NilError(t, err)
	assert.DeepEqual(t, a.Pipelines, Pipelines{
		Host: GitHub, Repository: "acme/clusters", Issuer: "token.actions.githubusercontent.com", Audience: "sts.amazonaws.com",
		Preview: PreviewRole{Environments: []string{"preview", "preview-program", "plan", "drift"}},
		Apply: ApplyRole{
			Environments: []string{"apply"}, PolicyARNs: []string{"arn:aws:iam::111122223333:policy/clusters"}, SessionHours: 6,
		},
	})
	a, err = accountOf(t, strings.Replace(goodAccount, "host: github", "host: gitlab\n  issuer: git.example.com", 1))
	assert.NilError(t, err)
	assert.DeepEqual(t, a.Pipelines.Audience, "https://git.example.com")
	assert.DeepEqual(t, a.Pipelines.Apply.Branch, "main")
	assert.DeepEqual(t, a.Pipelines.Preview.Environments, []string(nil))
}

// All that is wrong is reported together, each where it is.
func TestLoadBadAccount(t *testing.T) {
	for text, wanted := range map[string][]string{
		strings.NewReplacer("name: acme\n", "name: other\n", "repository:", "repositry:", "protect: true", "tags: {tombolo:x: y}", "tags: {team: platform}", "wave: 1").Replace(goodAccount): {
			`acme.yaml:2:7: name: is "other", and the file is called acme.yaml; call the file other.yaml, or the account "acme"`,
			`acme.yaml:3:8: tags["tombolo:x"]: the prefix tombolo: is reserved`,
			`acme.yaml:5:1: wave: is not a known key`,
			`acme.yaml:9:3: pipelines.repositry: is not a known key; did you mean "repository"?`,
		},
		strings.NewReplacer("acme/clusters", "acme/*", "111122223333:policy", "999988887777:policy").Replace(goodAccount): {
			`acme.yaml:9:15: pipelines.repository: "acme/*" is not the path of a repository`,
			`acme.yaml:10:24: pipelines.apply.policyArns[0]: is in the account 999988887777, and cloud.account is 111122223333`,
		},
		strings.Replace(goodAccount, "apply: {", "providerArn: arn:aws:iam::111122223333:oidc-provider/gitlab.com\n  apply: {branch: main, environments: [preview], ", 1): {
			"pipelines.apply.branch: is for GitLab",
			`pipelines.apply.environments[0]: "preview" is an environment of pipelines.preview too`,
			"pipelines.providerArn: is not the provider for the issuer token.actions.githubusercontent.com",
		},
		strings.NewReplacer("github", "gitlab", "apply: {", "preview: {environments: [a*]}\n  apply: {sessionHours: 13, ").Replace(goodAccount): {
			`pipelines.preview.environments[0]: "a*" is not the name of an environment`,
			"pipelines.apply.sessionHours: 13 is too large; use a number from 1 to 12",
		},
		strings.Replace(goodAccount, "version: 1", "version: 2", 1): {"acme.yaml:1:10: version: 2 is not a supported version of the account format"},
	} {
		_, err := accountOf(t, text)
		var problems strict.Problems
		if !errors.As(err, &problems) {
			t.Errorf("error %v of\n%s", err, text)
			continue
		}
		for _, want := range wanted {
			assert.Check(t, strings.Contains(problems.Error(), want), "%q is not reported in\n%v", want, problems)
		}
	}
	if _, err := LoadAccount(t.TempDir() + "/nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "check the path, or name the account") {
		t.Errorf("error %v", err)
	}
}

// The files of two accounts: the jobs sign in to the first, and reach the second from there.
const reachedAccount = `version: 1
name: acme-prod
cloud: {provider: aws, region: eu-central-1, account: "444455556666", roles: {path: /tombolo/}}
pipelines:
  from: acme
  apply: {policyArns: ["arn:aws:iam::444455556666:policy/clusters"]}
`

func accountsOf(t *testing.T, texts map[string]string) func(name string) (*Account, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	return func(name string) (*Account, error) { return LoadAccount(filepath.Join(dir, name+".yaml")) }
}

func TestAccountThroughAnother(t *testing.T) {
	load := accountsOf(t, map[string]string{
		"acme": goodAccount, "acme-prod": reachedAccount, "notes": "no: account",
		"acme-lab": strings.ReplaceAll(goodAccount, "acme", "acme-lab"),
	})
	prod, err := load("acme-prod")
	assert.NilError(t, err)
	assert.Equal(t, prod.Source.ApplyRoleARN(), "arn:aws:iam::111122223333:role/acme-pipelines-apply")
	assert.Equal(t, prod.PreviewRoleARN(), "arn:aws:iam::444455556666:role/tombolo/acme-prod-pipelines-preview")
	assert.Equal(t, prod.Pipelines.Apply.SessionHours, 0, "AWS ends such a session after an hour")
	acme, err := load("acme")
	assert.NilError(t, err)
	assert.Equal(t, len(acme.Served), 1)
	assert.Equal(t, acme.Served[0].Name, "acme-prod")
}

func TestBadAccountThroughAnother(t *testing.T) {
	for change, want := range map[*strings.Replacer]string{
		strings.NewReplacer("from: acme", "from: acme\n  repository: acme/clusters"): `acme-prod.yaml:6:15: pipelines.repository: is for the account that the jobs sign in to, and pipelines.from is "acme"; remove it; acme.yaml has it`,
		strings.NewReplacer("apply: {", "apply: {sessionHours: 2, "):                 `acme-prod.yaml:6:25: pipelines.apply.sessionHours: is for the account that the jobs sign in to`,
		strings.NewReplacer("from: acme", "from: acme-prod"):                         `acme-prod.yaml:5:9: pipelines.from: is this account`,
		strings.NewReplacer("from: acme", "from: other"):                             `acme-prod.yaml:5:9: pipelines.from: there is no account file other.yaml beside this one`,
		strings.NewReplacer("from: acme", "from: chained"):                           `acme-prod.yaml:5:9: pipelines.from: is "chained", whose own roles are assumed from acme; name "acme"`,
		strings.NewReplacer("444455556666", "111122223333"):                          `acme-prod.yaml:5:9: pipelines.from: is "acme", which is in the same account`,
		strings.NewReplacer("  from: acme\n", ""):                                    `acme-prod.yaml:4:1: pipelines.host: is required and missing; add host: github or gitlab; or name by pipelines.from the account that the jobs sign in to`,
		strings.NewReplacer("eu-central-1", "cn-north-1", "arn:aws:", "arn:aws-cn:"): `acme-prod.yaml:5:9: pipelines.from: is "acme", which is in another partition of AWS`,
	} {
		load := accountsOf(t, map[string]string{
			"acme": goodAccount, "acme-prod": change.Replace(reachedAccount),
			"chained": strings.NewReplacer("acme-prod", "chained", "444455556666", "777788889999").Replace(reachedAccount),
		})
		_, err := load("acme-prod")
		assert.ErrorContains(t, err, want)
	}
	// One that names this account and is wrong would get no rights, and nobody would know.
	load := accountsOf(t, map[string]string{"acme": goodAccount, "acme-prod": strings.Replace(reachedAccount, "policyArns", "policies", 1)})
	_, err := load("acme")
	assert.ErrorContains(t, err, "acme-prod.yaml:6:11: pipelines.apply.policies: is not a known key")
}
