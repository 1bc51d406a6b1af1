package system

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
