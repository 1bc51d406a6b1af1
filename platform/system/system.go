// Package system is what a team's system may be called and may say, as far as that can be
// told without a cluster: the rules that the check of a platform tree and the command that
// writes a system's file have in common.
package system

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/form"
	"tombolo/config/values"
	"tombolo/internal/names"
)

// Values of a system, as the chart charts/system of the platform tree reads them. Those that
// it has besides are the same for most systems.
type Values struct {
	// Team looks after the system.
	Team string `json:"team"`
	// Group of the cluster's API whose members may look at the system: on AKS the object id of a group
	// of Entra.
	Group string `json:"group"`
	// SignInGroup of Argo CD's identity provider whose members see the system in Argo CD's
	// page. Default: none. Flux has no page.
	SignInGroup string `json:"signInGroup"`
	// Repository that the system's manifests are in.
	Repository Repository `json:"repository"`
	// Channel that is told.
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

// Channel is where a team is told what becomes of its deliveries.
type Channel struct {
	// Type is slack, msteams or generic.
	Type string `json:"type"`
	// Secret of the system's namespace with the address; without one there is no channel.
	Secret string `json:"secret"`
	// Severity from which on the team is told: error, or info for deliveries that succeed, too.
	// Default: error.
	Severity string `json:"severity"`
}

// Types of a channel.
func Types() []string { return []string{"slack", "msteams", "generic"} }

// Severities of a channel.
func Severities() []string { return []string{"error", "info"} }

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

// Check returns what is wrong with the values: a group that may do more than look, or on AKS, which has
// the groups of Entra, one that nobody is a member of; credentials in Git, or in clear on their way;
// connections to what is the platform's.
func (v Values) Check(entra bool) []Problem {
	if strings.HasPrefix(v.Group, "system:") {
		return []Problem{{[]string{"group"}, v.Group, "group is one of Kubernetes' own, which has rights beyond the system", "name the team's own group"}}
	}
	if problem := v.checkEntraGroup(); entra && problem != nil {
		return []Problem{*problem}
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

// checkEntraGroup returns what is wrong with the group on AKS, where tokens name groups by their object ids
// alone: https://learn.microsoft.com/azure/aks/azure-ad-rbac. What stands for a value of another stack is
// not looked at.
func (v Values) checkEntraGroup() *Problem {
	lower := strings.ToLower(v.Group)
	remedy := "give its object id, which `az ad group show --group <name> --query id` prints"
	switch {
	case v.Group == "" || form.UUID.MatchString(v.Group) || values.IsExample(v.Group):
		return nil
	case form.UUID.MatchString(lower):
		remedy = "write it in lower case: " + lower
	}
	return &Problem{[]string{"group"}, v.Group, fmt.Sprintf("group is %q, and AKS knows groups of Entra by their object ids alone: it would have no members", v.Group), remedy}
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

// Connection is what pods of a system may connect to, besides DNS and their own namespace: the
// pods of a namespace, or a range of addresses.
type Connection struct {
	// Namespace whose pods they are; it has to let the system in, too.
	Namespace string `json:"namespace"`
	// CIDR of IPv4; 0.0.0.0/0 is the internet without private addresses.
	CIDR string `json:"cidr"`
	// Ports of Protocol. Default: all, of all protocols.
	Ports []int `json:"ports"`
	// Protocol is TCP or UDP. Default: TCP.
	Protocol string `json:"protocol"`
}

const (
	// Internet is all addresses but those that are near: the chart leaves them out.
	Internet = "0.0.0.0/0"
	// podIdentities gives a pod with an association of EKS Pod Identity its own role's
	// credentials, and no other: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
	podIdentities = "169.254.170.23/32"
)

// ofTheNode are addresses that answer a node, or a pod as if it were one: of the metadata
// service, which gives the node's own rights, and of Azure's agents.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
// https://learn.microsoft.com/en-us/azure/virtual-machines/instance-metadata-service
// https://learn.microsoft.com/en-us/azure/virtual-network/what-is-ip-address-168-63-129-16
func ofTheNode() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("168.63.129.16/32")}
}

// CheckConnections returns what is wrong with whom a system's pods may connect to.
func CheckConnections(all []Connection) []Problem {
	var found []Problem
	for _, c := range all {
		if p := c.check(); p.Message != "" {
			p.Path = append([]string{"allowTo", "[]"}, p.Path...)
			found = append(found, p)
		}
	}
	return found
}

func (c Connection) check() Problem {
	switch {
	case c.Namespace != "" && c.CIDR != "":
		return Problem{[]string{"cidr"}, c.CIDR, "allowTo has a namespace and a range of addresses in one entry", "give each an entry of its own"}
	case c.Namespace != "" && (!nameForm.MatchString(c.Namespace) || Reserved(c.Namespace)):
		return Problem{
			[]string{"namespace"},
			c.Namespace, fmt.Sprintf("allowTo names %s, which is the platform's or no namespace", c.Namespace),
			"name the namespace of a system or of an app; systems reach pages of the platform by their hosts, in " + Internet,
		}
	case c.Namespace == "" && c.CIDR != "":
		if message, remedy := checkRange(c.CIDR); message != "" {
			return Problem{[]string{"cidr"}, c.CIDR, message, remedy}
		}
	}
	if i := slices.IndexFunc(c.Ports, func(port int) bool { return port < 1 || port > 65535 }); i >= 0 {
		return Problem{[]string{"ports", "[]"}, fmt.Sprint(c.Ports[i]), fmt.Sprintf("allowTo has the port %d", c.Ports[i]), "give a port from 1 to 65535"}
	}
	return Problem{}
}

// checkRange returns what is wrong with a range of addresses.
func checkRange(cidr string) (message, remedy string) {
	at, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil || !at.Addr().Is4() || at != at.Masked():
		return fmt.Sprintf("allowTo has %q, which is no range of IPv4 addresses", cidr), "give it as 10.60.0.0/16, with zeros where the range is free"
	case cidr == Internet || cidr == podIdentities:
		return "", ""
	case slices.ContainsFunc(ofTheNode(), at.Overlaps):
		return fmt.Sprintf("allowTo has %s, in which the node's metadata is: pods would get the rights of the node by it", cidr),
			"leave it out; a pod gets a role of its own, of which " + podIdentities + " gives the credentials with EKS Pod Identity"
	case at.Bits() < 8:
		return fmt.Sprintf("allowTo has %s, which is more than a network", cidr), "name " + Internet + " for the internet, and private networks by themselves"
	}
	return "", ""
}

// Named is one of the systems of a tree.
type Named struct {
	Name   string
	Values Values
}

// Meeting is what a system has that is another team's or the platform's, too.
type Meeting struct {
	// At is the place of the system among those that were compared.
	At int
	Problem
}

// Together returns what systems of two teams have in common and should not: the later one
// of two is said to have what is the earlier one's. pages are the platform's by
// their hosts, which no system may take.
func Together(all []Named, pages map[string]string) []Meeting {
	var met []Meeting
	for i, s := range all {
		for _, p := range s.takes(pages) {
			met = append(met, Meeting{i, p})
		}
		for _, other := range all[:i] {
			if other.Values.Team == s.Values.Team {
				continue
			}
			for _, p := range s.meets(other) {
				met = append(met, Meeting{i, p})
			}
		}
	}
	return met
}

// meets is what a system has that is another's.
func (s Named) meets(other Named) []Problem {
	var found []Problem
	if s.Values.Group == other.Values.Group {
		found = append(found, Problem{
			[]string{"group"},
			s.Values.Group,
			fmt.Sprintf("the group %s is that of system %s, too, of another team (%s)", s.Values.Group, other.Name, other.Values.Team),
			"give each team a group of its own: its members may look at the system",
		})
	}
	if s.Values.SignInGroup != "" && s.Values.SignInGroup == other.Values.SignInGroup {
		found = append(found, Problem{
			[]string{"signInGroup"},
			s.Values.SignInGroup,
			fmt.Sprintf("the group %s is that of system %s, too, of another team (%s)", s.Values.SignInGroup, other.Name, other.Values.Team),
			"give each team a group of its own: its members see the system in Argo CD's page",
		})
	}
	if s.Values.Directory() == other.Values.Directory() {
		found = append(found, Problem{
			[]string{"repository", "url"},
			s.Values.Repository.URL,
			"system " + other.Name + " of another team delivers the same directory of the same branch",
			"give each team a directory, a branch or a repository of its own",
		})
	}
	for _, host := range s.Values.Hosts {
		for _, theirs := range other.Values.Hosts {
			if covers(host, theirs) || covers(theirs, host) {
				found = append(found, Problem{
					[]string{"hosts"},
					host,
					fmt.Sprintf("the host %s may be taken by system %s of another team, too%s", host, other.Name, unlessSame(host, theirs)),
					"give each host to one team: a gateway sends what is for it to either",
				})
			}
		}
	}
	return found
}

// takes is what a system has of the platform's pages.
func (s Named) takes(pages map[string]string) []Problem {
	var found []Problem
	for _, host := range s.Values.Hosts {
		for _, page := range slices.Sorted(maps.Keys(pages)) {
			if covers(host, page) {
				found = append(found, Problem{
					[]string{"hosts"},
					host,
					fmt.Sprintf("the host %s is that of the platform's %s%s", host, pages[page], unlessSame(host, page)),
					"give the system another host: people would sign in at the system's page",
				})
			}
		}
	}
	return found
}

// unlessSame is the other host in brackets; "" when it is the same.
func unlessSame(host, other string) string {
	if host == other {
		return ""
	}
	return " (" + other + ")"
}

// covers says that a host is another, or a wildcard with the other below it.
func covers(host, other string) bool {
	below, wild := strings.CutPrefix(host, "*")
	return host == other || wild && strings.HasSuffix(other, below)
}
