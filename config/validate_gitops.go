package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// minInterval keeps an engine from doing nothing but fetching.
const minInterval = time.Second

// engineInterval is how Flux's API writes durations; Go's other units it refuses.
var engineInterval = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

func (v *validator) gitops() {
	g := v.c.GitOps
	v.argocd(g)
	if v.c.IsSpoke() {
		return
	}
	if v.sound("gitops.engine", "gitops.hub") {
		v.required("url", "path", "distribution")
	}
	if u := v.repository(g.URL); u != nil {
		v.access(u, g.Auth)
	}
	if g.Auth != nil {
		v.auth(*g.Auth)
	}
	v.branch(g.Branch)
	v.interval(g.Interval)
	if v.doc.has("gitops.path") {
		v.repositoryPath(g.Path)
	}
	if v.doc.has("gitops.distribution") {
		v.distribution(g.Distribution)
	}
}

// required reports keys of gitops that only a spoke may leave out.
func (v *validator) required(keys ...string) {
	at := path("gitops")
	for _, f := range fields(reflect.TypeFor[GitOps]()) {
		key := at.field(f.name)
		if slices.Contains(keys, f.name) && !v.doc.has(key) && v.sound(key) {
			v.doc.unreadable(v.doc.position(at), key, "is required and missing", f.howToAdd())
		}
	}
}

// repository parses the URL; it is nil when that cannot be used.
func (v *validator) repository(raw string) *url.URL {
	at := path("gitops.url")
	if !v.sound(at) || !v.doc.has(at) {
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		v.problem(at, "write it like https://git.example.com/platform.git", "names no host")
		v.doc.conceal()
	case strings.Trim(u.Path, "/") == "":
		v.problem(at, "add the repository's path", "names a host and no repository")
		v.doc.conceal()
	case hasPassword(u) || u.User != nil && u.Scheme != "ssh":
		u.User = nil
		v.problem(at, "remove them, and refer to the secret in gitops.auth; the URL alone is "+u.String(),
			"holds credentials, and this file is no place for them")
		v.doc.conceal()
	case u.RawQuery != "" || u.Fragment != "":
		v.problem(at, "remove what follows the path; the branch is gitops.branch", "has a query or fragment")
		v.doc.conceal()
	default:
		return u
	}
	return nil
}

func hasPassword(u *url.URL) bool {
	_, ok := u.User.Password()
	return ok
}

// access checks that the credentials fit the URL's scheme.
func (v *validator) access(u *url.URL, auth *Auth) {
	at := path("gitops.auth")
	if !v.sound(at, at.field("type")) {
		return
	}
	switch {
	case u.Scheme == "ssh" && auth == nil:
		v.problem(at, "add auth with type: ssh, privateKey and knownHosts", "is required with an ssh:// URL")
	case auth == nil:
	case u.Scheme == "ssh" && auth.Type != AuthSSH:
		v.problem(at.field("type"), "use ssh, or an https:// URL", "%s does not go with an ssh:// URL", auth.Type)
	case u.Scheme != "ssh" && auth.Type == AuthSSH:
		v.problem(at.field("type"), "use basic, or an ssh:// URL", "ssh does not go with an %s:// URL", u.Scheme)
	case u.Scheme == "http" && !local(u.Hostname()):
		v.problem("gitops.url", "use https://", "http:// would send the credentials in the clear")
	}
}

// local hosts are names for tests (RFC 6761), which never leave the machine.
func local(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || strings.HasSuffix(host, ".test") || strings.HasSuffix(host, ".localhost")
}

// branch holds a name to the rules of git-check-ref-format.
func (v *validator) branch(name string) {
	at := path("gitops.branch")
	plain, isRef := strings.CutPrefix(name, "refs/heads/")
	switch {
	case isRef:
		v.problem(at, "use "+plain, "%s is a ref; the branch's name is enough", quote(name))
	case !validBranch(name):
		v.problem(at, "use the name that git branch shows", "%s is not a name that Git allows for a branch", quote(name))
	}
}

var notInBranch = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//`)

func validBranch(name string) bool {
	if name == "" || name == "@" || len(name) > 255 || notInBranch.MatchString(name) || strings.HasPrefix(name, "-") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return true
}

func (v *validator) repositoryPath(p string) {
	at := path("gitops.path")
	switch {
	case p == "":
		v.problem(at, "write ./ for the root of the repository", "is empty")
	case strings.HasPrefix(p, "/"):
		v.problem(at, "use "+quote(strings.TrimLeft(p, "/")), "%s is absolute; it is relative to the repository's root", quote(p))
	case strings.Contains(p, `\`):
		v.problem(at, "use "+quote(strings.ReplaceAll(p, `\`, "/")), "%s has backslashes", quote(p))
	case leaves(p):
		v.problem(at, "use a path inside the repository, such as clusters/dev", "%s has .., which could leave the repository", quote(p))
	}
}

func leaves(p string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(p), "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

func (v *validator) interval(s string) {
	at := path("gitops.interval")
	d, err := time.ParseDuration(s)
	switch {
	case regexp.MustCompile(`^[0-9]+$`).MatchString(s):
		v.problem(at, fmt.Sprintf("add the unit: %ss or %sm", s, s), "%s has no unit", quote(s))
	case err != nil || !engineInterval.MatchString(s):
		v.problem(at, "use hours, minutes and seconds, such as 1m or 1h30m", "%s is not a duration", quote(s))
	case d < minInterval:
		v.problem(at, "use 1s or more; 1m is usual", "%s is too short", quote(s))
	}
}

func (v *validator) distribution(d Distribution) {
	at := path("gitops.distribution")
	v.chart(at, d)
	if d.Path != "" {
		if v.doc.has(at.field("url")) {
			v.problem(at.field("url"), "keep one of them", "does not go with path, at line %d", v.line(at.field("path")))
		}
		if filepath.IsAbs(d.Path) {
			v.problem(at.field("path"), "write it relative to the cluster file", "%s is an absolute path, which other machines do not have", quote(d.Path))
		}
		return
	}
	if d.SHA256 == "" {
		v.problem(at.field("sha256"), "add the sum that sha256sum prints for the manifest, or path for a local one",
			"is required: what is installed must be what was reviewed")
	}
	if u, err := url.Parse(d.URL); d.URL != "" && v.sound(at.field("url")) {
		switch {
		case err != nil || u.Hostname() == "":
			v.problem(at.field("url"), "write it like https://example.com/install.yaml", "names no host")
			v.doc.conceal()
		case u.User != nil:
			v.problem(at.field("url"), "remove them", "holds credentials, and this file is no place for them")
			v.doc.conceal()
		}
	}
}

// chart finds a chart for an engine that is not installed from one, and values
// without a chart.
func (v *validator) chart(at path, d Distribution) {
	if !d.IsChart() {
		if v.doc.has(at.field("values")) {
			v.keyProblem(at.field("values"), "name a packed chart, .tgz, in url or path, or remove the values",
				"is of a Helm chart, and the distribution is a manifest")
		}
		return
	}
	if v.c.GitOps.Engine == ArgoCD {
		return
	}
	key := at.field("url")
	if d.Path != "" {
		key = at.field("path")
	}
	v.problem(key, "name Flux's install.yaml", "is a Helm chart, and Flux is installed from its manifest")
}
