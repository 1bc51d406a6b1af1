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
		Preview: PreviewRole{Environments: []string{"preview", "preview-program", "drift"}},
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
			if !strings.Contains(problems.Error(), want) {
				t.Errorf("%q is not reported in\n%v", want, problems)
			}
		}
	}
	if _, err := LoadAccount(t.TempDir() + "/nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "check the path, or name the account") {
		t.Errorf("error %v", err)
	}
}
