// Package gitaddress compares the addresses of Git repositories, in whichever form they are written.
package gitaddress

import (
	"net/url"
	"regexp"
	"strings"
)

// scpForm is user@host:path, which has no scheme.
var scpForm = regexp.MustCompile(`^([^/:@\s]+@)?([^/:@\s]+):([^\s]+)$`)

// URL is an address as a URL: scp's form, as Git takes it, becomes one with ssh://.
func URL(address string) string {
	m := scpForm.FindStringSubmatch(address)
	if m == nil || strings.Contains(address, "://") {
		return address
	}
	return "ssh://" + m[1] + m[2] + "/" + strings.TrimPrefix(m[3], "/")
}

// IsSCP says whether an address has scp's form, such as git@git.example.com:acme/platform.git.
func IsSCP(address string) bool { return URL(address) != address }

// Same says whether two addresses name one repository: without the user, a default port, .git and upper case, as
// NormalizeGitURL of Argo CD's util/git/git.go does, and by HTTPS and SSH alike, whose ports have nothing to do
// with each other.
func Same(a, b string) bool {
	x, y := read(a), read(b)
	return x.host == y.host && x.path == y.path && (x.scheme != y.scheme || x.port == y.port)
}

// Host is the host that has the repository of an address, in lower case, and not another name by
// which it takes SSH; "" for what is no address of a host.
func Host(address string) string { return read(address).host }

// repository is what an address names. One that is no URL is its path alone.
type repository struct{ scheme, host, port, path string }

// defaultPorts of schemes, which an address may give or not.
var defaultPorts = map[string]string{"ssh": "22", "https": "443", "http": "80"}

// sshHosts are those by which hosts take SSH on the port of HTTPS. Sources:
// https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port,
// https://docs.gitlab.com/user/ssh/ and https://support.atlassian.com/bitbucket-cloud/docs/
var sshHosts = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
}

func read(address string) repository {
	address = strings.ToLower(strings.TrimSpace(address))
	u, err := url.Parse(URL(address))
	if err != nil || u.Host == "" {
		return repository{path: address}
	}
	r := repository{u.Scheme, u.Hostname(), u.Port(), strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")}
	if r.port == defaultPorts[r.scheme] {
		r.port = ""
	}
	if host, ok := sshHosts[r.host]; ok && r.scheme == "ssh" {
		r.host, r.port = host, ""
	}
	return r.ofAzure()
}

// organization.visualstudio.com is what Azure DevOps had before dev.azure.com/organization.
const oldAzure = ".visualstudio.com"

// ofAzure is a repository of Azure DevOps as organization/project/repository, which each of its hosts
// writes in another way; a project's own repository is also written without the project.
// https://learn.microsoft.com/en-us/azure/devops/repos/git/use-ssh-keys-to-authenticate
func (r repository) ofAzure() repository {
	at := r.path
	switch {
	case r.host == "ssh.dev.azure.com", r.host == "vs-ssh"+oldAzure:
		at = strings.TrimPrefix(at, "v3/")
	case strings.HasSuffix(r.host, oldAzure):
		at = strings.TrimSuffix(r.host, oldAzure) + "/" + strings.TrimPrefix(at, "defaultcollection/")
	case r.host != "dev.azure.com":
		return r
	}
	for _, mark := range []string{"/_git/", "/_ssh/"} {
		project, name, marked := strings.Cut(at, mark)
		if marked && !strings.Contains(project, "/") {
			project += "/" + name
		}
		if marked {
			at = project + "/" + name
		}
	}
	return repository{r.scheme, "dev.azure.com", r.port, at}
}
