package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
)

const (
	keyType   = "aws:kms/key:Key"
	aliasType = "aws:kms/alias:Alias"
)

func kmsTypes() map[string]*resourceType {
	return map[string]*resourceType{
		keyType: {
			constructor: kms.NewKey,
			noun:        "KMS Key",
			api:         api{service: "KMS", create: "CreateKey", update: "PutKeyPolicy", remove: "ScheduleKeyDeletion"},
			// internal/service/kms/key.go
			forceNew:  []string{"customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion", "xksKeyId"},
			documents: []string{"policy"},
			defaults: props{
				"customerMasterKeySpec": "SYMMETRIC_DEFAULT", "keyUsage": "ENCRYPT_DECRYPT",
				"isEnabled": true, "enableKeyRotation": false, "bypassPolicyLockoutSafetyCheck": false,
			},
			validate: validateKey,
			create:   createKey,
			update:   checkKeyPolicy,
			remove:   scheduleKeyDeletion,
			takes:    timing{create: 5 * time.Second, remove: time.Second},
		},
		aliasType: {
			constructor: kms.NewAlias,
			noun:        "KMS Alias",
			api:         api{service: "KMS", create: "CreateAlias", update: "UpdateAlias", remove: "DeleteAlias"},
			// internal/service/kms/alias.go
			forceNew: []string{"name", "namePrefix"},
			autoname: autoname{property: "name", prefix: "alias/", max: 250},
			validate: validateAlias,
			create:   createAlias,
			update:   aliasTarget,
			takes:    timing{create: time.Second, remove: time.Second},
		},
	}
}

func validateKey(in props) []problem {
	problems := jsonPolicy(in, "policy")
	if days := in.integer("deletionWindowInDays"); in.has("deletionWindowInDays") && !hasUnknown(in["deletionWindowInDays"]) && (days < 7 || days > 30) {
		problems = append(problems, problem{"deletionWindowInDays", fmt.Sprintf("expected deletionWindowInDays to be in the range (7 - 30), got %d", days)})
	}
	if usage := in.str("keyUsage"); usage != "" && !slices.Contains([]string{"ENCRYPT_DECRYPT", "SIGN_VERIFY", "GENERATE_VERIFY_MAC", "KEY_AGREEMENT"}, usage) {
		problems = append(problems, problem{"keyUsage", fmt.Sprintf("expected keyUsage to be one of [ENCRYPT_DECRYPT SIGN_VERIFY GENERATE_VERIFY_MAC KEY_AGREEMENT], got %s", usage)})
	}
	return problems
}

func createKey(c *call) (string, error) {
	if err := checkKeyPolicy(c); err != nil {
		return "", err
	}
	id, out := uuid(), c.out()
	out["arn"], out["keyId"] = c.arn("kms", "key/"+id), id
	out.setDefault("description", "")
	out.setDefault("multiRegion", false)
	out.setDefault("rotationPeriodInDays", 0)
	out.setDefault("policy", fmt.Sprintf(`{"Id":"key-default-1","Statement":[{"Action":"kms:*","Effect":"Allow","Principal":{"AWS":%q},"Resource":"*","Sid":"Enable IAM User Permissions"}],"Version":"2012-10-17"}`,
		c.arn("iam", "root")))
	return id, nil
}

// checkKeyPolicy also refuses a policy that would lock everybody out.
func checkKeyPolicy(c *call) error {
	document := c.in().str("policy")
	if document == "" {
		return nil
	}
	if message := c.malformed(document, resourcePolicy); message != "" {
		return c.refusef("MalformedPolicyDocumentException", "%s", message)
	}
	root := c.arn("iam", "root")
	if !c.in().boolean("bypassPolicyLockoutSafetyCheck") && !strings.Contains(document, root) &&
		!strings.Contains(document, c.cloud.callerARN(c.region)) && !strings.Contains(document, `"`+c.cloud.options.Account+`"`) {
		return c.refusef("MalformedPolicyDocumentException", "The new key policy will not allow you to update the key policy in the future.")
	}
	return nil
}

// scheduleKeyDeletion keeps the key for its waiting period: it cannot be used,
// and its aliases are gone.
func scheduleKeyDeletion(c *call) error {
	c.r.Status = statusPendingDeletion
	for alias := range c.cloud.each(aliasType, c.region) {
		if c.r.means(alias.Inputs.str("targetKeyId")) {
			if err := c.cloud.store.remove(alias); err != nil {
				return err
			}
		}
	}
	return nil
}

var aliasName = regexp.MustCompile(`^alias/[a-zA-Z0-9/_-]{1,250}$`)

func validateAlias(in props) []problem {
	name := in.str("name")
	if name != "" && (!aliasName.MatchString(name) || strings.HasPrefix(name, "alias/aws/")) {
		return []problem{{"name", `name must begin with 'alias/' and be comprised of only [a-zA-Z0-9/_-], and not begin with 'alias/aws/', got ` + name}}
	}
	return nil
}

func createAlias(c *call) (string, error) {
	name := c.in().str("name")
	arn := c.arn("kms", name)
	for r := range c.others() {
		if r.Outputs.str("name") == name {
			return "", c.refusef("AlreadyExistsException", "An alias with the name %s already exists", arn)
		}
	}
	c.out()["arn"] = arn
	return name, aliasTarget(c)
}

func aliasTarget(c *call) error {
	key, err := c.usableKey(c.in().str("targetKeyId"))
	if err != nil {
		return err
	}
	c.out()["targetKeyArn"], c.out()["targetKeyId"] = key.Outputs.str("arn"), key.ID
	return nil
}

// usableKey finds a key that is neither missing nor waiting for its deletion.
func (c *call) usableKey(value string) (*record, error) {
	if key := c.find(keyType, value); key != nil {
		return key, nil
	}
	for _, r := range c.cloud.store.all() {
		if r.Type == keyType && r.Region == c.region && r.means(value) {
			return nil, c.refusef("KMSInvalidStateException", "%s is pending deletion.", r.Outputs.str("arn"))
		}
	}
	if !strings.HasPrefix(value, "arn:") {
		value = c.arn("kms", "key/"+value)
	}
	return nil, c.refusef("NotFoundException", "Key '%s' does not exist", value)
}
