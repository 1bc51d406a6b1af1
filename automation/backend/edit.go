package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// Edit changes the resources of an exported state, and says how many of them
// change says that it changed. It works on the bare JSON, so that nothing it does not
// know is lost.
func Edit(raw apitype.UntypedDeployment, change func(map[string]json.RawMessage) bool) (apitype.UntypedDeployment, int, error) {
	var deployment map[string]json.RawMessage
	var resources []map[string]json.RawMessage
	if len(raw.Deployment) == 0 {
		return raw, 0, nil
	}
	if err := json.Unmarshal(raw.Deployment, &deployment); err != nil {
		return raw, 0, fmt.Errorf("read deployment: %w", err)
	}
	if err := Decode(deployment, map[string]any{"resources": &resources}); err != nil {
		return raw, 0, err
	}
	n := 0
	for _, r := range resources {
		if change(r) {
			n++
		}
	}
	deployment["resources"] = Encode(resources)
	raw.Deployment = Encode(deployment)
	return raw, n, nil
}

// Decode reads the parts of a deployment that into names, each into what it points to.
func Decode(from map[string]json.RawMessage, into map[string]any) error {
	for key, target := range into {
		if len(from[key]) == 0 {
			continue
		}
		if err := json.Unmarshal(from[key], target); err != nil {
			return fmt.Errorf("read %s of the deployment: %w", key, err)
		}
	}
	return nil
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
	var deployment map[string]json.RawMessage
	if err := json.Unmarshal(raw.Deployment, &deployment); err != nil {
		return raw, fmt.Errorf("read deployment: %w", err)
	}
	var resources []map[string]json.RawMessage
	if err := Decode(deployment, map[string]any{"resources": &resources}); err != nil {
		return raw, err
	}
	out := func(urn string) bool { return slices.Contains(urns, resource.URN(urn)) }
	resources = slices.DeleteFunc(resources, func(r map[string]json.RawMessage) bool { return out(DecodeString(r["urn"])) })
	for _, r := range resources {
		var needs []string
		if json.Unmarshal(r["dependencies"], &needs) == nil && slices.ContainsFunc(needs, out) {
			r["dependencies"] = Encode(slices.DeleteFunc(needs, out))
		}
	}
	deployment["resources"] = Encode(resources)
	raw.Deployment = Encode(deployment)
	return raw, nil
}

// Empty is the state without any resources.
func Empty(raw apitype.UntypedDeployment) (apitype.UntypedDeployment, error) {
	var deployment map[string]json.RawMessage
	if err := json.Unmarshal(raw.Deployment, &deployment); err != nil {
		return raw, fmt.Errorf("read deployment: %w", err)
	}
	delete(deployment, "resources")
	raw.Deployment = Encode(deployment)
	return raw, nil
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
	out, _, err := Edit(raw, func(r map[string]json.RawMessage) bool {
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
