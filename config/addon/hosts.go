package addon

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tombolo/config/strict"
)

// hosts is the rule of the names under which people reach an addon's pages.
var hosts = strict.Rule{What: "a host name", Example: "grafana.example.com", Pattern: domainName, MaxLength: 253}

// gatewayRefs attach an HTTPRoute to the Gateway that the trees make with istio, at the
// listener behind the load balancer's TLS, or with TLS of its own on Azure.
func gatewayRefs() []any {
	return []any{map[string]any{"name": "public", "namespace": "istio-system", "sectionName": "https"}}
}

// overHTTPS tells the software behind a route what the Gateway cannot know: that the load
// balancer has taken the request by HTTPS.
func overHTTPS() []any {
	return []any{map[string]any{
		"type": "RequestHeaderModifier",
		"requestHeaderModifier": map[string]any{
			"set": []any{map[string]any{"name": "X-Forwarded-Proto", "value": "https"}},
		},
	}}
}

// routed says that the addon has a host, and the cluster istio's Gateway to reach it by.
func (f Facts) routed(host string) bool { return host != "" && slices.Contains(f.Enabled, "istio") }

// HostOf is the host name in an addon's options; "" for none. options is a pointer to them.
func HostOf(options any) string {
	host := reflect.ValueOf(options).Elem().FieldByName("Host")
	if !host.IsValid() {
		return ""
	}
	return host.String()
}

// checkHost finds a host of an addon that cannot be reached under it. byIngress says that
// an Ingress does as well as a route.
func checkHost(addon, host string, byIngress bool, all Selection) []Problem {
	if host == "" {
		return nil
	}
	problems := checkEntrance(byIngress, all)
	for _, other := range all.Names() {
		if other < addon && HostOf(all[other]) == host {
			problems = append(problems, Problem{
				Path: "host", Message: fmt.Sprintf("%q is already the host of %s", host, other), Remedy: "give each addon a host of its own",
			})
		}
	}
	if c, on := all["certificate"].(*CertificateOptions); on && !c.covers(host) {
		problems = append(problems, Problem{
			Path:    "host",
			Message: fmt.Sprintf("the certificate is not for %q: browsers would refuse it", host),
			Remedy:  "take a name of the certificate, or add this one to addons.certificate.alternativeNames",
		})
	}
	dns, on := all["external-dns"].(*DNSOptions)
	if on && !slices.ContainsFunc(dns.Zones, func(z Zone) bool { return inZone(host, z.Name) }) {
		problems = append(problems, Problem{
			Path: "host", Warning: true,
			Message: fmt.Sprintf("%q is in none of external-dns's zones, so nothing makes its record", host),
			Remedy:  "take a name of a zone, add the zone, or make the record yourself",
		})
	}
	return problems
}

// checkEntrance finds that nothing leads requests to the addon, or not by HTTPS.
func checkEntrance(byIngress bool, all Selection) []Problem {
	if all["istio"] != nil {
		return nil
	}
	if !byIngress {
		return []Problem{{Path: "host", Message: "nothing leads requests to it", Remedy: "turn istio on, whose Gateway does, or remove it"}}
	}
	ingress, on := all["ingress-nginx"].(*IngressOptions)
	switch {
	case !on:
		return []Problem{{Path: "host", Message: "nothing leads requests to it", Remedy: "turn on istio or ingress-nginx, or remove it"}}
	case !ingress.Certificate:
		return []Problem{{
			Path: "host", Message: "people would send their passwords in clear", Remedy: "turn istio on, or on AWS set addons.ingress-nginx.certificate",
		}}
	}
	return nil
}

// covers says whether browsers take the certificate for a host: a * stands for one label.
func (c *CertificateOptions) covers(host string) bool {
	_, parent, _ := strings.Cut(host, ".")
	return slices.ContainsFunc(append([]string{c.Domain}, c.AlternativeNames...), func(name string) bool {
		return name == host || name == "*."+parent
	})
}
