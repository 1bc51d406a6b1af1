// Package kms is Key Management Service in the stand-in.
package kms

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/policy"
	"tombolo/lab/standin"
)

// The types of KMS.
const (
	KeyType   = "aws:kms/key:Key"
	AliasType = "aws:kms/alias:Alias"
)

// Types are keys and their aliases.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		KeyType: {
			Constructor: kms.NewKey,
			Noun:        "KMS Key",
			API:         standin.API{Service: "KMS", Create: "CreateKey", Update: "PutKeyPolicy", Remove: "ScheduleKeyDeletion"},
			// internal/service/kms/key.go
			ForceNew:  []string{"customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion", "xksKeyId"},
			Documents: []string{"policy"},
			Defaults: standin.Props{
				"customerMasterKeySpec": "SYMMETRIC_DEFAULT", "keyUsage": "ENCRYPT_DECRYPT",
				"isEnabled": true, "enableKeyRotation": false, "bypassPolicyLockoutSafetyCheck": false,
			},
			Validate: validateKey,
			Put:      checkKeyPolicy,
			Create:   createKey,
			Remove:   scheduleKeyDeletion,
			Takes:    standin.Timing{Create: 5 * time.Second, Remove: time.Second},
		},
		AliasType: {
			Constructor: kms.NewAlias,
			Noun:        "KMS Alias",
			API:         standin.API{Service: "KMS", Create: "CreateAlias", Update: "UpdateAlias", Remove: "DeleteAlias"},
			// internal/service/kms/alias.go
			ForceNew: []string{"name", "namePrefix"},
			Autoname: standin.Autoname{Property: "name", Prefix: "alias/", Max: 250},
			Validate: validateAlias,
			Create:   createAlias,
			Update:   aliasTarget,
			Takes:    standin.Timing{Create: time.Second, Remove: time.Second},
		},
	}
}

func validateKey(in standin.Props) []standin.Problem {
	return append(iam.JSONPolicy(in, "policy"), standin.InRange(in, "deletionWindowInDays", 7, 30)...)
}

func createKey(c *standin.Call) (string, error) {
	id, out := account.UUID(), c.Out()
	out["arn"], out["keyId"] = account.ARN(c, "kms", "key/"+id), id
	out.SetDefaults(standin.Props{"description": "", "multiRegion": false, "rotationPeriodInDays": 0})
	out.SetDefault("policy", fmt.Sprintf(`{"Id":"key-default-1","Statement":[{"Action":"kms:*","Effect":"Allow","Principal":{"AWS":%q},"Resource":"*","Sid":"Enable IAM User Permissions"}],"Version":"2012-10-17"}`,
		account.ARN(c, "iam", "root")))
	return id, nil
}

// checkKeyPolicy also refuses a policy that would lock everybody out.
func checkKeyPolicy(c *standin.Call) error {
	document := c.In().Str("policy")
	if document == "" {
		return nil
	}
	if message := iam.Malformed(c, document, policy.Resource); message != "" {
		return c.Refusef("MalformedPolicyDocumentException", "%s", message)
	}
	root := account.ARN(c, "iam", "root")
	if !c.In().Boolean("bypassPolicyLockoutSafetyCheck") && !strings.Contains(document, root) &&
		!strings.Contains(document, account.CallerARN(c.Cloud, c.Region)) && !strings.Contains(document, `"`+c.Cloud.Account+`"`) {
		return c.Refusef("MalformedPolicyDocumentException", "The new key policy will not allow you to update the key policy in the future.")
	}
	return nil
}

// scheduleKeyDeletion keeps the key for its waiting period: it cannot be used,
// and its aliases are gone.
func scheduleKeyDeletion(c *standin.Call) error {
	c.Record.Status = standin.StatusPendingDeletion
	for alias := range c.Cloud.Each(AliasType, c.Region) {
		if c.Cloud.Means(c.Record, alias.Inputs.Str("targetKeyId")) {
			if err := c.Cloud.Forget(alias); err != nil {
				return err
			}
		}
	}
	return nil
}

var aliasName = regexp.MustCompile(`^alias/[a-zA-Z0-9/_-]+$`)

