package automation

import (
	"strconv"
	"strings"

	"tombolo/config"
)

// finder says how a resource is found again whose creation was interrupted:
// its id follows from its inputs, or it is looked up by its tags or its network
// interface, or its creation starts again. It has exactly one of id, arn,
// attached and again.
type finder struct {
	// id derives the id; empty when an input is missing. It is the id the
	// provider reads by, in import form where the two differ.
	id func(in inputs, s scope) string
	// arn is the "service:type" in the ARNs of resources looked up by tag,
	// such as ec2:vpc.
	arn string
	// importID makes the id to read by from the ARN and its last part.
	// Default: that part.
	importID func(arn, part string, in inputs) string
	// attached describes the network interface that AWS makes for a resource
	// without tags, in the subnet of its inputs: the text holds the id in place
	// of the asterisk. It is empty when an input is missing.
	attached func(in inputs) string
	// again says that a creation may as well happen twice.
	again bool
}

// scope is where a cluster's resources are, for ids that are ARNs or URLs.
type scope struct {
	partition, region, account string
}

func scopeOf(c *config.Cluster) scope {
	return scope{partition: config.Partition(c.Cloud.Region), region: c.Cloud.Region, account: c.Cloud.Account}
}

// joined derives an id from inputs with a separator between.
func joined(sep string, keys ...string) finder {
	return finder{id: func(in inputs, _ scope) string {
		parts := make([]string, 0, len(keys))
		for _, k := range keys {
			v := in.str(k)
			if v == "" {
				return ""
			}
			parts = append(parts, v)
		}
		return strings.Join(parts, sep)
	}}
}

// tagged looks a resource up by the tags it is made with.
func tagged(arn string) finder { return finder{arn: arn} }

// finderFor returns the finder of a type.
func finderFor(token string) (finder, bool) {
	if strings.HasPrefix(token, "kubernetes:") && !strings.HasSuffix(token, "Patch") {
		return finder{id: kubernetesID}, true
	}
	f, ok := finders[token]
	return f, ok
}

// sighting is a cloud resource as it was looked up: with its tags, or a network
// interface with its description.
type sighting struct {
	ARN, SubnetID, Description string
	Tags                       map[string]string
}

// lookedUp says whether the cloud has to be asked.
func (f finder) lookedUp() bool { return f.arn != "" || f.attached != nil }

// match says whether the cloud's resource is the one with the inputs, and under
// which id that is read.
func (f finder) match(r sighting, in inputs) (id string, ok bool) {
	if f.attached != nil {
		return f.matchInterface(r, in)
	}
	part, ok := arnPart(r.ARN, f.arn)
	if !ok || !tagsMatch(r.Tags, in.tags()) {
		return "", false
	}
	if f.importID != nil {
		return f.importID(r.ARN, part, in), true
	}
	return part, true
}

// tagsMatch says whether there are all the tags that are wanted. Without tags
// nothing identifies a resource.
func tagsMatch(tags, want map[string]string) bool {
	for k, v := range want {
		if tags[k] != v {
			return false
		}
	}
	return len(want) > 0
}

// matchInterface finds the id in an interface's description.
func (f finder) matchInterface(r sighting, in inputs) (id string, ok bool) {
	before, after, ok := strings.Cut(f.attached(in), "*")
	if !ok || r.SubnetID != in.str("subnetId") {
		return "", false
	}
	rest, begins := strings.CutPrefix(r.Description, before)
	id, ends := strings.CutSuffix(rest, after)
	return id, begins && ends && id != ""
}

// arnPart is the last part of an ARN of the given kind, "service:type".
func arnPart(arn, kind string) (string, bool) {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) < 6 {
		return "", false
	}
	service, resourceType, _ := strings.Cut(kind, ":")
	if fields[2] != service || !strings.HasPrefix(fields[5], resourceType+"/") {
		return "", false
	}
	return fields[5][strings.LastIndexByte(fields[5], '/')+1:], true
}

// inputs of a resource, as they are in a state.
type inputs map[string]any

// str is a string input; empty when it is missing or encrypted.
func (in inputs) str(key string) string {
	s, _ := in[key].(string)
	return s
}

// number is an integer input, in decimal; 0 when it is missing.
func (in inputs) number(key string) string {
	f, _ := in[key].(float64)
	return strconv.FormatInt(int64(f), 10)
}

func (in inputs) or(key, fallback string) string {
	if s := in.str(key); s != "" {
		return s
	}
	return fallback
}

// tags the resource is made with.
func (in inputs) tags() map[string]string {
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
