// Package system is what a team's system may be called and may say, as far as that can be
// told without a cluster: the rules that the check of a platform tree and the command that
// writes a system's file have in common.
package system

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/internal/names"
)

// Values of a system, as the chart charts/system of the platform tree reads them. Those that
// it has besides are the same for most systems.
type Values struct {
	// Team looks after the system.
	Team string `json:"team"`
	// Group of the cluster's API whose members may look at the system.
	Group string `json:"group"`
	// SignInGroup of Argo CD's identity provider whose members see the system in Argo CD's
	// page. Default: none. Flux has no page.
	SignInGroup string `json:"signInGroup"`
	// Repository that the system's manifests are in.
	Repository Repository `json:"repository"`
	// Channel that hears of failures.
	Channel Channel `json:"channel"`
	// Hosts that its routes and Ingresses may take. Default: none. With Flux they are in an
	// annotation of its Namespace, which the chart does not make.
	Hosts []string `json:"hosts"`
	// AllowTo is what its pods may connect to, besides DNS and their own namespace. Default:
	// nothing.
	AllowTo []Connection `json:"allowTo"`
}

// Repository is where a system's manifests are.
type Repository struct {
	// URL of the repository: https or ssh, or http for one that needs no credentials.
	URL string `json:"url"`
	// Branch that is delivered. Default: main.
	Branch string `json:"branch"`
	// Path of the manifests in it. Default: its root.
	Path string `json:"path"`
	// Secret of the system's namespace with the credentials; "" without any.
	Secret string `json:"secret"`
}

// Channel is where a team is told of failures.
type Channel struct {
	// Type is slack, msteams or generic.
	Type string `json:"type"`
	// Secret of the system's namespace with the address; without one there is no channel.
	Secret string `json:"secret"`
}

// Types of a channel.
func Types() []string { return []string{"slack", "msteams", "generic"} }

// Problem is why a system cannot be set up as it is.
type Problem struct {
	// Path of the value that is wrong, below the release; nil for the name.
	Path []string
	// Value that it has.
	Value string
	// Message says what is wrong, Remedy what to do.
	Message, Remedy string
}

// nameForm is that of a namespace. Helm bounds the names of releases to 53 characters
// (https://helm.sh/docs/chart_template_guide/getting_started/).
var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?$`)

// CheckName returns what is wrong with a name, which is also that of the namespace.
func CheckName(name string) []Problem {
	switch {
	case !nameForm.MatchString(name):
		return []Problem{{Value: name, Message: fmt.Sprintf("%q is no name of a system", name), Remedy: "use lower-case letters, digits and dashes, 53 at most"}}
	case strings.Contains(name, "--"):
		// In a key vault two dashes end the name of a system: see the policy tombolo-system-secrets.
		return []Problem{{Value: name, Message: fmt.Sprintf("%q has two dashes in a row", name), Remedy: "give the system a name without: in a key vault its secrets would be another system's, too"}}
	case Reserved(name):
		return []Problem{{Value: name, Message: "the namespace " + name + " is the platform's", Remedy: "give the system another name"}}
	}
	return nil
}

// Reserved says whether a namespace is Kubernetes' or the platform's.
func Reserved(name string) bool {
	ours := []string{"default", names.FluxNamespace, names.ArgoCDNamespace, names.SystemsNamespace, names.SpokeNamespace}
	return slices.Contains(ours, name) || strings.HasPrefix(name, "kube-") ||
		slices.ContainsFunc(addon.All(), func(a *addon.Addon) bool { return a.Namespace == name })
}

// Check returns what is wrong with the values: a group that may do more than look,
// credentials in Git, or in clear on their way, connections to what is the platform's.
func (v Values) Check() []Problem {
	if strings.HasPrefix(v.Group, "system:") {
		return []Problem{{[]string{"group"}, v.Group, "group is one of Kubernetes' own, which has rights beyond the system", "name the team's own group"}}
	}
	at := []string{"repository", "url"}
	r := v.Repository
	address, err := url.Parse(r.URL)
	switch {
	case err != nil || address.Host == "" || !slices.Contains([]string{"https", "http", "ssh"}, address.Scheme):
		return []Problem{{at, r.URL, "repository.url is no address of a repository", "give it as https://host/path or ssh://git@host/path"}}
	case address.Scheme != "ssh" && address.User != nil:
		return []Problem{{at, r.URL, "repository.url holds credentials", "take them out of the address, and put them into a Secret: see docs/guide/systems.md"}}
	case address.Scheme == "http" && r.Secret != "":
		return []Problem{{at, r.URL, "repository.url sends the credentials of Secret " + r.Secret + " in clear", "use https"}}
	}
	return CheckConnections(v.AllowTo)
}

// hostForm is that of a host in routes and Ingresses, which may begin with a wildcard.
// https://gateway-api.sigs.k8s.io/reference/spec/#hostname
var hostForm = regexp.MustCompile(`^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)

// CheckHosts returns what is wrong with hosts.
func CheckHosts(hosts []string) []Problem {
	for _, host := range hosts {
		if !hostForm.MatchString(host) {
			return []Problem{{[]string{"hosts"}, host, fmt.Sprintf("%q is no host name", host), "give a name such as shop.example.com, or *.shop.example.com for all below one"}}
		}
	}
	return nil
}

// signInGroupForm is that of a group in a policy of Argo CD, which is CSV:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/
var signInGroupForm = regexp.MustCompile(`^[^\s,"#]([^,"\r\n]*[^\s,"])?$`)

// CheckSignInGroup returns what is wrong with a group of Argo CD's identity provider, as the
// schema of the chart charts/system of Argo CD's tree has it. "" is none.
func CheckSignInGroup(group string) []Problem {
	role := strings.HasPrefix(group, "role:") || strings.HasPrefix(group, "proj:")
	if group == "" || signInGroupForm.MatchString(group) && !role {
		return nil
	}
	return []Problem{{
		[]string{"signInGroup"},
		group,
		fmt.Sprintf("signInGroup is %q, which is no name of a group for a policy of Argo CD", group),
		"give it as the provider names it, without commas and quotes",
	}}
}

// Directory is what the system delivers, in a form that is the same for the same directory.
func (v Values) Directory() string {
	branch := v.Repository.Branch
	if branch == "" {
		branch = "main"
	}
	dir := strings.Trim(strings.TrimPrefix(v.Repository.Path, "./"), "/")
	return strings.Join([]string{strings.TrimSuffix(strings.TrimSuffix(v.Repository.URL, "/"), ".git"), branch, dir}, " ")
}
