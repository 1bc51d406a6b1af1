package system

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"shop": "", "a": "", "shop-2": "", strings.Repeat("a", 53): "",
		"":                      `"" is no name of a system`,
		"Shop":                  `"Shop" is no name of a system`,
		"shop-":                 `"shop-" is no name of a system`,
		strings.Repeat("a", 54): `"` + strings.Repeat("a", 54) + `" is no name of a system`,
		"shop--eu":              `"shop--eu" has two dashes in a row`,
		"kube-shop":             "the namespace kube-shop is the platform's",
		"systems":               "the namespace systems is the platform's",
		"flux-system":           "the namespace flux-system is the platform's",
		"keda":                  "the namespace keda is the platform's",
	} {
		got := ""
		for _, p := range CheckName(name) {
			got = p.Message
		}
		assert.Check(t, is.Equal(got, want))
	}
}

func TestAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"https://git.example.com/shop.git":            "",
		"ssh://git@git.example.com/shop.git":          "",
		"git@git.example.com:shop.git":                "repository.url is no address of a repository",
		"file:///shop":                                "repository.url is no address of a repository",
		"https://me:secret@git.example.com/shop.git":  "repository.url holds credentials",
		"https://oauth2:token@git.example.com/s.git":  "repository.url holds credentials",
		"http://git.example.com/shop.git":             "repository.url sends the credentials of Secret git in clear",
		"https://git.example.com:8443/a/b/shop?ref=1": "",
	} {
		got := ""
		for _, p := range (Values{Repository: Repository{URL: url, Secret: "git"}}).Check(false) {
			got = p.Message
		}
		assert.Check(t, is.Equal(got, want), url)
	}
	assert.Check(t, is.Len(Values{Repository: Repository{URL: "http://git.example.com/shop.git"}}.Check(false), 0))
}

// TestGroupsOfEntra: on AKS a group that is no object id has no members.
func TestGroupsOfEntra(t *testing.T) {
	for group, want := range map[string]string{
		"": "", "00000000-0000-4000-8000-0000000000b1": "", "example-sellersGroup": "", // of another stack
		"sellers":                              "give its object id, which `az ad group show --group <name> --query id` prints",
		"oidc:sellers":                         "give its object id, which `az ad group show --group <name> --query id` prints",
		"AB000000-0000-4000-8000-0000000000B1": "write it in lower case: ab000000-0000-4000-8000-0000000000b1",
	} {
		v := Values{Group: group, Repository: Repository{URL: "https://git.example.com/shop.git"}}
		assert.Check(t, is.Len(v.Check(false), 0))
		got := ""
		for _, p := range v.Check(true) {
			got = p.Remedy
			assert.Check(t, is.Contains(p.Message, "AKS knows groups of Entra by their object ids alone"))
		}
		assert.Check(t, is.Equal(got, want), group)
	}
}

func TestSameDirectory(t *testing.T) {
	of := func(url, branch, path string) string {
		return Values{Repository: Repository{URL: url, Branch: branch, Path: path}}.Directory()
	}
	want := of("https://git.example.com/shop.git", "", "")
	for _, same := range []string{of("https://git.example.com/shop", "main", "./"), of("https://git.example.com/shop/", "main", "/")} {
		assert.Check(t, is.Equal(same, want))
	}
	for _, other := range []string{of("https://git.example.com/shop", "dev", ""), of("https://git.example.com/shop", "", "deploy")} {
		assert.Check(t, other != want)
	}
}

