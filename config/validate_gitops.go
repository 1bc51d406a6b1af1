package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"tombolo/config/enginefacts"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// minInterval prevents an engine from fetching all the time.
const minInterval = time.Second

// engineInterval is the form of durations in Flux's API, which refuses Go's other units.
var engineInterval = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

func (v *validator) gitops() {
	g := v.c.GitOps
	v.argocd(g)
	if g.TakeOver {
		v.takeOver(g)
	}
	v.sealedSecrets(g.SealedSecrets)
	v.channel(g.Channel)
	if v.c.IsSpoke() {
		return
	}
	if v.doc.Sound("gitops.engine", "gitops.hub") {
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
	if v.doc.Has("gitops.path") {
		v.repositoryPath(g.Path)
	}
	if v.doc.Has("gitops.distribution") {
		v.distribution(g.Distribution)
		v.tested(g)
	}
}

// takeOver checks that there can be an engine of others: on a cluster of theirs.
func (v *validator) takeOver(g GitOps) {
	const at = strict.Path("gitops.takeOver")
	if g.Engine == ArgoCD {
		v.problem(at, "remove it; an Argo CD that is there already goes into gitops.externalHub",
			"is for Flux alone: the settings of Argo CD count for all of its Applications, and would change for those of others, too")
		return
	}
	if !v.c.IsExisting() {
		v.problem(at, "remove it: bootstrap installs the engine", "goes with kubernetes.existing alone: a cluster that core makes has no engine before")
		return
	}
	engine := v.c.EngineNamespace()
	for i, n := range v.c.Namespaces {
		if n.Name == engine {
			v.problem(strict.Path("namespaces").Index(i).Field("name"), "take it out of the file, or remove gitops.takeOver",
				"is the namespace of the engine that is taken over, and belongs to who made it")
		}
	}
}

// tested warns of an engine that upstream does not test with the cluster's
// version of Kubernetes.
func (v *validator) tested(g GitOps) {
	if !v.doc.Sound("gitops.engine", "kubernetes.version") || v.c.IsExisting() { // whose version core reads
		return
	}
	minor := v.c.Kubernetes.Version
	gap, untested := enginefacts.Untested(string(g.Engine), g.Distribution.Version, minor)
	if !untested {
		return
	}
	remedy := "use another kubernetes.version"
	if len(gap.Releases) > 0 {
		remedy = "use a release of " + wording.Or(gap.Releases)
	}
	v.warn("gitops.distribution.version", remedy, "is tested by upstream with Kubernetes %s, and the cluster has %s", wording.And(gap.Tested), minor)
}

// required reports keys of gitops that only a spoke may leave out.
func (v *validator) required(keys ...string) {
	v.requiredKeys("gitops", reflect.TypeFor[GitOps](), keys...)
}

// repository parses the URL; nil if it is unusable.
func (v *validator) repository(raw string) *url.URL {
	at := strict.Path("gitops.url")
	if !v.doc.Sound(at) || !v.doc.Has(at) {
		return nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		v.problem(at, "write it like https://git.example.com/platform.git", "names no host")
		v.doc.Conceal()
	case strings.Trim(u.Path, "/") == "":
		v.problem(at, "add the repository's path", "names no repository")
		v.doc.Conceal()
	case hasPassword(u) || u.User != nil && u.Scheme != "ssh":
		u.User = nil
		v.problem(at, "remove them, and refer to the secret in gitops.auth; the URL alone is "+u.String(),
			"contains credentials, which do not belong in this file")
		v.doc.Conceal()
	case u.RawQuery != "" || u.Fragment != "":
		v.problem(at, "remove what follows the path; the branch is gitops.branch", "has a query or fragment")
		v.doc.Conceal()
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
	at := strict.Path("gitops.auth")
	if !v.doc.Sound(at, at.Field("type")) {
		return
	}
	switch {
	case u.Scheme == "ssh" && auth == nil:
		v.problem(at, "add auth with type: ssh, privateKey and knownHosts", "is required with an ssh:// URL")
	case auth == nil:
	case u.Scheme == "ssh" && auth.Type != AuthSSH:
		v.problem(at.Field("type"), "use ssh, or an https:// URL", "%s does not go with an ssh:// URL", auth.Type)
	case u.Scheme != "ssh" && auth.Type == AuthSSH:
		v.problem(at.Field("type"), "use basic, or an ssh:// URL", "ssh does not go with an %s:// URL", u.Scheme)
	case u.Scheme == "http" && !local(u.Hostname()):
		v.problem("gitops.url", "use https://", "http:// would send the credentials in the clear")
	}
}

// local hosts are names for tests (RFC 6761), on the same machine.
func local(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || strings.HasSuffix(host, ".test") || strings.HasSuffix(host, ".localhost")
}

// branch checks a name by the rules of git-check-ref-format.
func (v *validator) branch(name string) {
	at := strict.Path("gitops.branch")
	plain, isRef := strings.CutPrefix(name, "refs/heads/")
	switch {
	case isRef:
		v.problem(at, "use "+plain, "%s is a ref, and a branch name is expected", wording.Quote(name))
	case !validBranch(name):
		v.problem(at, "use the name that git branch shows", "%s is not a name that Git allows for a branch", wording.Quote(name))
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
	at := strict.Path("gitops.path")
	switch {
	case p == "":
		v.problem(at, "write ./ for the root of the repository", "is empty")
	case strings.HasPrefix(p, "/"):
		v.problem(at, "use "+wording.Quote(strings.TrimLeft(p, "/")), "%s is absolute; it is relative to the repository's root", wording.Quote(p))
	case strings.Contains(p, `\`):
		v.problem(at, "use "+wording.Quote(strings.ReplaceAll(p, `\`, "/")), "%s has backslashes", wording.Quote(p))
	case leaves(p):
		v.problem(at, "use a path inside the repository, such as clusters/dev", "%s has .., which could leave the repository", wording.Quote(p))
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
	at := strict.Path("gitops.interval")
	d, err := time.ParseDuration(s)
	switch {
	case regexp.MustCompile(`^[0-9]+$`).MatchString(s):
		v.problem(at, fmt.Sprintf("add the unit: %ss or %sm", s, s), "%s has no unit", wording.Quote(s))
	case err != nil || !engineInterval.MatchString(s):
		v.problem(at, "use hours, minutes and seconds, such as 1m or 1h30m", "%s is not a duration", wording.Quote(s))
	case d < minInterval:
		v.problem(at, "use 1s or more; 1m is usual", "%s is too short", wording.Quote(s))
	}
}

func (v *validator) distribution(d Distribution) {
	at := strict.Path("gitops.distribution")
	v.chart(at, d)
	if d.Path != "" {
		if v.doc.Has(at.Field("url")) {
			v.problem(at.Field("url"), "keep one of them", "does not go with path, at line %d", v.line(at.Field("path")))
		}
		if filepath.IsAbs(d.Path) {
			v.problem(at.Field("path"), "write it relative to the cluster file", "%s is an absolute path, which other machines do not have", wording.Quote(d.Path))
			return
		}
		v.inProject(at.Field("path"), d.Path, "keep it in the project")
		return
	}
	if d.SHA256 == "" {
		v.problem(at.Field("sha256"), "add the output of sha256sum for the manifest, or path for a local one",
			"is required, so that the installed manifest is the reviewed one")
	}
	if u, err := url.Parse(d.URL); d.URL != "" && v.doc.Sound(at.Field("url")) {
		switch {
		case err != nil || u.Hostname() == "":
			v.problem(at.Field("url"), "write it like https://example.com/install.yaml", "names no host")
			v.doc.Conceal()
		case u.User != nil:
			v.problem(at.Field("url"), "remove them", "contains credentials, which do not belong in this file")
			v.doc.Conceal()
		}
	}
}

// chart refuses a chart for Flux, and values without a chart.
func (v *validator) chart(at strict.Path, d Distribution) {
	if !d.IsChart() {
		if v.doc.Has(at.Field("values")) {
			v.keyProblem(at.Field("values"), "name a packaged chart (.tgz) in url or path, or remove the values",
				"is for a Helm chart, and the distribution is a manifest")
		}
		return
	}
	if v.c.GitOps.Engine == ArgoCD {
		return
	}
	key := at.Field("url")
	if d.Path != "" {
		key = at.Field("path")
	}
	v.problem(key, "name Flux's install.yaml", "is a Helm chart, and Flux is installed from its manifest")
}
