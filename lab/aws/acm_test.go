package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/acm"
	"tombolo/lab/aws/route53"
	"tombolo/lab/standin"
)

func certificateFor(names ...string) props {
	in := props{"domainName": names[0], "validationMethod": "DNS"}
	if len(names) > 1 {
		in["subjectAlternativeNames"] = standin.Values(names[1:]...)
	}
	return in
}

// proof is the record that a certificate asks for.
func proof(certificate *thing, i int) props {
	option := certificate.Out.Objects("domainValidationOptions")[i]
	return props{
		"zoneId": route53.LabZoneID, "ttl": 60, "allowOverwrite": true, "name": option["resourceRecordName"],
		"type": option["resourceRecordType"], "records": []any{option["resourceRecordValue"]},
	}
}

func TestCertificateRefusals(t *testing.T) {
	refused(t, emptyWorld, []attempt{
		{"no name", acm.CertificateType, props{"validationMethod": "DNS"}, "Invalid combination of arguments. one of [domainName privateKey] must be specified"},
		{"period", acm.CertificateType, certificateFor("lab.test."), "invalid value for domainName (cannot end with a period)"},
		{"method", acm.CertificateType, props{"domainName": "lab.test", "validationMethod": "TXT"}, "expected validationMethod to be one of"},
		{"another method", acm.CertificateType, props{"domainName": "lab.test", "validationMethod": "EMAIL"}, "the AWS stand-in knows certificates that are validated by DNS only"},
		{"no domain", acm.CertificateType, certificateFor("lab_test"), "api error ValidationException: 1 validation error detected: Value 'lab_test' at 'domainName' failed to satisfy constraint"},
		{"wildcard in the middle", acm.CertificateType, certificateFor("a.*.lab.test"), "Value 'a.*.lab.test' at 'domainName' failed to satisfy constraint"},
		{
			"name too long", acm.CertificateType, certificateFor(strings.Repeat("a", 60) + ".lab.test"),
			"InvalidDomainValidationOptionsException: The first domain name can be no longer than 64 characters.",
		},
		{
			"too many names", acm.CertificateType, certificateFor("lab.test", "a.test", "b.test", "c.test", "d.test", "e.test", "f.test", "g.test", "h.test", "i.test", "j.test"),
			"LimitExceededException: Error: the number of domain names of a certificate is limited to 10",
		},
		{
			"no certificate", acm.ValidationType,
			props{"certificateArn": "arn:aws:acm:eu-central-1:111122223333:certificate/x"},
			"ResourceNotFoundException: Could not find certificate arn:aws:acm:eu-central-1:111122223333:certificate/x.",
		},
		{"record not named", acm.ValidationType, func(w *world) props {
			c := w.Make(acm.CertificateType, "c", certificateFor("lab.test"))
			return props{"certificateArn": c.ID, "validationRecordFqdns": []any{"_x.lab.test"}}
		}, "missing lab.test DNS validation record: _"},
	})
}

func TestCertificate(t *testing.T) {
	w := emptyWorld(t)
	certificate := w.Add(acm.CertificateType, "certificate", certificateFor("lab.test", "*.lab.test"))
	assert.Check(t, certificate.ID == certificate.Out.Str("arn") && certificate.Out.Str("status") == "PENDING_VALIDATION", "certificate is %s, %v", certificate.ID, certificate.Out)
	options := certificate.Out.Objects("domainValidationOptions")
	assert.Check(t, len(options) == 2 && options[0].Str("resourceRecordName") == options[1].Str("resourceRecordName") && options[1].Str("domainName") == "*.lab.test", "options are %v", options)
	name := options[0].Str("resourceRecordName")
	assert.Check(t, strings.HasPrefix(name, "_") && strings.HasSuffix(name, ".lab.test."), "record name is %s", name)
	again := w.Make(acm.CertificateType, "again", certificateFor("lab.test", "*.lab.test"))
	assert.Check(t, is.Equal(cmp.Diff(options, again.Out.Objects("domainValidationOptions")), ""))
	assert.NilError(t, w.Delete(again))
	record := w.Add(route53.RecordType, "record", proof(certificate, 0))
	w.Add(acm.ValidationType, "validation", props{"certificateArn": certificate.ID, "validationRecordFqdns": []any{record.Out["fqdn"]}})
	_, out := w.read(certificate)
	assert.Check(t, out.Str("status") == "ISSUED" && out.Str("notAfter") != "", "certificate is %v", out)
	w.TakeDown()
}

// TestEveryNameIsProven: a certificate waits for the records of all its names.
func TestEveryNameIsProven(t *testing.T) {
	a := newAccount(t)
	certificate := a.Make(acm.CertificateType, "certificate", certificateFor("a.lab.test", "b.lab.test"))
	for i, want := range []string{"PENDING_VALIDATION", "ISSUED"} {
		a.Make(route53.RecordType, "record-"+want, proof(certificate, i))
		if _, out := a.read(certificate); out.Str("status") != want {
			t.Errorf("after %d records it is %s", i+1, out.Str("status"))
		}
	}
	if next := a.Make(acm.CertificateType, "next", certificateFor("b.lab.test")); next.Out.Str("status") != "ISSUED" {
		t.Errorf("a name that is proven already: %s", next.Out.Str("status"))
	}
}

func TestValidationWaits(t *testing.T) {
	a := newAccount(t)
	certificate := a.Make(acm.CertificateType, "certificate", certificateFor("lab.test"))
	validated := make(chan error, 1)
	go func() {
		_, err := a.Try(acm.ValidationType, "validation", props{"certificateArn": certificate.ID})
		validated <- err
	}()
	a.Eventually("the validation is under way", func() bool { return len(a.Cloud.Inventory()) == 2 })
	a.Make(route53.RecordType, "other", recordIn(nil))
	select {
	case err := <-validated:
		t.Fatalf("validated by another record: %v", err)
	default:
	}
	a.Make(route53.RecordType, "proof", proof(certificate, 0))
	assert.Check(t, <-validated)
}

// TestValidationGoesWithItsCertificate: it is nothing of its own.
func TestValidationGoesWithItsCertificate(t *testing.T) {
	a := newAccount(t)
	certificate := a.Make(acm.CertificateType, "certificate", certificateFor("lab.test"))
	record := a.Make(route53.RecordType, "proof", proof(certificate, 0))
	a.Make(acm.ValidationType, "validation", props{"certificateArn": certificate.ID})
	assert.NilError(t, a.Delete(certificate))
	items := a.Cloud.Inventory()
	assert.Check(t, len(items) == 1 && items[0].ID == record.ID, "left over: %v", items)
}

// TestValidationTimesOut where the record is missing or wrong.
func TestValidationTimesOut(t *testing.T) {
	for name, spoil := range map[string]props{
		"missing": {"name": "www"},
		"wrong":   {"records": []any{"_x.acm-validations.aws."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t)
			w.Cloud.LeastWait = 10 * time.Millisecond
			certificate := w.Make(acm.CertificateType, "certificate", certificateFor("lab.test"))
			w.Make(route53.RecordType, "record", standin.Merged(proof(certificate, 0), spoil))
			before := len(w.Cloud.Inventory())
			w.denied(acm.ValidationType, props{"certificateArn": certificate.ID}, "waiting for ACM Certificate ("+certificate.ID+") to be issued: timeout while waiting for state to become 'ISSUED' (last state: 'PENDING_VALIDATION', timeout: 1h15m0s)")
			assert.Check(t, is.Equal(len(w.Cloud.Inventory()), before))
		})
	}
}
