package addon

// conditions of a statement: by operator and key, the values.
type conditions = map[string]map[string][]string

// resourceTag holds for what carries the tag.
func resourceTag(key, value string) conditions {
	return conditions{"StringEquals": {"aws:ResourceTag/" + key: {value}}}
}

// requestTag holds for requests that put the tag on what they make.
func requestTag(key, value string) conditions {
	return conditions{"StringEquals": {"aws:RequestTag/" + key: {value}}}
}

// newTag holds for tagging what one of the actions, such as CreateVolume, is
// just making. service is the prefix of the condition key.
func newTag(service, key, value string, actions ...string) conditions {
	c := requestTag(key, value)
	c["StringEquals"][service+":CreateAction"] = actions
	return c
}

// inRegion holds for requests to the cluster's region.
func (f Facts) inRegion() conditions {
	return conditions{"StringEquals": {"aws:RequestedRegion": {f.Region}}}
}

// through holds for requests that one of the services makes to KMS for the
// caller, in the cluster's region.
func (f Facts) through(services ...string) conditions {
	var names []string
	for _, s := range services {
		// Both of AWS's domains, as the partition decides.
		names = append(names, s+"."+f.Region+".amazonaws.com", s+"."+f.Region+".amazonaws.com.cn")
	}
	return conditions{"StringEquals": {"kms:ViaService": names}}
}
