// Package acm is AWS Certificate Manager in the stand-in.
package acm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/acm"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/route53"
	"tombolo/lab/standin"
)

// The types of ACM.
const (
	CertificateType = "aws:acm/certificate:Certificate"
	ValidationType  = "aws:acm/certificateValidation:CertificateValidation"
)

// The states of a certificate.
const (
	certificatePending = "PENDING_VALIDATION"
	certificateIssued  = "ISSUED"
)

// validationTimeout is how long the provider waits for a certificate:
// internal/service/acm/certificate_validation.go.
const validationTimeout = 75 * time.Minute

// domainQuota is the default number of names of a certificate:
// https://docs.aws.amazon.com/acm/latest/userguide/acm-limits.html
const domainQuota = 10

// Types has certificates that are validated by DNS. No type here
// uses certificates, which would keep them from being deleted: load balancers
// are made by controllers.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		CertificateType: {
			Constructor: acm.NewCertificate,
			Noun:        "ACM Certificate",
			API:         standin.API{Service: "ACM", Create: "RequestCertificate", Update: "UpdateCertificateOptions", Remove: "DeleteCertificate"},
			// internal/service/acm/certificate.go
			ForceNew: []string{
				"certificateAuthorityArn", "domainName", "keyAlgorithm", "subjectAlternativeNames", "validationMethod", "validationOptions",
			},
			Validate: validateCertificate,
			Create:   requestCertificate,
			Update:   keepCertificate,
			Takes:    standin.Timing{Create: 10 * time.Second, Update: time.Second, Remove: time.Second},
		},
		ValidationType: {
			Constructor: acm.NewCertificateValidation,
			Noun:        "ACM Certificate Validation",
			// It waits for a certificate, and makes nothing in AWS.
			API: standin.API{Service: "ACM", Create: "DescribeCertificate", Remove: "DescribeCertificate"},
			// internal/service/acm/certificate_validation.go
			ForceNew: []string{"certificateArn", "validationRecordFqdns"},
			References: []standin.Reference{{Path: []string{"certificateArn"}, To: CertificateType, Cascade: true, Missing: standin.Refusal{
				Code: "ResourceNotFoundException", Message: "Could not find certificate %s.",
			}}},
			Create: createValidation,
			Settle: awaitCertificate,
			// ACM says minutes to hours; users report one to five minutes.
			Takes: standin.Timing{Create: 90 * time.Second},
		},
	}
}

var certificateName = regexp.MustCompile(`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])$`)

func validateCertificate(in standin.Props) []standin.Problem {
	problems := standin.ExactlyOne(in, "domainName", "privateKey")
	for _, key := range []string{"domainName", "subjectAlternativeNames"} {
		for _, name := range in.At(key) {
			if strings.HasSuffix(name, ".") {
				problems = append(problems, standin.Problem{Path: key, Reason: fmt.Sprintf("invalid value for %s (cannot end with a period)", key)})
			}
		}
	}
	return problems
}

func requestCertificate(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	if in.Str("validationMethod") != "DNS" {
		return "", errors.New("creating ACM Certificate: the AWS stand-in knows certificates that are validated by DNS only")
	}
	names := certificateNames(in)
	if len(names) > domainQuota {
		return "", c.Refusef("LimitExceededException", "Error: the number of domain names of a certificate is limited to %d", domainQuota)
	}
	for _, name := range names {
		if !certificateName.MatchString(name) || len(name) > 253 {
			return "", c.Refusef("ValidationException", "1 validation error detected: Value '%s' at 'domainName' failed to satisfy constraint: Member must satisfy regular expression pattern", name)
		}
	}
	if len(names[0]) > 64 {
		return "", c.Refusef("InvalidDomainValidationOptionsException", "The first domain name can be no longer than 64 characters.")
	}
	arn := account.ARN(c, "acm", "certificate/"+account.UUID())
	out["arn"], out["status"], out["type"] = arn, certificatePending, "AMAZON_ISSUED"
	out["subjectAlternativeNames"] = standin.Values(names...)
	out["domainValidationOptions"] = validationOptions(c.Cloud.Account, names)
	out["renewalEligibility"], out["pendingRenewal"] = "INELIGIBLE", false
	out["notAfter"], out["notBefore"] = "", ""
	out["renewalSummaries"], out["validationEmails"] = []any{}, []any{}
	out.SetDefault("keyAlgorithm", "RSA_2048")
	out.SetDefault("options", map[string]any{"certificateTransparencyLoggingPreference": "ENABLED"})
	if validated(c.Cloud, out) {
		out["status"] = certificateIssued
	}
	return arn, nil
}

