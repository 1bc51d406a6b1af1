package certificate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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
	if a == nil {
		return errors.New("arguments are missing")
	}
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
