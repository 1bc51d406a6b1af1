// Package secretsmanager is Secrets Manager in the stand-in: the API by which secrets are
// kept and fetched. No program makes any.
package secretsmanager

import (
	"crypto/rand"
	"encoding/json"
	"regexp"
	"strings"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// The types of records of secrets and of their versions.
const (
	secretType  = "aws:secretsmanager/secret:Secret"
	versionType = "aws:secretsmanager/secretVersion:SecretVersion"
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
	secret, err := add(c, c.Region, standin.Props{"name": LabSecret, "description": "authentik's key and database, of the lab itself"})
	if err != nil {
		return err
	}
	text := string(content)
	_, err = put(c, secret, newVersionID(), value{text: &text})
	return err
}
