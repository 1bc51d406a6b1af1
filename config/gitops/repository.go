package gitops

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
	"tombolo/internal/gitaddress"
	"tombolo/internal/wording"
)

// minInterval prevents an engine from fetching all the time.
const minInterval = time.Second

// engineInterval is the form of durations in Flux's API, which refuses Go's other units.
var engineInterval = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

// colonForSlash is scp's form of an address with ssh:// before it: a path follows the colon,
// where a URL has a port.
var colonForSlash = regexp.MustCompile(`^ssh://([^/:@]+@)?([^/:@]+):([^/@]*[^/@0-9][^/@]*/[^@]+)$`)

// checkRepository parses the URL; nil if it is unusable. Argo CD takes scp's form, and the definition of Flux's
// GitRepository refuses it.
func checkRepository(v *check.File, engine Engine, raw string) *url.URL {
	at := strict.Path("gitops.url")
	if !v.Doc.Sound(at) || !v.Doc.Has(at) {
		return nil
	}
	u, err := url.Parse(gitaddress.URL(raw))
	colon := colonForSlash.FindStringSubmatch(raw)
	switch {
	case gitaddress.IsSCP(raw) && engine == Flux:
		v.Problem(at, form.URLAdvice(raw), "has scp's form, which Flux does not take")
		v.Doc.Conceal()
	case colon != nil:
		v.Problem(at, fmt.Sprintf("write it as ssh://%s%s/%s", colon[1], colon[2], colon[3]), "has a colon after the host, and no port follows it")
		v.Doc.Conceal()
	case err != nil || u.Hostname() == "":
		v.Problem(at, "write it like https://git.example.com/platform.git", "names no host")
		v.Doc.Conceal()
	case strings.Trim(u.Path, "/") == "":
		v.Problem(at, "add the repository's path", "names no repository")
		v.Doc.Conceal()
	case hasPassword(u) || u.User != nil && u.Scheme != "ssh":
		u.User = nil
		v.Problem(at, "remove them, and refer to the secret in gitops.auth; the URL alone is "+u.String(),
			"contains credentials, which do not belong in this file")
		v.Doc.Conceal()
	case u.RawQuery != "" || u.Fragment != "":
		v.Problem(at, "remove what follows the path; the branch is gitops.branch", "has a query or fragment")
		v.Doc.Conceal()
	default:
		return u
	}
	return nil
}

func hasPassword(u *url.URL) bool {
	_, ok := u.User.Password()
	return ok
}

// local hosts are names for tests (RFC 6761), on the same machine.
func local(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || strings.HasSuffix(host, ".test") || strings.HasSuffix(host, ".localhost")
}

// checkBranch checks a name by the rules of git-check-ref-format.
func checkBranch(v *check.File, name string) {
	at := strict.Path("gitops.branch")
	plain, isRef := strings.CutPrefix(name, "refs/heads/")
	switch {
	case isRef:
		v.Problem(at, "use "+plain, "%s is a ref, and a branch name is expected", wording.Quote(name))
	case !validBranch(name):
		v.Problem(at, "use the name that git branch shows", "%s is not a name that Git allows for a branch", wording.Quote(name))
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

func checkRepositoryPath(v *check.File, p string) {
	at := strict.Path("gitops.path")
	switch {
	case p == "":
		v.Problem(at, "write ./ for the root of the repository", "is empty")
	case strings.HasPrefix(p, "/"):
		v.Problem(at, "use "+wording.Quote(strings.TrimLeft(p, "/")), "%s is absolute; it is relative to the repository's root", wording.Quote(p))
	case strings.Contains(p, `\`):
		v.Problem(at, "use "+wording.Quote(strings.ReplaceAll(p, `\`, "/")), "%s has backslashes", wording.Quote(p))
	case leaves(p):
		v.Problem(at, "use a path inside the repository, such as clusters/dev", "%s has .., which could leave the repository", wording.Quote(p))
	}
}

func leaves(p string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
}

func checkInterval(v *check.File, s string) {
	at := strict.Path("gitops.interval")
	d, err := time.ParseDuration(s)
	switch {
	case regexp.MustCompile(`^[0-9]+$`).MatchString(s):
		v.Problem(at, fmt.Sprintf("add the unit: %ss or %sm", s, s), "%s has no unit", wording.Quote(s))
	case err != nil || !engineInterval.MatchString(s):
		v.Problem(at, "use hours, minutes and seconds, such as 1m or 1h30m", "%s is not a duration", wording.Quote(s))
	case d < minInterval:
		v.Problem(at, "use 1s or more; 1m is usual", "%s is too short", wording.Quote(s))
	}
}

func checkDistribution(v *check.File, engine Engine, d Distribution) {
	at := strict.Path("gitops.distribution")
	checkChart(v, at, engine, d)
	if d.Path != "" {
		if v.Doc.Has(at.Field("url")) {
			v.Problem(at.Field("url"), "keep one of them", "does not go with path, at %s", v.Line(at.Field("path")))
		}
		if filepath.IsAbs(d.Path) {
			v.Problem(at.Field("path"), "write it relative to the cluster file", "%s is an absolute path, which other machines do not have", wording.Quote(d.Path))
			return
		}
		secret.CheckFile(v, at.Field("path"), d.Path, "keep it in the project")
		return
	}
	if d.SHA256 == "" {
		v.Problem(at.Field("sha256"), "add the output of sha256sum for the manifest, or path for a local one",
			"is required, so that the installed manifest is the reviewed one")
	}
	if u, err := url.Parse(d.URL); d.URL != "" && v.Doc.Sound(at.Field("url")) {
		switch {
		case err != nil || u.Hostname() == "":
			v.Problem(at.Field("url"), "write it like https://example.com/install.yaml", "names no host")
			v.Doc.Conceal()
		case u.User != nil:
			v.Problem(at.Field("url"), "remove them", "contains credentials, which do not belong in this file")
			v.Doc.Conceal()
		}
	}
}

// checkChart refuses a chart for Flux, and values without a chart.
func checkChart(v *check.File, at strict.Path, engine Engine, d Distribution) {
	if !d.IsChart() {
		if v.Doc.Has(at.Field("values")) {
			v.KeyProblem(at.Field("values"), "name a packaged chart (.tgz) in url or path, or remove the values",
				"is for a Helm chart, and the distribution is a manifest")
		}
		return
	}
	if engine == ArgoCD {
		return
	}
	key := at.Field("url")
	if d.Path != "" {
		key = at.Field("path")
	}
	v.Problem(key, "name Flux's install.yaml", "is a Helm chart, and Flux is installed from its manifest")
}
