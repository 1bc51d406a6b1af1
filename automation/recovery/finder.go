package recovery

import (
	"context"
	"strings"

	"tombolo/config"
)

// Cloud is what a recovery asks of a provider of clouds.
type Cloud interface {
	// Finder returns how resources of a type are found again; false when nothing
	// identifies them.
	Finder(token string) (Finder, bool)
	// Lookup lists the cloud's resources that have an identity as their owner's tag,
	// and what the queries find besides.
	Lookup(ctx context.Context, c *config.Cluster, owner string, queries []Query) ([]Sighting, error)
	// LookupRight is what has to be allowed to the credentials for a lookup.
	LookupRight() string
	// Owner is the identity in the owner's tag of a resource, given its outputs; false
	// when resources of its type have no tags.
	Owner(outputs map[string]any) (id string, tagged bool)
}

// Finder says how a resource is found again whose creation was interrupted:
// its id follows from its inputs, or it is looked up, or its creation starts
// again. It has exactly one of ID, Match and Again.
type Finder struct {
	// ID derives the id; empty when an input is missing. It is the id the
	// provider reads by, in import form where the two differ.
	ID func(in Inputs, c *config.Cluster) string
	// Match says whether what the cloud has is the resource with the inputs, and
	// under which id that is read.
	Match func(s Sighting, in Inputs) (id string, ok bool)
	// Query is what has to be asked for a resource without tags; false when an
	// input is missing. nil for what is found by its tags.
	Query func(in Inputs) (Query, bool)
	// Again says that a creation may as well happen twice.
	Again bool
}

// Query asks for the network interfaces in a subnet with a description, in which
// an asterisk stands for any text.
type Query struct{ Subnet, Description string }

// Sighting is a cloud resource as it was looked up: with its tags, or a network
// interface with its description.
type Sighting struct {
	// CloudID is the id of the resource in the whole cloud, such as an ARN.
	CloudID string
	// SubnetID and Description of a network interface.
	SubnetID, Description string
	// Tags of the resource.
	Tags map[string]string
}

// finderFor returns the finder of a type. Objects of Kubernetes have their ids
// on every cloud.
func finderFor(cloud Cloud, token string) (Finder, bool) {
	if strings.HasPrefix(token, "kubernetes:") {
		return Finder{ID: kubernetesID}, !strings.HasSuffix(token, "Patch")
	}
	return cloud.Finder(token)
}

// kubernetesID is namespace/name, or name for what has no namespace.
func kubernetesID(in Inputs, _ *config.Cluster) string {
	metadata, _ := in["metadata"].(map[string]any)
	name, namespace := Inputs(metadata).String("name"), Inputs(metadata).String("namespace")
	if name == "" || namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// Inputs of a resource, as they are in a state.
type Inputs map[string]any

// String is a string input; empty when it is missing or encrypted.
func (in Inputs) String(key string) string {
	s, _ := in[key].(string)
	return s
}

// Tags the resource is made with.
func (in Inputs) Tags() map[string]string {
	out := map[string]string{}
	given, _ := in["tags"].(map[string]any)
	for k, v := range given {
		// __defaults is the provider's own bookkeeping.
		if s, ok := v.(string); ok && !strings.HasPrefix(k, "__") {
			out[k] = s
		}
	}
	return out
}
