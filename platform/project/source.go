package project

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"tombolo/internal/gitaddress"
)

// PinFile has the checksums of the release that everybody uses, in the form of SHA256SUMS.
const PinFile = "tombolo.sha256"

// Release is a version of Go's build information as that of a release, such as v1.2.3; "" for a build
// between releases.
func Release(version string) string {
	if !semver.IsValid(version) || module.IsPseudoVersion(version) || semver.Build(version) != "" {
		return ""
	}
	return version
}

// pin is the lines of the release's archives.
func (o Options) pin() (string, error) {
	if o.Version == "" {
		return "", errors.New("this tombolo is a build between releases, whose archives have no checksums")
	}
	archive := regexp.MustCompile(`^[0-9a-f]{64} [ *]tombolo(-tools)?_` + regexp.QuoteMeta(strings.TrimPrefix(o.Version, "v")) + `_[a-z0-9]+_[a-z0-9]+\.tar\.gz\n?$`)
	var out strings.Builder
	for line := range bytes.Lines(o.Checksums) {
		if archive.Match(line) {
			out.WriteString(strings.TrimSuffix(string(line), "\n") + "\n")
		}
	}
	if out.Len() == 0 {
		return "", fmt.Errorf("the checksums have no archive of tombolo %s", o.Version)
	}
	return out.String(), nil
}

// The schemes of Pulumi's own states, of its service, and of its key services: backend/diy/backend.go and
// secrets/cloud/manager.go of github.com/pulumi/pulumi/pkg/v3 v3.250.0, with the drivers that they import.
var (
	backendForm  = regexp.MustCompile(`^((s3|gs|azblob|postgres|https?)://[^/?\s]\S*|file://\S+)$`)
	providerForm = regexp.MustCompile(`^(passphrase|default|(awskms|azurekeyvault|gcpkms|hashivault)://\S+)$`)
)

// CheckBackend refuses what is no URL of a Pulumi state.
func CheckBackend(url string) error {
	if !backendForm.MatchString(url) {
		return fmt.Errorf("%q is no URL of a Pulumi state; give one such as s3://<bucket>, azblob://<container>, gs://<bucket>, https://<host> or file://<path>", url)
	}
	return nil
}

// CheckSecretsProvider refuses what encrypts no secrets of a state.
func CheckSecretsProvider(provider string) error {
	if !providerForm.MatchString(provider) {
		return fmt.Errorf("%q is no key service of Pulumi; give passphrase, or a URL with awskms://, azurekeyvault://, gcpkms:// or hashivault://", provider)
	}
	return nil
}

// Attached says that the source's releases are those of GitHub, or of a GitHub of one's own: the
// project's own workflow publishes there, and Renovate knows no checksums of other hosts' releases.
func (o Options) Attached() bool {
	return o.Source != "" && HostOf("https://"+o.Source) != "gitlab" && HostOf("https://"+o.Source) != "azure-devops"
}

// SourceHost of the source, such as github.com.
func (o Options) SourceHost() string { host, _, _ := strings.Cut(o.Source, "/"); return host }

// SourcePath is the source's path at its host, such as acme/tombolo.
func (o Options) SourcePath() string { _, path, _ := strings.Cut(o.Source, "/"); return path }

// Repo is the source as gh takes it: with the host, unless that is GitHub's own.
func (o Options) Repo() string { return strings.TrimPrefix(o.Source, "github.com/") }

// HostOf is the host of pipelines that an address shows; "" when it shows none.
func HostOf(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return ""
	case u.Hostname() == "github.com":
		return "github"
	case slices.Contains(strings.Split(u.Hostname(), "."), "gitlab"):
		return "gitlab"
	case u.Hostname() == "dev.azure.com" || strings.HasSuffix(u.Hostname(), ".visualstudio.com"):
		return "azure-devops"
	}
	return ""
}

// HTTPS is the address by which an engine reads a repository with a token: of one for SSH, the same
// repository's, without a user.
func HTTPS(address string) string {
	u, err := url.Parse(gitaddress.URL(address))
	if err != nil || u.Host == "" {
		return address
	}
	_, password := u.User.Password()
	switch {
	case password: // of which validation says that it does not belong into a file
		return address
	case u.Scheme == "ssh" && strings.HasSuffix(u.Hostname(), "ssh.dev.azure.com"):
		// v3/<organization>/<project>/<repository>: https://learn.microsoft.com/azure/devops/repos/git/use-ssh-keys-to-authenticate
		if part := strings.Split(strings.Trim(u.Path, "/"), "/"); len(part) == 4 {
			return "https://dev.azure.com/" + part[1] + "/" + part[2] + "/_git/" + part[3]
		}
		return address
	case u.Scheme == "ssh":
		u.Scheme, u.Host = "https", u.Hostname() // the port is SSH's
	}
	u.User = nil
	return u.String()
}
