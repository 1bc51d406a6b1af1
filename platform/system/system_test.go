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
		for _, p := range (Values{Repository: Repository{URL: url, Secret: "git"}}).Check() {
			got = p.Message
		}
		assert.Check(t, is.Equal(got, want), url)
	}
	assert.Check(t, is.Len(Values{Repository: Repository{URL: "http://git.example.com/shop.git"}}.Check(), 0))
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

func TestChannels(t *testing.T) {
	assert.Check(t, Retired("https://company.webhook.office.com/webhookb2/x"))
	assert.Check(t, !Retired("https://prod-1.westeurope.logic.azure.com/workflows/x"))
	assert.Check(t, !Retired("webhook.office.com"))
	assert.Check(t, Invented("http://inbox.lab.test/shop"))
	assert.Check(t, !Invented("https://hooks.slack.com/services/x"))
}
