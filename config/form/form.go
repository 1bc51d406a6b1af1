package form

import (
	"regexp"
	"slices"

	"tombolo/config/strict"
)

var (
	RegionZone   = regexp.MustCompile(`^([a-z]{2}(-[a-z]+)+-[0-9])([a-z])$`)
	DNSLabel     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	Subdomain    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
	PrincipalARN = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):(role|user)/[A-Za-z0-9+=,.@_/-]+$`)
	PolicyARN    = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::(aws|[0-9]{12}):policy/[A-Za-z0-9+=,.@_/-]+$`)
	AccountID    = regexp.MustCompile(`^[0-9]{12}$`)
	KMSKey       = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):kms:([a-z0-9-]+):([0-9]{12}):key/[A-Za-z0-9-]+$`)
	Action       = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9*?]+$|^\*$|^\*:\*$`)
	Resource     = regexp.MustCompile(`^arn:[^:\s]+:[^:\s]+:[^:\s]*:[^:\s]*:\S+$|^\*$`)
	Semver       = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// KMSKeyARN is the rule of a KMS key.
func KMSKeyARN() strict.Rule {
	return strict.Rule{
		What: "the ARN of a KMS key", Pattern: KMSKey, Advice: keyAdvice,
		Example: "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab",
	}
}

// IPv4Block is the rule of a block of IPv4 addresses.
func IPv4Block(example string) strict.Rule {
	return strict.Rule{
		What: "an IPv4 block", Example: example,
		Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: BlockAdvice,
	}
}

// SecurityGroups is the rule of a list of security groups.
func SecurityGroups(noun string) strict.Rule {
	return strict.Rule{
		What: "the id of a security group", Noun: noun, Example: "sg-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^sg-[0-9a-f]{8}([0-9a-f]{9})?$`),
	}
}

// AWSAccount is the rule of an AWS account.
func AWSAccount() strict.Rule {
	return strict.Rule{What: "an AWS account", Example: `"111122223333"`, Pattern: AccountID, Advice: AccountAdvice}
}

// MaxLabel is the length of a DNS label, by RFC 1123.
const MaxLabel = 63

// GivenRole is a role that others own.
func GivenRole(example string) strict.Rule {
	return strict.Rule{
		What: "the ARN of an IAM role", Pattern: RoleARN, Advice: PrincipalAdvice, Example: "arn:aws:iam::111122223333:role/" + example,
	}
}

func Label(example string) strict.Rule {
	return strict.Rule{What: "a DNS label", Example: example, Pattern: DNSLabel, MaxLength: MaxLabel, Advice: AsLabel}
}

func Texts[T ~string](values ...T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return slices.Clip(out)
}

// RoleARN is the ARN of a role, with its path.
var RoleARN = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):role/[A-Za-z0-9+=,.@_/-]+$`)
