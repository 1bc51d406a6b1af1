package aws

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
)

const (
	certificateType = "aws:acm/certificate:Certificate"
	validationType  = "aws:acm/certificateValidation:CertificateValidation"
)

// The states of a certificate.
const (
	certificatePending = "PENDING_VALIDATION"
	certificateIssued  = "ISSUED"
)

// validationTimeout is how long the provider waits for a certificate:
// internal/service/acm/certificate_validation.go.
const validationTimeout = 75 * time.Minute

// validationPatience is the least time that is waited, however fast the lab is:
// the records may be made at the same moment.
const validationPatience = 5 * time.Second

// domainQuota is the default number of names of a certificate:
// https://docs.aws.amazon.com/acm/latest/userguide/acm-limits.html
const domainQuota = 10

// certificateTypes has certificates that are validated by DNS. No type here
// uses certificates, which would keep them from being deleted: load balancers
// are made by controllers.
func certificateTypes() map[string]*resourceType {
	return map[string]*resourceType{
		certificateType: {
			constructor: acm.NewCertificate,
			noun:        "ACM Certificate",
			api:         api{service: "ACM", create: "RequestCertificate", update: "UpdateCertificateOptions", remove: "DeleteCertificate"},
			// internal/service/acm/certificate.go
			forceNew: []string{
				"certificateAuthorityArn", "domainName", "keyAlgorithm", "subjectAlternativeNames", "validationMethod", "validationOptions",
			},
			validate: validateCertificate,
			create:   requestCertificate,
			update:   keepCertificate,
			takes:    timing{create: 10 * time.Second, update: time.Second, remove: time.Second},
		},
		validationType: {
			constructor: acm.NewCertificateValidation,
			noun:        "ACM Certificate Validation",
			// It waits for a certificate, and makes nothing in AWS.
			api: api{service: "ACM", create: "DescribeCertificate", remove: "DescribeCertificate"},
			// internal/service/acm/certificate_validation.go
			forceNew: []string{"certificateArn", "validationRecordFqdns"},
			references: []reference{{path: []string{"certificateArn"}, to: certificateType, cascade: true, missing: refusal{
				code: "ResourceNotFoundException", message: "Could not find certificate %s.",
			}}},
			create: createValidation,
			settle: awaitCertificate,
			// ACM says minutes to hours; users report one to five minutes.
			takes: timing{create: 90 * time.Second},
		},
	}
}

var certificateName = regexp.MustCompile(`^(\*\.)?([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])$`)

func validateCertificate(in props) []problem {
	problems := exactlyOne(in, "domainName", "privateKey")
	for _, key := range []string{"domainName", "subjectAlternativeNames"} {
		for _, name := range in.at(key) {
			if strings.HasSuffix(name, ".") {
				problems = append(problems, problem{key, fmt.Sprintf("invalid value for %s (cannot end with a period)", key)})
			}
		}
	}
	methods := []string{"DNS", "EMAIL", "HTTP"}
	if method := in.str("validationMethod"); method != "" && !slices.Contains(methods, method) {
		problems = append(problems, problem{"validationMethod", fmt.Sprintf("expected validationMethod to be one of %q, got %s", methods, method)})
	}
	return problems
}

func requestCertificate(c *call) (string, error) {
	in, out := c.in(), c.out()
	if in.str("validationMethod") != "DNS" {
		return "", errors.New("creating ACM Certificate: the AWS stand-in knows certificates that are validated by DNS only")
	}
	names := certificateNames(in)
	if len(names) > domainQuota {
		return "", c.refusef("LimitExceededException", "Error: the number of domain names of a certificate is limited to %d", domainQuota)
	}
	for _, name := range names {
		if !certificateName.MatchString(name) || len(name) > 253 {
			return "", c.refusef("ValidationException", "1 validation error detected: Value '%s' at 'domainName' failed to satisfy constraint: Member must satisfy regular expression pattern", name)
		}
	}
	if len(names[0]) > 64 {
		return "", c.refusef("InvalidDomainValidationOptionsException", "The first domain name can be no longer than 64 characters.")
	}
	arn := c.arn("acm", "certificate/"+uuid())
	out["arn"], out["status"], out["type"] = arn, certificatePending, "AMAZON_ISSUED"
	out["subjectAlternativeNames"] = anys(names...)
	out["domainValidationOptions"] = validationOptions(c.cloud.options.Account, names)
	out["renewalEligibility"], out["pendingRenewal"] = "INELIGIBLE", false
	out["notAfter"], out["notBefore"] = "", ""
	out["renewalSummaries"], out["validationEmails"] = []any{}, []any{}
	out.setDefault("keyAlgorithm", "RSA_2048")
	out.setDefault("options", map[string]any{"certificateTransparencyLoggingPreference": "ENABLED"})
	if c.cloud.validated(out) {
		out["status"] = certificateIssued
	}
	return arn, nil
}

