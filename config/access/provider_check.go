package access

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// The lengths of required claims, by the same source.
const (
	maxClaim      = 63
	maxClaimValue = 253
)

// eksIssuer is the host of the issuers of EKS's own clusters.
var eksIssuer = regexp.MustCompile(`^oidc\.eks\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$|^oidc-eks\.[a-z0-9-]+\.api\.aws$`)

// insideOnly end names of hosts that have no address on the internet, by
// https://www.rfc-editor.org/rfc/rfc6762 and https://www.iana.org/assignments/special-use-domain-names;
// .internal by ICANN's resolution of 2024, and .svc and .cluster.local are Kubernetes' own.
var insideOnly = []string{".local", ".internal", ".svc", ".localhost", ".invalid", ".home.arpa"}

// CheckProvider checks the provider that signs people in to the Kubernetes API.
func CheckProvider(v *check.File, p *IdentityProvider) {
	const at = strict.Path("kubernetes.identityProvider")
	if p == nil {
		return
	}
	checkIssuer(v, at.Field("issuerUrl"), p.IssuerURL)
	for key, prefix := range map[string]string{"usernamePrefix": p.UsernamePrefix, "groupsPrefix": p.GroupsPrefix} {
		const remedy = "use a prefix of your own, such as oidc:"
		switch {
		case !v.Doc.Has(at.Field(key)):
		case slices.Contains(reservedGroups, prefix):
			v.Problem(at.Field(key), remedy, "%s is reserved: the provider could name users and groups of others", wording.Quote(prefix))
		case strings.Contains(prefix, "system:"):
			v.Problem(at.Field(key), remedy, "%s has system: in it, which EKS refuses", wording.Quote(prefix))
		}
	}
	checkRequiredClaims(v, at.Field("requiredClaims"), p.RequiredClaims)
}

// checkIssuer refuses what EKS cannot ask for the provider's keys.
func checkIssuer(v *check.File, at strict.Path, issuer string) {
	if !v.Doc.Sound(at) || issuer == "" {
		return
	}
	v.PlainURL(at, issuer, "https://auth.example.com/application/o/kubernetes/")
	u, err := url.Parse(issuer)
	if err != nil || !v.Doc.Sound(at) {
		return
	}
	switch host := form.HostIn(u); {
	case eksIssuer.MatchString(host):
		v.Problem(at, "use the issuer of the provider that signs people in", "is the issuer of an EKS cluster's service accounts, and EKS refuses the cluster's own")
	case insideHost(host):
		v.Problem(at, "give the provider a public name and certificate, or leave identityProvider out",
			"EKS reads the provider's keys over the internet, and %s is not reached from there", wording.Quote(host))
	}
}

// insideHost says that a host has no address on the internet, by its name.
func insideHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc(insideOnly, func(end string) bool { return strings.HasSuffix(host, end) })
}

func checkRequiredClaims(v *check.File, at strict.Path, claims map[string]string) {
	for _, claim := range slices.Sorted(maps.Keys(claims)) {
		value := claims[claim]
		switch {
		case claim == "" || utf8.RuneCountInString(claim) > maxClaim:
			v.KeyProblem(at.Key(claim), fmt.Sprintf("EKS takes names of 1 to %d characters", maxClaim), "is not the name of a claim that EKS takes")
		case value == "" || utf8.RuneCountInString(value) > maxClaimValue:
			v.Problem(at.Key(claim), fmt.Sprintf("EKS takes values of 1 to %d characters", maxClaimValue), "is not a value that EKS takes")
		}
	}
}
