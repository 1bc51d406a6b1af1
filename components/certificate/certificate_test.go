package certificate

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const recordType = "aws:route53/record:Record"

func certificateArgs() *CertificateArgs {
	return &CertificateArgs{
		Domain: "example.com", AlternativeNames: []string{"*.example.com", "api.eu.example.com"},
		ZoneID: "Z1", ZoneName: "example.com",
	}
}

// account has the hosted zone Z1 and an ACM that asks for a record for each of
// the names, the wildcard's being the one of its domain.
func account(zone string, private bool, names ...string) *recorder.Recorder {
	var options []any
	for _, name := range names {
		domain := validationDomain(name)
		options = append(options, map[string]any{
			"domainName": name, "resourceRecordName": "_1." + domain + ".", "resourceRecordType": "CNAME",
			"resourceRecordValue": "_2." + domain + ".acm-validations.aws.",
		})
	}
	return &recorder.Recorder{
		Outputs: map[string]resource.PropertyMap{
			"aws:acm/certificate:Certificate": resource.NewPropertyMapFromMap(map[string]any{"domainValidationOptions": options}),
			recordType:                        {"fqdn": resource.NewProperty("a record")},
		},
		Invokes: map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
			"aws:route53/getZone:getZone": func(resource.PropertyMap) (resource.PropertyMap, error) {
				return resource.PropertyMap{"name": resource.NewProperty(zone), "privateZone": resource.NewProperty(private)}, nil
			},
		},
	}
}

func run(r *recorder.Recorder, args *CertificateArgs) error {
	return r.Run("demo-core", recorder.Probing("demo-web", NewCertificate, args, func(c *Certificate) pulumi.Map {
		return pulumi.Map{"arn": c.ARN}
	}))
}

func built(t *testing.T, args *CertificateArgs) *recorder.Recorder {
	t.Helper()
	// ACM lists its answers in an order of its own.
	names := args.names()
	slices.Reverse(names)
	r := account("example.com", false, names...)
	return r.Sound(t, run(r, args))
}

func TestCertificate(t *testing.T) {
	r := built(t, certificateArgs())
	r.OfType("aws:acm/certificate:Certificate")[0].Expect(t, map[string]string{
		"domainName": "example.com", "validationMethod": "DNS",
		"subjectAlternativeNames[0]": "*.example.com", "subjectAlternativeNames[1]": "api.eu.example.com",
	})
}

func TestRecords(t *testing.T) {
	r := built(t, certificateArgs())
	assert.Check(t, is.Len(r.OfType(recordType), 2))
	for _, domain := range []string{"example.com", "api.eu.example.com"} {
		record, _ := r.Named(recordType, "demo-web-validation-"+domain)
		record.Expect(t, map[string]string{
			"zoneId": "Z1", "name": "_1." + domain + ".", "type": "CNAME", "records[0]": "_2." + domain + ".acm-validations.aws.",
			"ttl": "60", "allowOverwrite": "true",
		})
		assert.Check(t, record.RetainOnDelete, "%s goes with the certificate, and with it the renewal of others for the domain", record.Name)
	}
}

func TestWildcardAlone(t *testing.T) {
	r := built(t, &CertificateArgs{Domain: "*.example.com", ZoneID: "Z1", ZoneName: "example.com"})
	record, ok := r.Named(recordType, "demo-web-validation-example.com")
	assert.Assert(t, ok, "no record for the wildcard's domain")
	record.Expect(t, map[string]string{"name": "_1.example.com."})
	_, given := r.OfType("aws:acm/certificate:Certificate")[0].Value("subjectAlternativeNames")
	assert.Check(t, !given, "a certificate for one name has alternative names")
}

func TestARNWaitsForValidation(t *testing.T) {
	r := built(t, certificateArgs())
	r.Probed().Expect(t, map[string]string{"arn": "arn:aws:test:eu-central-1:111122223333:demo-web-certificate"})
	r.Probed().ExpectAfter(t, "arn", "demo-web-validation")
	validation := r.OfType("aws:acm/certificateValidation:CertificateValidation")[0]
	validation.Expect(t, map[string]string{"validationRecordFqdns[1]": "a record"})
	validation.ExpectAfter(t, "validationRecordFqdns", "demo-web-validation-example.com", "demo-web-validation-api.eu.example.com")
}

func TestNothingIsMadeInTheWrongZone(t *testing.T) {
	for want, r := range map[string]*recorder.Recorder{
		"certificate demo-web: hosted zone Z1 is example.org, not example.com; give the id of the zone example.com, or correct the name": account("example.org", false),
		"certificate demo-web: hosted zone Z1 (example.com) is private; give the id of the public zone of that name":                     account("example.com", true),
	} {
		assert.Check(t, is.ErrorContains(run(r, certificateArgs()), want))
		assert.Check(t, !slices.ContainsFunc(r.All(), func(res recorder.Resource) bool { return res.Custom }), "%q: something was made", want)
	}
}

func TestACMNamesNoRecord(t *testing.T) {
	err := run(account("example.com", false, "example.com"), certificateArgs())
	const want = "ACM named no validation record for api.eu.example.com among 1"
	assert.Check(t, is.ErrorContains(err, want))
}

func TestCertificateValidate(t *testing.T) {
	long := strings.Repeat("a", 60) + ".example.com"
	recorder.Refuses(t, "demo-web", NewCertificate, "certificate demo-web: ", certificateArgs, map[string]func(*CertificateArgs){
		"id and name of the hosted zone are required":                                                    func(a *CertificateArgs) { a.ZoneID = "" },
		"domain " + long + " has 72 characters; ACM allows a certificate's first name 64":                func(a *CertificateArgs) { a.Domain = long },
		`"Example.com" is no domain name in lower case, nor one after "*."`:                              func(a *CertificateArgs) { a.Domain = "Example.com" },
		`"a.*.example.com" is no domain name in lower case, nor one after "*."`:                          func(a *CertificateArgs) { a.Domain = "a.*.example.com" },
		"www.badexample.com does not lie in the zone example.com, where its validation record has to go": func(a *CertificateArgs) { a.Domain = "www.badexample.com" },
		"*.example.com is given twice":                                                                   func(a *CertificateArgs) { a.Domain = "*.example.com" },
	})
}