func TestTogether(t *testing.T) {
	of := func(name, team, group string, hosts ...string) Named {
		return Named{name, Values{Team: team, Group: group, Repository: Repository{URL: "https://git.example.com/" + name + ".git"}, Hosts: hosts}}
	}
	all := []Named{
		of("shop", "sellers", "sellers", "shop.example.com", "*.shop.example.com"),
		of("shop-2", "sellers", "sellers", "shop.example.com"),
		of("blog", "editors", "editors", "blog.example.com", "shop.example.org", "ashop.example.com", "grafana.example.com"),
		of("news", "writers", "editors", "new.shop.example.com", "blog.example.com"),
	}
	all[2].Values.Repository = all[1].Values.Repository
	all[1].Values.SignInGroup, all[0].Values.SignInGroup, all[3].Values.SignInGroup = "sales", "sales", "sales"
	var got []string
	for _, m := range Together(all, map[string]string{"grafana.example.com": "kube-prometheus-stack", "id.shop.example.com": "authentik"}) {
		got = append(got, all[m.At].Name+" "+strings.Join(m.Path, ".")+": "+m.Message)
	}
	assert.DeepEqual(t, got, []string{
		"shop hosts: the host *.shop.example.com is that of the platform's authentik (id.shop.example.com)",
		"blog hosts: the host grafana.example.com is that of the platform's kube-prometheus-stack",
		"blog repository.url: system shop-2 of another team delivers the same directory of the same branch",
		"news signInGroup: the group sales is that of system shop, too, of another team (sellers)",
		"news hosts: the host new.shop.example.com may be taken by system shop of another team, too (*.shop.example.com)",
		"news signInGroup: the group sales is that of system shop-2, too, of another team (sellers)",
		"news group: the group editors is that of system blog, too, of another team (editors)",
		"news hosts: the host blog.example.com may be taken by system blog of another team, too",
	})
}

func TestHosts(t *testing.T) {
	for host, valid := range map[string]bool{
		"shop.example.com": true, "*.shop.example.com": true, "a-1.example.com": true,
		"": false, "shop": false, "Shop.example.com": false, "shop_1.example.com": false, "*": false,
		"*shop.example.com": false, "shop.*.com": false, "https://shop.example.com": false, "-shop.example.com": false,
	} {
		assert.Check(t, is.Equal(len(CheckHosts([]string{host})) == 0, valid), host)
	}
}

func TestConnections(t *testing.T) {
	for cidr, want := range map[string]string{
		"0.0.0.0/0": "", "10.60.0.0/16": "", "10.0.0.0/8": "", "203.0.113.7/32": "", "169.254.170.23/32": "", "169.0.0.0/9": "",
		"169.254.169.254/32": "in which the node's metadata is",
		"169.254.0.0/16":     "in which the node's metadata is",
		"169.254.170.23/31":  "no range of IPv4 addresses",
		"169.254.170.22/31":  "in which the node's metadata is",
		"169.0.0.0/8":        "in which the node's metadata is",
		"168.63.129.16/32":   "in which the node's metadata is",
		"168.63.0.0/16":      "in which the node's metadata is",
		"168.0.0.0/7":        "in which the node's metadata is",
		"128.0.0.0/1":        "in which the node's metadata is",
		"0.0.0.0/1":          "more than a network",
		"64.0.0.0/2":         "more than a network",
		"10.60.3.4/16":       "no range of IPv4 addresses",
		"10.60.3.4":          "no range of IPv4 addresses",
		"::/0":               "no range of IPv4 addresses",
		"::ffff:0:0/96":      "no range of IPv4 addresses",
		"fd00:ec2::254/128":  "no range of IPv4 addresses",
		"internet":           "no range of IPv4 addresses",
	} {
		got := ""
		for _, p := range CheckConnections([]Connection{{CIDR: cidr}}) {
			got += p.Message
		}
		assert.Check(t, is.Contains(got, want), cidr)
		assert.Check(t, is.Equal(got == "", want == ""), "%s: %s", cidr, got)
	}
	for namespace, valid := range map[string]bool{
		"blog": true, "apps": true, "loki": false, "monitoring": false, "kube-system": false, "default": false, "flux-system": false, "argocd": false, "Blog": false,
	} {
		assert.Check(t, is.Equal(len(CheckConnections([]Connection{{Namespace: namespace}})) == 0, valid), namespace)
	}
	assert.Check(t, is.Len(CheckConnections([]Connection{{Namespace: "blog", Ports: []int{1, 65535}}, {CIDR: "10.0.0.0/8", Ports: []int{65536}}, {Namespace: "blog", CIDR: "10.0.0.0/8"}}), 2))
}
