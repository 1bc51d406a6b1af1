package aws

import (
	"strconv"
	"strings"

	"tombolo/automation/recovery"
)

// finder says how a resource is found again whose creation was interrupted:
// its id follows from its inputs, or it is looked up by its tags or its network
// interface, or its creation starts again. It has exactly one of id, arn,
// attached and again.
type finder struct {
	// id derives the id; empty when an input is missing. It is the id the
	// provider reads by, in import form where the two differ.
	id func(in recovery.Inputs, s scope) string
	// arn is the "service:type" in the ARNs of resources looked up by tag,
	// such as ec2:vpc.
	arn string
	// importID makes the id to read by from the ARN and its last part.
	// Default: that part.
	importID func(arn, part string, in recovery.Inputs) string
	// attached describes the network interface that AWS makes for a resource
	// without tags, in the subnet of its inputs: the text holds the id in place
	// of the asterisk. It is empty when an input is missing.
	attached func(in recovery.Inputs) string
	// again says that a creation may as well happen twice.
	again bool
}

// joined derives an id from inputs with a separator between.
func joined(sep string, keys ...string) finder {
	return finder{id: func(in recovery.Inputs, _ scope) string {
		parts := make([]string, 0, len(keys))
		for _, k := range keys {
			v := in.String(k)
			if v == "" {
				return ""
			}
			parts = append(parts, v)
		}
		return strings.Join(parts, sep)
	}}
}

// byTags looks a resource up by the tags it is made with.
func byTags(arn string) finder { return finder{arn: arn} }

// match says whether the cloud's resource is the one with the inputs, and under
// which id that is read.
func (f finder) match(r recovery.Sighting, in recovery.Inputs) (id string, ok bool) {
	if f.attached != nil {
		return f.matchInterface(r, in)
	}
	part, ok := arnPart(r.CloudID, f.arn)
	if !ok || !tagsMatch(r.Tags, in.Tags()) {
		return "", false
	}
	if f.importID != nil {
		return f.importID(r.CloudID, part, in), true
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
func (f finder) matchInterface(r recovery.Sighting, in recovery.Inputs) (id string, ok bool) {
	before, after, ok := strings.Cut(f.attached(in), "*")
	if !ok || r.SubnetID != in.String("subnetId") {
		return "", false
	}
	rest, begins := strings.CutPrefix(r.Description, before)
	id, ends := strings.CutSuffix(rest, after)
	return id, begins && ends && id != ""
}

// arnPart is the last part of an ARN of the given kind, "service:type".
func arnPart(text, kind string) (string, bool) {
	a, ok := parseARN(text)
	service, resourceType, _ := strings.Cut(kind, ":")
	if !ok || a.service != service || !strings.HasPrefix(a.resource, resourceType+"/") {
		return "", false
	}
	return a.resource[strings.LastIndexByte(a.resource, '/')+1:], true
}

// number is an integer input, in decimal; 0 when it is missing.
func number(in recovery.Inputs, key string) string {
	f, _ := in[key].(float64)
	return strconv.FormatInt(int64(f), 10)
}

func or(in recovery.Inputs, key, fallback string) string {
	if s := in.String(key); s != "" {
		return s
	}
	return fallback
}
