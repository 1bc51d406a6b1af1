// Package form has the forms of values that several subjects have: names, ARNs, ids and blocks of
// addresses, each as a rule with advice for values that are not of it.
package form

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/strict"
	"tombolo/internal/gitaddress"
	"tombolo/internal/wording"
)

// The forms of names in Kubernetes, and of ARNs and names in AWS.
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

// Label is the rule of a DNS label.
func Label(example string) strict.Rule {
	return strict.Rule{What: "a DNS label", Example: example, Pattern: DNSLabel, MaxLength: MaxLabel, Advice: AsLabel}
}

// Texts are words as texts.
func Texts[T ~string](values ...T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return slices.Clip(out)
}

// RoleARN is the ARN of a role, with its path.
var RoleARN = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::([0-9]{12}):role/[A-Za-z0-9+=,.@_/-]+$`)

// The functions of this file take a value of the wrong form, and return a remedy
// that fits it, or "".

// AccountAdvice repairs the number of an AWS account.
func AccountAdvice(s string) string {
	digits := strings.NewReplacer("-", "", " ", "").Replace(s)
	if len(digits) == 12 && digits != s {
		return fmt.Sprintf("write the 12 digits together: %s", wording.Quote(digits))
	}
	return fmt.Sprintf(`write its 12 digits in quotes, such as "111122223333"; this has %d`, len(s))
}

var bareIP = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$`)

// BlockAdvice adds the length of a prefix to an address.
func BlockAdvice(s string) string {
	if bareIP.MatchString(s) {
		return fmt.Sprintf("add the length of the prefix: %s/32 is that one address, %s/16 a network", s, s)
	}
	return ""
}

func keyAdvice(s string) string {
	switch {
	case strings.Contains(s, ":alias/"):
		return "use the key's own ARN (…:key/…): EKS takes no alias"
	case !strings.HasPrefix(s, "arn:"):
		return "write the whole ARN, arn:aws:kms:<region>:<account>:key/<id>"
	}
	return ""
}

var assumedRole = regexp.MustCompile(`^arn:([a-z-]+):sts::([0-9]{12}):assumed-role/([^/]+)/`)

// PrincipalAdvice names the role of a session, and refuses an account.
func PrincipalAdvice(s string) string {
	if m := assumedRole.FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("this is a session: use the role itself, arn:%s:iam::%s:role/%s, with the role's path if it has one",
			m[1], m[2], m[3])
	}
	if strings.HasSuffix(s, ":root") {
		return "an access entry cannot be for an account: name a role, such as arn:aws:iam::111122223333:role/platform-admin"
	}
	return ""
}

// URLAdvice writes the form of scp as a URL.
func URLAdvice(s string) string {
	if gitaddress.IsSCP(s) && strings.Count(s, ":") == 1 {
		return "write it as a URL: " + gitaddress.URL(s)
	}
	return "use https://, ssh:// or, inside a closed network, http://"
}

// NoProxyAdvice repairs the forms of NO_PROXY that only some programs read.
func NoProxyAdvice(s string) string {
	switch {
	case strings.HasPrefix(s, "*."):
		return "write " + wording.Quote(s[1:]) + ": the dot in front says that all below it is meant"
	case strings.Contains(s, ","):
		return "write each on its own, as an item of the list"
	case strings.Contains(s, "://"):
		return "write the host alone"
	}
	return ""
}

// VersionAdvice starts a version with a v.
func VersionAdvice(s string) string {
	if Semver.MatchString("v" + s) {
		return fmt.Sprintf("start it with a v: %s", wording.Quote("v"+s))
	}
	return ""
}

// SumAdvice repairs a SHA-256 sum.
func SumAdvice(s string) string {
	switch {
	case len(s) == 64 && strings.ToLower(s) != s:
		return "write it in lower case"
	case strings.HasPrefix(s, "sha256:"):
		return "remove the prefix sha256:"
	}
	return fmt.Sprintf("copy the output of sha256sum for the manifest; this has %d characters", len(s))
}

var notInLabel = regexp.MustCompile(`[^a-z0-9]+`)

// AsLabel suggests the DNS label nearest to a name.
func AsLabel(s string) string {
	label := strings.Trim(notInLabel.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if label == "" {
		return ""
	}
	return fmt.Sprintf("use lower-case letters, digits and dashes, such as %s", wording.Quote(label))
}