// maxAliasName is the longest alias. A pattern that counts so far takes milliseconds to compile,
// in every start of the program.
const maxAliasName = 256

func validateAlias(in standin.Props) []standin.Problem {
	name := in.Str("name")
	if name != "" && (len(name) > maxAliasName || !aliasName.MatchString(name) || strings.HasPrefix(name, "alias/aws/")) {
		return []standin.Problem{{Path: "name", Reason: `name must begin with 'alias/' and be comprised of only [a-zA-Z0-9/_-], and not begin with 'alias/aws/', got ` + name}}
	}
	return nil
}

func createAlias(c *standin.Call) (string, error) {
	name := c.In().Str("name")
	arn := account.ARN(c, "kms", name)
	if c.Other("name", name) != nil {
		return "", c.Refusef("AlreadyExistsException", "An alias with the name %s already exists", arn)
	}
	c.Out()["arn"] = arn
	return name, aliasTarget(c)
}

func aliasTarget(c *standin.Call) error {
	key, err := UsableKey(c, c.In().Str("targetKeyId"))
	if err != nil {
		return err
	}
	c.Out()["targetKeyArn"], c.Out()["targetKeyId"] = key.Outputs.Str("arn"), key.ID
	return nil
}

// UsableKey finds a key of the region that is neither missing, disabled nor waiting for its
// deletion: https://docs.aws.amazon.com/kms/latest/developerguide/key-state.html
func UsableKey(c *standin.Call, value string) (*standin.Record, error) {
	if parts := strings.Split(value, ":"); len(parts) > 4 && parts[3] != c.Region {
		return nil, c.Refusef("NotFoundException", "Invalid arn %s", parts[3])
	}
	if key := c.Find(KeyType, value); key != nil {
		if !key.Outputs.Boolean("isEnabled") {
			return nil, c.Refusef("DisabledException", "%s is disabled.", key.Outputs.Str("arn"))
		}
		return key, nil
	}
	for _, r := range c.Cloud.All() {
		if r.Type == KeyType && r.Region == c.Region && c.Cloud.Means(r, value) {
			return nil, c.Refusef("KMSInvalidStateException", "%s is pending deletion.", r.Outputs.Str("arn"))
		}
	}
	if !strings.HasPrefix(value, "arn:") {
		value = account.ARN(c, "kms", "key/"+value)
	}
	return nil, c.Refusef("NotFoundException", "Key '%s' does not exist", value)
}

// Functions look up keys.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"aws:kms/getKey:getKey": {SDK: kms.LookupKey, Run: getKey},
	}
}

func getKey(q *standin.Query) (standin.Props, error) {
	id := q.Args.Str("keyId")
	if alias := q.Find(AliasType, id[strings.LastIndex(id, ":")+1:]); alias != nil {
		id = alias.Outputs.Str("targetKeyId")
	}
	key := q.Find(KeyType, id)
	if key == nil {
		key = pendingDeletion(q, id)
	}
	if key == nil {
		return nil, fmt.Errorf("reading KMS Key (%s): operation error KMS: DescribeKey, NotFoundException: Key '%s' does not exist", id, id)
	}
	state := "Enabled"
	switch {
	case key.Status == standin.StatusPendingDeletion:
		state = "PendingDeletion"
	case !key.Outputs.Boolean("isEnabled"):
		state = "Disabled"
	}
	return standin.Merged(standin.WithID(key), standin.Props{
		"awsAccountId": q.Cloud.Account, "enabled": state == "Enabled", "keyState": state,
		"keyManager": "CUSTOMER", "keySpec": key.Outputs["customerMasterKeySpec"], "origin": "AWS_KMS",
		"creationDate": key.Created.UTC().Format("2006-01-02T15:04:05Z"),
	}), nil
}

// pendingDeletion is a key that can be described, and not used.
func pendingDeletion(q *standin.Query, id string) *standin.Record {
	for _, r := range q.Cloud.All() {
		if r.Type == KeyType && r.Region == q.Region && q.Cloud.Means(r, id) {
			return r
		}
	}
	return nil
}
