package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Resource is a resource of an exported state, or another object in it, as bare JSON.
type Resource = map[string]json.RawMessage

// Rewrite is an exported state with the resources that change makes of its own. It works on the bare JSON,
// so that nothing it does not know is lost.
func Rewrite(raw apitype.UntypedDeployment, change func([]Resource) []Resource) (apitype.UntypedDeployment, error) {
	deployment := map[string]json.RawMessage{}
	if len(raw.Deployment) > 0 {
		if err := json.Unmarshal(raw.Deployment, &deployment); err != nil {
			return raw, fmt.Errorf("read deployment: %w", err)
		}
	}
	var resources []Resource
	if len(deployment["resources"]) > 0 {
		if err := json.Unmarshal(deployment["resources"], &resources); err != nil {
			return raw, fmt.Errorf("read resources of the deployment: %w", err)
		}
	}
	if resources = change(resources); len(resources) > 0 {
		deployment["resources"] = Encode(resources)
	} else {
		delete(deployment, "resources")
	}
	raw.Deployment = Encode(deployment)
	return raw, nil
}

// Edit changes the resources of an exported state in place, and says how many of them
// change says that it changed.
func Edit(raw apitype.UntypedDeployment, change func(Resource) bool) (apitype.UntypedDeployment, int, error) {
	if len(raw.Deployment) == 0 {
		return raw, 0, nil
	}
	n := 0
	raw, err := Rewrite(raw, func(resources []Resource) []Resource {
		for _, r := range resources {
			if change(r) {
				n++
			}
		}
		return resources
	})
	return raw, n, err
}

// DecodeString is a string in JSON; "" when it is no string.
func DecodeString(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Encode encodes strings, and JSON that was decoded before: that cannot fail.
func Encode(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("automation: encode %T: %v", v, err))
	}
	return out
}

// Without is the state without some resources, and without what says that others depend
// on them.
func Without(raw apitype.UntypedDeployment, urns []resource.URN) (apitype.UntypedDeployment, error) {
	out := func(urn string) bool { return slices.Contains(urns, resource.URN(urn)) }
	return Rewrite(raw, func(resources []Resource) []Resource {
		resources = slices.DeleteFunc(resources, func(r Resource) bool { return out(DecodeString(r["urn"])) })
		for _, r := range resources {
			var needs []string
			if json.Unmarshal(r["dependencies"], &needs) == nil && slices.ContainsFunc(needs, out) {
				r["dependencies"] = Encode(slices.DeleteFunc(needs, out))
			}
		}
		return resources
	})
}

// Empty is the state without any resources.
func Empty(raw apitype.UntypedDeployment) (apitype.UntypedDeployment, error) {
	return Rewrite(raw, func([]Resource) []Resource { return nil })
}

// WithUnverified is the state with that list; without any URNs the output goes.
func WithUnverified(raw apitype.UntypedDeployment, urns []string) (apitype.UntypedDeployment, error) {
	return WithOutput(raw, func(outputs map[string]json.RawMessage) {
		delete(outputs, unverifiedOutput)
		if len(urns) > 0 {
			outputs[unverifiedOutput] = Encode(urns)
		}
	})
}

// WithOutput is the state with other outputs of the stack.
func WithOutput(raw apitype.UntypedDeployment, change func(map[string]json.RawMessage)) (apitype.UntypedDeployment, error) {
	var failed error
	out, _, err := Edit(raw, func(r Resource) bool {
		if DecodeString(r["type"]) != RootType {
			return false
		}
		outputs := map[string]json.RawMessage{}
		if len(r["outputs"]) > 0 {
			failed = json.Unmarshal(r["outputs"], &outputs)
		}
		change(outputs)
		r["outputs"] = Encode(outputs)
		return true
	})
	return out, errors.Join(err, failed)
}
