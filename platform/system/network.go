package system

import (
	"fmt"
	"net/netip"
	"slices"
)

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
