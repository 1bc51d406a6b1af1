package egress

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/secret"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

var (
	// registry is the host of a registry, as it begins the name of an image.
	registry = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$`)
	// mirror is such a host, with the path in front of the names of repositories. Source of
	// what a path may be: "Pulling manifests" in
	// https://github.com/opencontainers/distribution-spec/blob/main/spec.md
	mirror = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
)

// Check checks how the cluster reaches what is outside of its network.
func Check(v *check.File, e Egress, tooLong error) {
	const at = strict.Path("egress")
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	checkOutside(v, at, e)
	checkMirrors(v, at.Field("images").Field("mirrors"), e.Images)
	checkPullSecret(v, at.Field("images").Field("pullSecret"), e.Images)
	if tooLong != nil {
		v.Problem(at, "name fewer certificates: they are the longest part", "makes user data that %v", tooLong)
	}
}

// checkOutside checks what files for all clouds have.
func checkOutside(v *check.File, at strict.Path, e Egress) {
	checkProxy(v, at.Field("proxy"), e.Proxy)
	CheckCertificates(v, at.Field("certificateAuthority"), e.CertificateAuthority)
}

func checkProxy(v *check.File, at strict.Path, p Proxy) {
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	check.Unique(v, at.Field("noProxy"), "", p.NoProxy, check.Itself, "give each host once")
	for i, text := range p.NoProxy {
		checkDirect(v, at.Field("noProxy").Index(i), text)
	}
	where := at.Field("url")
	if !v.Doc.Sound(where) || p.URL == "" {
		return
	}
	u, err := url.Parse(p.URL)
	switch {
	case err != nil || u.Hostname() == "":
		v.Problem(where, "write it like http://proxy.corp.example:3128", "names no host")
	case u.User != nil:
		v.Problem(where, "let the proxy know the cluster by its addresses, or run one without a password in front of it", "contains credentials, which would be in user data and in the engine's Deployments, for everybody to read")
	case u.Port() != "" && !isPort(u.Port()):
		v.Problem(where, "use a port from 1 to 65535", "has no port that there is")
	case u.Port() == "":
		v.Problem(where, "add the port, such as :3128", "has no port, and programs choose different ones")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(p.URL, "\"'`$\\%"):
		v.Problem(where, "write scheme, host and port only", "has more than a proxy's address")
	default:
		return
	}
	v.Doc.Conceal()
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// checkDirect checks an item of noProxy that has the form of an address.
func checkDirect(v *check.File, at strict.Path, text string) {
	if !v.Doc.Sound(at) || !strings.Contains(text, "/") {
		return
	}
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		v.Problem(at, "write a block like 10.8.0.0/16", "%s is not a block of addresses", wording.Quote(text))
	case block.Bits() == 0:
		v.Problem(at, "list what is reached directly", "%s is every address, and the proxy would be used for none", wording.Quote(text))
	}
}

// CheckCertificates checks PEM text. What is wrong may hold a key, and is not shown.
func CheckCertificates(v *check.File, at strict.Path, text string) {
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	report := func(remedy, format string, args ...any) {
		v.Problem(at, remedy, format, args...)
		v.Doc.Conceal()
	}
	n := 0
	block, rest := pem.Decode([]byte(text))
	for ; block != nil; block, rest = pem.Decode(rest) {
		n++
		if strings.Contains(block.Type, "PRIVATE KEY") {
			report("remove it, and make a new one: this file is no place for secrets, and neither is user data", "has a private key")
			return
		}
		if block.Type != CertificateBlock {
			report("leave certificates only", "has a block of type %s", block.Type)
			return
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			report("copy it anew, from BEGIN CERTIFICATE to END CERTIFICATE", "has a certificate, number %d, that cannot be read", n)
			return
		case certificate.NotAfter.Before(v.Day):
			report("replace it", "has a certificate, number %d, that expired on %s", n, certificate.NotAfter.UTC().Format("2006-01-02"))
			return
		}
	}
	switch {
	case n == 0:
		report("write the text from BEGIN CERTIFICATE to END CERTIFICATE, after certificateAuthority: |", "has no certificate in PEM")
	case strings.TrimSpace(string(rest)) != "":
		report("leave certificates only", "has text after the last certificate")
	}
}

func checkMirrors(v *check.File, at strict.Path, images ImageSources) {
	for _, name := range slices.Sorted(maps.Keys(images.Mirrors)) {
		where, to := at.Key(name), images.Mirrors[name]
		host, _, _ := strings.Cut(to, "/")
		_, again := images.Mirrors[host]
		switch {
		case !v.Doc.Sound(where):
		case name == "index.docker.io" || name == "registry-1.docker.io":
			v.KeyProblem(where, "write docker.io, which the names of images begin with", "%s is where Docker Hub is, and not what it is called", wording.Quote(name))
		case !registry.MatchString(name):
			v.KeyProblem(where, "write its host, such as docker.io or registry.k8s.io", "%s is not a registry", wording.Quote(name))
		case strings.Contains(to, "://"):
			v.Problem(where, "remove the scheme: mirrors are asked by HTTPS", "%s is not a mirror", wording.Quote(to))
		case !mirror.MatchString(to):
			v.Problem(where, "write host, host:port or host/path in lower case, such as mirror.corp.example/docker-hub", "%s is not a mirror", wording.Quote(to))
		case again:
			v.Problem(where, "name the host that has the images", "%s has a mirror itself, and a mirror is not looked up twice", wording.Quote(host))
		}
	}
}

func checkPullSecret(v *check.File, at strict.Path, images ImageSources) {
	s := images.PullSecret
	if s == nil || !v.Doc.Sound(at) {
		return
	}
	switch {
	case len(images.Mirrors) == 0:
		v.Problem(at, "add mirrors, or remove it", "has no effect: it is for mirrors, and there are none")
	case v.Spoke:
		v.Problem(at, "remove it, and add it to the hub's file", "has no effect: it is for the engine's images, and the engine is the hub's")
	}
	secret.Check(v, at.Field("password"), s.Password)
}

// CheckOnAzure checks how the cluster reaches what is outside of its network. Nodes get it by
// the proxy configuration of AKS: https://learn.microsoft.com/azure/aks/http-proxy
func CheckOnAzure(v *check.File, e Egress) {
	const at = strict.Path("egress")
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	checkOutside(v, at, e)
	if v.Existing { // its nodes are their owner's
		return
	}
	url, authorities := at.Field("proxy").Field("url"), at.Field("certificateAuthority")
	if strings.HasPrefix(e.Proxy.URL, "https://") && v.Doc.Sound(url) {
		v.Problem(url, "use the proxy's http:// address: what is sent through it is encrypted none the less",
			"begins with https://, and AKS takes a proxy for HTTP by http:// alone")
		v.Doc.Conceal()
	}
	if e.CertificateAuthority != "" && e.Proxy.URL == "" && v.Doc.Sound(authorities, url) {
		v.Problem(authorities, "add egress.proxy, or remove it", "has no effect without egress.proxy: AKS gives nodes authorities together with a proxy")
	}
	if n := strings.Count(e.Certificates(), "-----BEGIN "+CertificateBlock); n > azurefacts.MaxAuthorities && v.Doc.Sound(authorities) {
		v.Problem(authorities, "leave those of the proxy", "has %d certificates; AKS takes %d", n, azurefacts.MaxAuthorities)
		v.Doc.Conceal()
	}
}