// keepCertificate: ACM adds the domain name to the alternative names.
func keepCertificate(c *standin.Call) error {
	c.Out()["subjectAlternativeNames"] = standin.Values(certificateNames(c.In())...)
	return nil
}

// certificateNames are the names of a certificate, the domain name first.
func certificateNames(in standin.Props) []string {
	names := []string{in.Str("domainName")}
	for _, name := range in.List("subjectAlternativeNames") {
		names = standin.AppendNew(names, name)
	}
	return names
}

// validationOptions are the records that prove that the account has the
// domains. ACM asks an account for the same record whenever it asks for a
// domain; a wildcard needs the record of the name that it is under.
func validationOptions(account string, names []string) []any {
	options := make([]any, len(names))
	for i, name := range names {
		base := strings.ToLower(strings.TrimPrefix(name, "*."))
		sum := sha256.Sum256([]byte(account + "\x00" + base))
		text := hex.EncodeToString(sum[:])
		options[i] = map[string]any{
			"domainName":          name,
			"resourceRecordName":  fmt.Sprintf("_%s.%s.", text[:32], base),
			"resourceRecordType":  "CNAME",
			"resourceRecordValue": fmt.Sprintf("_%s.%s.acm-validations.aws.", text[32:], strings.Map(letters, text[:10])),
		}
	}
	return options
}

// letters turns a hexadecimal digit into a letter, as ACM's zones are named.
func letters(digit rune) rune { return 'a' + (digit*7)%26 }

// validated reports whether all of a certificate's records are in zones of
// the account. A lab's zone is public and needs no delegation.
func validated(c *standin.Cloud, certificate standin.Props, more ...*standin.Record) bool {
	for _, option := range certificate.Objects("domainValidationOptions") {
		proves := func(r *standin.Record) bool {
			return r.Outputs.Str("fqdn") == route53.Domain(option.Str("resourceRecordName")) && r.Inputs.Str("type") == "CNAME" &&
				slices.ContainsFunc(r.Inputs.List("records"), func(v string) bool { return route53.Domain(v) == route53.Domain(option.Str("resourceRecordValue")) })
		}
		found := slices.ContainsFunc(more, proves)
		for r := range c.Each(route53.RecordType, standin.Global) {
			found = found || proves(r)
		}
		if !found {
			return false
		}
	}
	return true
}

// Issue issues the certificates that waited for a record.
func Issue(c *standin.Cloud, record *standin.Record) error {
	for _, r := range c.All() {
		if r.Type != CertificateType || r.Outputs.Str("status") != certificatePending || !validated(c, r.Outputs, record) {
			continue
		}
		issued := r.Clone()
		issued.Outputs["status"] = certificateIssued
		issued.Outputs["notBefore"] = c.Now().UTC().Format(time.RFC3339)
		issued.Outputs["notAfter"] = c.Now().UTC().AddDate(0, 13, 0).Format(time.RFC3339)
		if err := c.Put(issued); err != nil {
			return err
		}
	}
	return nil
}

// createValidation has the certificate's ARN for an id. The provider's id is a
// time, which two of them can share.
func createValidation(c *standin.Call) (string, error) {
	arn := c.In().Str("certificateArn")
	if given := c.In().List("validationRecordFqdns"); len(given) > 0 {
		var missing []error
		for _, option := range c.Find(CertificateType, arn).Outputs.Objects("domainValidationOptions") {
			name := route53.Domain(option.Str("resourceRecordName"))
			if !slices.ContainsFunc(given, func(fqdn string) bool { return route53.Domain(fqdn) == name }) {
				missing = append(missing, fmt.Errorf("missing %s DNS validation record: %s", option.Str("domainName"), name))
			}
		}
		if len(missing) > 0 {
			return "", errors.Join(missing...)
		}
	}
	return arn, nil
}

// awaitCertificate waits until a certificate is issued, as long as the provider
// does by the lab's clock.
func awaitCertificate(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
	arn := r.Inputs.Str("certificateArn")
	timer := time.NewTimer(max(time.Duration(float64(validationTimeout)*c.LatencyScale), c.LeastWait))
	defer timer.Stop()
	for {
		unlock := c.Lock()
		certificate, changed := c.Find(CertificateType, r.Region, arn), c.Changed()
		unlock()
		if certificate == nil {
			return fmt.Errorf("waiting for ACM Certificate (%s) to be issued: couldn't find resource", arn)
		}
		if certificate.Outputs.Str("status") == certificateIssued {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return fmt.Errorf("waiting for ACM Certificate (%s) to be issued: timeout while waiting for state to become 'ISSUED' (last state: '%s', timeout: %s)",
				arn, certificatePending, validationTimeout)
		case <-c.Closing():
			return standin.ErrClosing
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
