package containerservice

import (
	"net/url"
	"slices"
	"strings"

	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// checkProxy refuses a proxy that AKS does not take. It is as strict as AKS has been at its
// strictest: without a slash at the end of a URL, and with a dot at the end of a name. Sources:
// https://learn.microsoft.com/en-us/azure/aks/http-proxy, of the words
// https://github.com/Azure/AKS/issues/5561, and of names
// https://github.com/fluxcd/kustomize-controller/issues/1623
func checkProxy(c *standin.Call) error {
	given := c.In().Sub("httpProxyConfig")
	for key, name := range map[string]string{"httpProxy": "HTTPProxy", "httpsProxy": "HTTPSProxy"} {
		text := given.Str(key)
		u, err := url.Parse(text)
		scheme := err == nil && (u.Scheme == "http" || u.Scheme == "https" && key == "httpsProxy")
		if text != "" && (!scheme || u.Host == "" || u.User != nil || u.Path != "/" || u.RawQuery != "") {
			return c.Refusef("HTTPProxyWrongUrlError", "The url %s is not correct for the property HTTPProxyConfig.%s", text, name)
		}
	}
	for _, name := range given.List("noProxy") {
		if name == "" || strings.HasSuffix(name, ".") || strings.Contains(name, "*") {
			return c.Refusef("HTTPProxyConfigInputError", "The entry '%s' of the property HTTPProxyConfig.NoProxy is not valid.", name)
		}
	}
	return nil
}

// describeProxy adds what AKS adds to the list of what is reached directly. Source:
// https://github.com/VijayRod/demo/blob/main/container-storage/logs/http-proxy-squid_aks.md
func describeProxy(c *standin.Call) {
	out, given := c.Out(), c.In().Sub("httpProxyConfig")
	if len(given) == 0 {
		return
	}
	profile := out.Sub("networkProfile")
	own := []string{"konnectivity", out.Str("fqdn"), out.Str("privateFQDN"), "localhost", "127.0.0.1", "169.254.169.254", "168.63.129.16", profile.Str("podCidr"), profile.Str("serviceCidr")}
	if vnet := nodeNetwork(c); vnet != nil {
		for _, block := range network.Prefixes(vnet) {
			own = append(own, block.String())
		}
	}
	all := given.List("noProxy")
	for _, name := range own {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	list := make([]any, len(all))
	for i, name := range all {
		list[i] = name
	}
	described := standin.Merged(given, standin.Props{"noProxy": list})
	out["httpProxyConfig"] = map[string]any(described)
}
