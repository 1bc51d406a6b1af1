// Package certificate makes an ACM certificate that is validated by records in
// a hosted zone of Route 53.
package certificate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/acm"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/route53"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/zones"
)

const certificateType = "tombolo:certificate:Certificate"

// recordTTL is how long resolvers may keep a validation record, in seconds:
// short, as one that was wrong is waited for.
const recordTTL = 60

// Certificate is a certificate that ACM has issued, and renews by itself.
type Certificate struct {
	pulumi.ResourceState

	// ARN of the certificate. It resolves when ACM has issued it: a load
	// balancer takes no other.
	ARN pulumi.StringOutput
}

// NewCertificate asks for a certificate and has it validated. It fails, before
// anything is made, when the hosted zone is not the public zone of its name.
// The records stay in the zone when the certificate is deleted.
func NewCertificate(ctx *pulumi.Context, name string, args *CertificateArgs, opts ...pulumi.ResourceOption) (*Certificate, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	c := &Certificate{}
	inputs := pulumi.Map{"domain": pulumi.String(args.Domain), "zoneId": pulumi.String(args.ZoneID)}
	if err := ctx.RegisterComponentResourceV2(certificateType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register certificate %s: %w", name, err)
	}
	parent := pulumi.Parent(c)
	zone := zones.Zone{ID: args.ZoneID, Name: args.ZoneName, Public: true}
	if err := zones.Check(ctx, []zones.Zone{zone}, parent); err != nil {
		return nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	validation, err := validated(ctx, name, args, parent)
	if err != nil {
		return nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	c.ARN = validation.CertificateArn
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"arn": c.ARN})
}

func validated(ctx *pulumi.Context, name string, args *CertificateArgs, parent pulumi.ResourceOption) (*acm.CertificateValidation, error) {
	request := &acm.CertificateArgs{
		DomainName:       pulumi.String(args.Domain),
		ValidationMethod: pulumi.String("DNS"),
	}
	if len(args.AlternativeNames) > 0 {
		request.SubjectAlternativeNames = pulumi.ToStringArray(args.AlternativeNames)
	}
	certificate, err := acm.NewCertificate(ctx, name+"-certificate", request, parent)
	if err != nil {
		return nil, err
	}
	var records pulumi.StringArray
	for _, domain := range args.validationDomains() {
		record, err := validationRecord(ctx, name+"-validation-"+domain, args.ZoneID, optionFor(certificate, domain), parent)
		if err != nil {
			return nil, err
		}
		records = append(records, record.Fqdn)
	}
	return acm.NewCertificateValidation(ctx, name+"-validation", &acm.CertificateValidationArgs{
		CertificateArn:        certificate.Arn,
		ValidationRecordFqdns: records,
	}, parent)
}

// validationRecord belongs to the account and the domain more than to this
// certificate: ACM asks for the same record, by name and value, for all
// certificates that an account has for a domain. So it may replace one that is
// there, which the domain's other cluster has made, as it writes the same
// again. And it stays when the certificate goes: ACM renews the certificate of
// that other cluster only as long as it finds the record.
func validationRecord(ctx *pulumi.Context, name, zoneID string, option acm.CertificateDomainValidationOptionOutput, parent pulumi.ResourceOption) (*route53.Record, error) {
	return route53.NewRecord(ctx, name, &route53.RecordArgs{
		ZoneId:         pulumi.String(zoneID),
		Name:           option.ResourceRecordName().Elem(),
		Type:           option.ResourceRecordType().Elem(),
		Records:        pulumi.StringArray{option.ResourceRecordValue().Elem()},
		Ttl:            pulumi.Int(recordTTL),
		AllowOverwrite: pulumi.Bool(true),
	}, parent, pulumi.RetainOnDelete(true))
}

// optionFor is how ACM validates a domain. How many domains there are
// follows from the names; only what ACM answers for them is an output.
func optionFor(certificate *acm.Certificate, domain string) acm.CertificateDomainValidationOptionOutput {
	return certificate.DomainValidationOptions.ApplyT(func(options []acm.CertificateDomainValidationOption) (acm.CertificateDomainValidationOption, error) {
		for _, o := range options {
			if o.DomainName != nil && validationDomain(*o.DomainName) == domain {
				return o, nil
			}
		}
		return acm.CertificateDomainValidationOption{}, fmt.Errorf("ACM named no validation record for %s among %d", domain, len(options))
	}).(acm.CertificateDomainValidationOptionOutput)
}

// maxFirstName is ACM's limit for the first name of a certificate, in
// characters: X.509 ends the common name there. Source: "Requesting a public
// certificate" in the ACM User Guide.
const maxFirstName = 64

var domainName = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CertificateArgs are the arguments of a Certificate.
type CertificateArgs struct {
	// Domain of the certificate, such as example.com or *.example.com, in lower
	// case, at most 64 characters.
	Domain string
	// AlternativeNames are further names, in the same form.
	AlternativeNames []string
	// ZoneID and ZoneName of the public hosted zone that all names lie in.
	ZoneID, ZoneName string
}

func (a *CertificateArgs) validate() error {
	var problems []error
	add := func(format string, v ...any) { problems = append(problems, fmt.Errorf(format, v...)) }
	if a.ZoneID == "" || a.ZoneName == "" {
		add("id and name of the hosted zone are required")
	}
	if len(a.Domain) > maxFirstName {
		add("domain %s has %d characters; ACM allows a certificate's first name %d", a.Domain, len(a.Domain), maxFirstName)
	}
	seen := map[string]bool{}
	for _, name := range a.names() {
		validated := validationDomain(name)
		if !domainName.MatchString(validated) {
			add("%q is no domain name in lower case, nor one after \"*.\"", name)
			continue
		}
		if validated != a.ZoneName && !strings.HasSuffix(validated, "."+a.ZoneName) {
			add("%s does not lie in the zone %s, where its validation record has to go", name, a.ZoneName)
		}
		if seen[name] {
			add("%s is given twice", name)
		}
		seen[name] = true
	}
	return errors.Join(problems...)
}

// names are all names of the certificate.
func (a *CertificateArgs) names() []string {
	return append([]string{a.Domain}, a.AlternativeNames...)
}

// validationDomains are the domains that ACM validates, each once.
func (a *CertificateArgs) validationDomains() []string {
	var domains []string
	for _, name := range a.names() {
		if domain := validationDomain(name); !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
	}
	return domains
}

// validationDomain is the domain whose record validates a name: *.example.com
// has that of example.com.
func validationDomain(name string) string { return strings.TrimPrefix(name, "*.") }