// keepCertificate: ACM adds the domain name to the alternative names.
func keepCertificate(c *call) error {
	c.out()["subjectAlternativeNames"] = anys(certificateNames(c.in())...)
	return nil
}

// certificateNames are the names of a certificate, the domain name first.
func certificateNames(in props) []string {
	names := []string{in.str("domainName")}
	for _, name := range in.list("subjectAlternativeNames") {
		names = appendNew(names, name)
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

// validated reports whether all of a certificate's records are in public zones
// of the account. A lab's zone needs no delegation.
func (c *Cloud) validated(certificate props, more ...*record) bool {
	for _, option := range certificate.objects("domainValidationOptions") {
		proves := func(r *record) bool {
			return r.Outputs.str("fqdn") == domain(option.str("resourceRecordName")) && r.Inputs.str("type") == "CNAME" &&
				slices.ContainsFunc(r.Inputs.list("records"), func(v string) bool { return domain(v) == domain(option.str("resourceRecordValue")) }) &&
				c.publicZone(r.Inputs.str("zoneId"))
		}
		found := slices.ContainsFunc(more, proves)
		for r := range c.each(dnsRecordType, global) {
			found = found || proves(r)
		}
		if !found {
			return false
		}
	}
	return true
}

func (c *Cloud) publicZone(zone string) bool {
	r := c.store.get(hostedZoneType, global, zone)
	return r != nil && len(r.Inputs.at("vpcs", "vpcId")) == 0
}

// validateCertificates issues the certificates that waited for a record, and
// wakes who waits for them.
func (c *Cloud) validateCertificates(record *record) error {
	for _, r := range c.store.all() {
		if r.Type != certificateType || r.Outputs.str("status") != certificatePending || !c.validated(r.Outputs, record) {
			continue
		}
		issued := r.clone()
		issued.Outputs["status"] = certificateIssued
		issued.Outputs["notBefore"] = c.now().UTC().Format(time.RFC3339)
		issued.Outputs["notAfter"] = c.now().UTC().AddDate(0, 13, 0).Format(time.RFC3339)
		if err := c.store.put(issued); err != nil {
			return err
		}
	}
	close(c.issuance)
	c.issuance = make(chan struct{})
	return nil
}

// createValidation has the certificate's ARN for an id. The provider's id is a
// time, which two of them can share.
func createValidation(c *call) (string, error) {
	arn := c.in().str("certificateArn")
	if given := c.in().list("validationRecordFqdns"); len(given) > 0 {
		var missing []error
		for _, option := range c.find(certificateType, arn).Outputs.objects("domainValidationOptions") {
			name := domain(option.str("resourceRecordName"))
			if !slices.ContainsFunc(given, func(fqdn string) bool { return domain(fqdn) == name }) {
				missing = append(missing, fmt.Errorf("missing %s DNS validation record: %s", option.str("domainName"), name))
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
func awaitCertificate(ctx context.Context, c *Cloud, r *record) error {
	arn := r.Inputs.str("certificateArn")
	timer := time.NewTimer(max(time.Duration(float64(validationTimeout)*c.options.LatencyScale), c.patience))
	defer timer.Stop()
	for {
		c.mu.Lock()
		certificate, issuance := c.find(certificateType, r.Region, arn), c.issuance
		c.mu.Unlock()
		if certificate == nil {
			return fmt.Errorf("waiting for ACM Certificate (%s) to be issued: couldn't find resource", arn)
		}
		if certificate.Outputs.str("status") == certificateIssued {
			return nil
		}
		select {
		case <-issuance:
		case <-timer.C:
			return fmt.Errorf("waiting for ACM Certificate (%s) to be issued: timeout while waiting for state to become 'ISSUED' (last state: '%s', timeout: %s)",
				arn, certificatePending, validationTimeout)
		case <-c.closing:
			return errClosing
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
