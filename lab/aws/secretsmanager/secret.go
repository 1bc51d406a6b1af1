// Package secretsmanager is Secrets Manager in the stand-in: the provider's secrets and
// versions, and the API by which secrets are kept and fetched.
package secretsmanager

import (
	"crypto/rand"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/secretsmanager"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// The types of Secrets Manager.
const (
	SecretType  = "aws:secretsmanager/secret:Secret"
	VersionType = "aws:secretsmanager/secretVersion:SecretVersion"
)

// The staging labels that Secrets Manager moves by itself:
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/whats-in-a-secret.html
const (
	current  = "AWSCURRENT"
	previous = "AWSPREVIOUS"
)

// mostBytes of a value:
// https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_limits.html
const mostBytes = 65536

// usualWindow is how long a deleted secret can be restored, in days.
const usualWindow = 30

// Types are secrets and their versions.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		SecretType: {
			Constructor: secretsmanager.NewSecret,
			Noun:        "Secrets Manager Secret",
			API:         standin.API{Service: "Secrets Manager", Create: "CreateSecret", Update: "UpdateSecret", Remove: "DeleteSecret"},
			// internal/service/secretsmanager/secret.go
			ForceNew:  []string{"name", "namePrefix"},
			Documents: []string{"policy"},
			Autoname:  standin.Autoname{Property: "name", Max: 512},
			Defaults:  standin.Props{"forceOverwriteReplicaSecret": false, "recoveryWindowInDays": float64(usualWindow)},
			Validate:  validateSecret,
			Create:    createSecret,
			Remove: func(c *standin.Call) error {
				if c.In().Integer("recoveryWindowInDays") != 0 {
					c.Record.Status = standin.StatusPendingDeletion
				}
				return nil
			},
			Takes: standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
		VersionType: {
			Constructor: secretsmanager.NewSecretVersion,
			Noun:        "Secrets Manager Secret Version",
			API:         standin.API{Service: "Secrets Manager", Create: "PutSecretValue", Update: "UpdateSecretVersionStage", Remove: "UpdateSecretVersionStage"},
			// internal/service/secretsmanager/secret_version.go
			ForceNew:   []string{"secretId", "secretBinary", "secretString"},
			References: []standin.Reference{{Path: []string{"secretId"}, To: SecretType, Missing: standin.Refusal{Code: notFound, Message: noSecret}, Cascade: true}},
			Create:     createVersion,
			Takes:      standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second},
		},
	}
}

func validateSecret(in standin.Props) []standin.Problem {
	if days := in.Integer("recoveryWindowInDays"); in.Has("recoveryWindowInDays") && days != 0 {
		return standin.InRange(in, "recoveryWindowInDays", 7, usualWindow)
	}
	return nil
}

func createSecret(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	if why := taken(c.Cloud, c.Region, name); why != nil {
		return "", c.Refusef(why.Code, "%s", why.Message)
	}
	arn := newARN(c.Cloud, c.Region, name)
	c.Out()["arn"] = arn
	return arn, nil
}

func createVersion(c *standin.Call) (string, error) {
	secret := c.Find(SecretType, c.In().Str("secretId"))
	if secret == nil {
		return "", c.Refusef(notFound, noSecret)
	}
	id := newVersionID()
	out := c.Out()
	out["arn"], out["versionId"] = secret.ID, id
	out.SetDefault("versionStages", []any{current})
	return secret.ID + "|" + id, moveStages(c.Cloud, secret, out)
}

// secretName is what AWS takes:
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html
var secretName = regexp.MustCompile(`^[A-Za-z0-9/_+=.@!-]{1,512}$`)

// newARN of a secret: a later one of the same name has another.
func newARN(c *standin.Cloud, region, name string) string {
	return account.ARNIn(c, region, "secretsmanager", "secret:"+name+"-"+rand.Text()[:6])
}

// newVersionID is made as AWS's SDKs make a ClientRequestToken.
func newVersionID() string { return strings.ToLower(rand.Text() + rand.Text()[:10]) }

// LabSecret is the secret that the lab's account has from the start, for clusters/full.yaml.
const LabSecret = "full/authentik"

// OwnSecret makes the account's own secret where it is missing, as somebody has to before
// authentik can start. No stack owns it.
func OwnSecret(c *standin.Cloud) error {
	if find(c, c.Region, LabSecret) != nil {
		return nil
	}
	content, err := json.Marshal(map[string]string{
		"secret_key": rand.Text() + rand.Text(), "host": "authentik.db.lab.test", "dbname": "authentik", "username": "authentik", "password": rand.Text(),
	})
	if err != nil {
		return err
	}
	secret, err := add(c, c.Region, LabSecret, "authentik's key and database, of the lab itself")
	if err != nil {
		return err
	}
	text := string(content)
	_, err = put(c, secret, newVersionID(), value{text: &text})
	return err
}
