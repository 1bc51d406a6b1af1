// Package gitaddress compares the addresses of Git repositories, in whichever form they are written.
package gitaddress

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	// scpForm is user@host:path, which has no scheme.
	scpForm = regexp.MustCompile(`^(?:[^/:@]+@)?([^/:@]+):([^/].*|/.*)$`)
	// oldAzure are hosts that Azure DevOps had before dev.azure.com.
	oldAzure = regexp.MustCompile(`^([^.]+)\.visualstudio\.com$`)
)

// defaultPorts of schemes, which an address may give or not.
var defaultPorts = map[string]string{"ssh": "22", "https": "443", "http": "80"}

// Same says whether two addresses name one repository: in any form that
// NormalizeGitURL of Argo CD's util/git/git.go takes for one, and without the user,
// a default port and Azure DevOps' older host.
func Same(a, b string) bool { return normalize(a) == normalize(b) }

func normalize(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	if m := scpForm.FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		address = "ssh://" + m[1] + "/" + strings.TrimPrefix(m[2], "/")
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	host, at := u.Host, strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), ".git")
	if port, ok := defaultPorts[u.Scheme]; ok {
		host = strings.TrimSuffix(host, ":"+port)
	}
	if host == "vs-ssh.visualstudio.com" {
		host = "ssh.dev.azure.com"
	} else if m := oldAzure.FindStringSubmatch(host); m != nil {
		host, at = "dev.azure.com", "/"+m[1]+strings.TrimPrefix(at, "/defaultcollection")
	}
	return u.Scheme + "://" + host + at
}
