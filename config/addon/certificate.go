package addon

import (
	"fmt"
	"regexp"
	"slices"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// CertificateOptions are the options of certificate.
type CertificateOptions struct {
	// Domain of the certificate; *.example.com is for all names one level below
	// example.com.
	Domain string `yaml:"domain"`
	// AlternativeNames are further domains of the certificate.
	AlternativeNames []string `yaml:"alternativeNames,omitempty"`
	// Zone for the DNS records by which ACM validates the names.
	Zone Zone `yaml:"zone"`
}

var certificateOptionsFields = field.Of[CertificateOptions](map[string]field.Descriptor{
	"Domain": {
		Rule:   strict.Rule{What: "a domain name, with or without *. before it", Example: "*.example.com", Pattern: certificateName, MaxLength: 64},
		Change: field.Changes("another certificate is made and published, and the old one deleted when no load balancer uses it"),
	},
	"AlternativeNames": {
		Rule:   strict.Rule{What: "a domain name, with or without *. before it", Noun: "name", Example: "www.example.com", Pattern: certificateName, MaxLength: 253},
		Change: field.Changes("another certificate is made and published, and the old one deleted when no load balancer uses it"),
	},
	"Zone": {},
})

var certificateName = regexp.MustCompile(`^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$`)

// The limits are those of ACM's RequestCertificate: the first name is in the
// certificate's subject, which X.509 keeps to 64 characters.
var _ = register(Addon{
	Name:      "certificate",
	Summary:   "Makes a TLS certificate in ACM, for the load balancers.",
	Namespace: "kube-system",
	Stage:     Others,
	NotOn: notOnAzure("makes a certificate of AWS's for load balancers of AWS",
		"remove it: cert-manager makes certificates"),
}, definition[CertificateOptions]{
	Fields: certificateOptionsFields,
	Needs: func(in Input[CertificateOptions]) Needs {
		return Needs{
			Zones: []Zone{in.Options.Zone},
			Certificate: &Certificate{
				Domain: in.Options.Domain, AlternativeNames: in.Options.AlternativeNames, Zone: in.Options.Zone,
			},
		}
	},
	Keys: []key[CertificateOptions]{
		{
			"certificate_arn", "ARN of the cluster's TLS certificate, once it is issued.",
			"arn:aws:acm:eu-central-1:111122223333:certificate/01234567-89ab-cdef-0123-456789abcdef",
			func(_ Input[CertificateOptions], out Outputs) string { return out.Made[CertificateARN] },
		},
		{
			"certificate_domain", "Domain of that certificate.", "*.example.com",
			func(in Input[CertificateOptions], _ Outputs) string { return in.Options.Domain },
		},
	},
	Check: checkCertificate,
})

// checkCertificate finds names that the zone cannot prove, and names given
// twice.
func checkCertificate(o CertificateOptions, _ Selection) []Problem {
	var problems []Problem
	outside := func(path, name string) {
		if !inZone(name, o.Zone.Name) {
			problems = append(problems, Problem{
				Path:    path,
				Message: fmt.Sprintf("%q is not in the zone %q", name, o.Zone.Name),
				Remedy:  "use the zone of the name, or a name in the zone",
			})
		}
	}
	outside("domain", o.Domain)
	for i, name := range o.AlternativeNames {
		path := at("alternativeNames", i, "")
		outside(path, name)
		if name == o.Domain || slices.Contains(o.AlternativeNames[:i], name) {
			problems = append(problems, Problem{
				Path:    path,
				Message: fmt.Sprintf("%q is already a name of the certificate", name),
				Remedy:  "give each name once",
			})
		}
	}
	return problems
}
