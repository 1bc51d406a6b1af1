package secretsmanager

import (
	"bytes"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/standin"
)

// value of a version: a text or bytes.
type value struct {
	text   *string
	binary []byte
}

func (in input) value() *value {
	if in.SecretString == nil && in.SecretBinary == nil {
		return nil
	}
	return &value{in.SecretString, in.SecretBinary}
}

func (v value) check() error {
	switch {
	case v.text != nil && v.binary != nil:
		return jsonapi.Refusef(invalidParameter, "You can't specify both a binary secret value and a string secret value in the same secret.")
	case v.text != nil && len(*v.text) > mostBytes:
		return jsonapi.Refusef("ValidationException", "1 validation error detected: Value at 'secretString' failed to satisfy constraint: Member must have length less than or equal to %d", mostBytes)
	case len(v.binary) > mostBytes:
		return jsonapi.Refusef("ValidationException", "1 validation error detected: Value at 'secretBinary' failed to satisfy constraint: Member must have length less than or equal to %d", mostBytes)
	}
	return nil
}

func (v value) equal(w value) bool {
	if (v.text == nil) != (w.text == nil) {
		return false
	}
	return v.text != nil && *v.text == *w.text || v.text == nil && bytes.Equal(v.binary, w.binary)
}

// valueOf reads a version.
func valueOf(version *standin.Record) (v value, err error) {
	if version.Inputs.Has("secretBinary") {
		v.binary, err = base64.StdEncoding.DecodeString(version.Inputs.Str("secretBinary"))
		return v, err
	}
	text := version.Inputs.Str("secretString")
	return value{text: &text}, nil
}

// find returns the secret that a name or an ARN means, with or without the end that
// Secrets Manager gave it; nil without one.
func find(c *standin.Cloud, region, id string) *standin.Record {
	for r := range c.Each(secretType, region) {
		if means(r, id) {
			return r
		}
	}
	return nil
}

func means(secret *standin.Record, id string) bool {
	return id == secret.ID || id == secret.Outputs.Str("name") || id == secret.ID[:strings.LastIndexByte(secret.ID, '-')]
}

// scheduled says that a secret waits for its deletion.
func scheduled(c *standin.Cloud, region, id string) bool {
	return slices.ContainsFunc(c.All(), func(r *standin.Record) bool {
		return r.Type == secretType && r.Region == region && r.Gone() && means(r, id)
	})
}

// taken says why there can be no secret of a name; nil when there can.
func taken(c *standin.Cloud, region, name string) *jsonapi.Refused {
	switch {
	case find(c, region, name) != nil:
		return &jsonapi.Refused{Code: resourceExists, Message: "The operation failed because the secret " + name + " already exists."}
	case scheduled(c, region, name):
		return &jsonapi.Refused{Code: invalidRequest, Message: "You can't create this secret because a secret with this name is already scheduled for deletion."}
	}
	return nil
}

// versions of a secret, the oldest first.
func versions(c *standin.Cloud, secret *standin.Record) []*standin.Record {
	var list []*standin.Record
	for v := range c.Each(versionType, secret.Region) {
		if v.Outputs.Str("arn") == secret.ID {
			list = append(list, v)
		}
	}
	return list
}

// add makes a secret with a name, and with a description and a key where they are given.
func add(c *standin.Cloud, region string, in standin.Props) (*standin.Record, error) {
	maps.DeleteFunc(in, func(_ string, value any) bool { return value == "" })
	out := in.Clone()
	arn := newARN(c, region, in.Str("name"))
	out["arn"] = arn
	secret := &standin.Record{Type: secretType, ID: arn, Region: region, Created: c.Now(), Implied: true, Inputs: in, Outputs: out}
	return secret, c.Put(secret)
}

// put gives a secret a new current version. The same token with the same value changes
// nothing.
func put(c *standin.Cloud, secret *standin.Record, token string, given value) (*standin.Record, error) {
	for _, v := range versions(c, secret) {
		if v.Outputs.Str("versionId") != token {
			continue
		}
		if has, err := valueOf(v); err == nil && has.equal(given) {
			return v, nil
		}
		return nil, jsonapi.Refusef(resourceExists, "You can't use ClientRequestToken %s because that value is already in use for a version of secret %s.", token, secret.ID)
	}
	in := standin.Props{"secretId": secret.ID}
	if given.text != nil {
		in["secretString"] = *given.text
	} else {
		in["secretBinary"] = base64.StdEncoding.EncodeToString(given.binary)
	}
	out := in.Clone()
	out["arn"], out["versionId"], out["versionStages"] = secret.ID, token, []any{current}
	if err := moveStages(c, secret, out); err != nil {
		return nil, err
	}
	version := &standin.Record{Type: versionType, ID: secret.ID + "|" + token, Region: secret.Region, Created: c.Now(), Implied: true, Inputs: in, Outputs: out}
	return version, c.Put(version)
}

// moveStages takes the labels of a new version from those that have them. The one that was
// current is the previous one.
func moveStages(c *standin.Cloud, secret *standin.Record, made standin.Props) error {
	moved := made.List("versionStages")
	if slices.Contains(moved, current) {
		moved = append(moved, previous)
	}
	for _, v := range versions(c, secret) {
		had := v.Outputs.List("versionStages")
		left := []any{}
		for _, stage := range had {
			if !slices.Contains(moved, stage) {
				left = append(left, stage)
			}
		}
		if slices.Contains(moved, current) && slices.Contains(had, current) {
			left = append(left, previous)
		}
		changed := v.Clone()
		if changed.Outputs["versionStages"] = left; len(left) == len(had) && !slices.Contains(had, previous) && !slices.Contains(had, current) {
			continue
		}
		if err := c.Put(changed); err != nil {
			return err
		}
	}
	return nil
}
