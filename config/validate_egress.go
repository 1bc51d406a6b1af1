package config

import (
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/strict"
	"tombolo/internal/userdata"
	"tombolo/internal/wording"
)

// certificateBlock is the type of a certificate's PEM block, by RFC 7468.
const certificateBlock = "CERTIFICATE"

var (
	// registry is the host of a registry, as it begins the name of an image.
	registry = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?$`)
	// mirror is such a host, with the path in front of the names of repositories. Source of
	// what a path may be: "Pulling manifests" in
	// https://github.com/opencontainers/distribution-spec/blob/main/spec.md
	mirror = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$`)
)

// egress checks how the cluster reaches what is outside of its network.
func (v *validator) egress() {
	at, e := strict.Path("egress"), v.c.Egress
	if !v.doc.Has(at) || !v.doc.Sound(at) {
		return
	}
	v.outside(at, e)
	v.mirrors(at.Field("images").Field("mirrors"), e.Images)
	v.pullSecret(at.Field("images").Field("pullSecret"), e.Images)
	if err := v.c.egressTooLong(); err != nil {
		v.problem(at, "name fewer certificates: they are the longest part", "makes user data that %v", err)
	}
}

// outside checks what files for all clouds have.
func (v *validator) outside(at strict.Path, e Egress) {
	v.proxy(at.Field("proxy"), e.Proxy)
	v.certificates(at.Field("certificateAuthority"), e.CertificateAuthority)
}

// egressTooLong says that user data of some image has no room for egress alone.
func (c *Cluster) egressTooLong() error {
	for _, family := range []userdata.Family{userdata.AL2023, userdata.Bottlerocket} {
		if _, err := userdata.Compose(family, userdata.Own{Egress: c.NodeEgress()}, ""); err != nil {
			return err
		}
	}
	return nil
}

func (v *validator) proxy(at strict.Path, p Proxy) {
	if !v.doc.Has(at) || !v.doc.Sound(at) {
		return
	}
	unique(v, at.Field("noProxy"), "", p.NoProxy, itself, "give each host once")
	for i, text := range p.NoProxy {
		v.direct(at.Field("noProxy").Index(i), text)
	}
	where := at.Field("url")
	if !v.doc.Sound(where) || p.URL == "" {
		return
	}
	u, err := url.Parse(p.URL)
	switch {
	case err != nil || u.Hostname() == "":
		v.problem(where, "write it like http://proxy.corp.example:3128", "names no host")
	case u.User != nil:
		v.problem(where, "let the proxy know the cluster by its addresses, or run one without a password in front of it", "contains credentials, which would be in user data and in the engine's Deployments, for everybody to read")
	case u.Port() == "":
		v.problem(where, "add the port, such as :3128", "has no port, and programs choose different ones")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(p.URL, "\"'`$\\%"):
		v.problem(where, "write scheme, host and port only", "has more than a proxy's address")
	default:
		return
	}
	v.doc.Conceal()
}

// direct checks an item of noProxy that has the form of an address.
func (v *validator) direct(at strict.Path, text string) {
	if !v.doc.Sound(at) || !strings.Contains(text, "/") {
		return
	}
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		v.problem(at, "write a block like 10.8.0.0/16", "%s is not a block of addresses", wording.Quote(text))
	case block.Bits() == 0:
		v.problem(at, "list what is reached directly", "%s is every address, and the proxy would be used for none", wording.Quote(text))
	}
}

// certificates checks PEM text. What is wrong may hold a key, and is not shown.
func (v *validator) certificates(at strict.Path, text string) {
	if !v.doc.Has(at) || !v.doc.Sound(at) {
		return
	}
	report := func(remedy, format string, args ...any) {
		v.problem(at, remedy, format, args...)
		v.doc.Conceal()
	}
	n := 0
	block, rest := pem.Decode([]byte(text))
	for ; block != nil; block, rest = pem.Decode(rest) {
		n++
		if strings.Contains(block.Type, "PRIVATE KEY") {
			report("remove it, and make a new one: this file is no place for secrets, and neither is user data", "has a private key")
			return
		}
		if block.Type != certificateBlock {
			report("leave certificates only", "has a block of type %s", block.Type)
			return
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			report("copy it anew, from BEGIN CERTIFICATE to END CERTIFICATE", "has a certificate, number %d, that cannot be read", n)
			return
		case certificate.NotAfter.Before(today()):
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

func (v *validator) mirrors(at strict.Path, images ImageSources) {
	for _, name := range slices.Sorted(maps.Keys(images.Mirrors)) {
		where, to := at.Key(name), images.Mirrors[name]
		host, _, _ := strings.Cut(to, "/")
		_, again := images.Mirrors[host]
		switch {
		case !v.doc.Sound(where):
		case name == "index.docker.io" || name == "registry-1.docker.io":
			v.keyProblem(where, "write docker.io, which the names of images begin with", "%s is where Docker Hub is, and not what it is called", wording.Quote(name))
		case !registry.MatchString(name):
			v.keyProblem(where, "write its host, such as docker.io or registry.k8s.io", "%s is not a registry", wording.Quote(name))
		case strings.Contains(to, "://"):
			v.problem(where, "remove the scheme: mirrors are asked by HTTPS", "%s is not a mirror", wording.Quote(to))
		case !mirror.MatchString(to):
			v.problem(where, "write host, host:port or host/path in lower case, such as mirror.corp.example/docker-hub", "%s is not a mirror", wording.Quote(to))
		case again:
			v.problem(where, "name the host that has the images", "%s has a mirror itself, and a mirror is not looked up twice", wording.Quote(host))
		}
	}
}

func (v *validator) pullSecret(at strict.Path, images ImageSources) {
	s := images.PullSecret
	if s == nil || !v.doc.Sound(at) {
		return
	}
	switch {
	case len(images.Mirrors) == 0:
		v.problem(at, "add mirrors, or remove it", "has no effect: it is for mirrors, and there are none")
	case v.c.IsSpoke():
		v.problem(at, "remove it, and add it to the hub's file", "has no effect: it is for the engine's images, and the engine is the hub's")
	}
	v.secretRef(at.Field("password"), s.Password)
}
