package handoff

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ImportPredicted is Import for a program that may have been told what core's outputs
// will be: see Predict. A core of an earlier version, whose preview tells a hand-off
// of this one, is read from what was told alone, so that a newer tombolo can preview
// what an older one made.
func ImportPredicted(ctx *pulumi.Context, coreStack, cloud string, placeholders bool, outputs map[string]any) (Handoff, error) {
	h, err := Import(ctx, coreStack, cloud, placeholders)
	if older := new(olderError); errors.As(err, &older) && outputs[versionKey] == float64(SchemaVersion) {
		h, err = placeholder(ctx, cloud)
	}
	if err != nil {
		return Handoff{}, err
	}
	return Predict(ctx, h, outputs)
}

// Told is the hand-off of coreStack, a stack of a cluster on the cloud, of outputs alone:
// no stack is asked. Outputs that are missing or secret are unknowns. Only a preview may
// have it.
func Told(ctx *pulumi.Context, coreStack, cloud string, outputs map[string]any) (Handoff, error) {
	if err := checkVersion(coreStack, outputs[versionKey]); err != nil {
		return Handoff{}, err
	}
	h, err := placeholder(ctx, cloud)
	if err != nil {
		return Handoff{}, err
	}
	return Predict(ctx, h, outputs)
}

// Predict returns the hand-off with what a preview of core says that its
// outputs will be, as the engine's events have them. A value that the preview
// does not know is an unknown of the field's type; an output that it does not
// tell, or that is a secret, stays what it is in h. Only a preview may have what
// is predicted: any other run is refused.
func Predict(ctx *pulumi.Context, h Handoff, outputs map[string]any) (Handoff, error) {
	if len(outputs) == 0 {
		return h, nil
	}
	if !ctx.DryRun() {
		return Handoff{}, errors.New("import hand-off: what a preview of core predicts cannot be applied: " +
			"deploy core first, then run on its outputs")
	}
	h.entries = map[string]pulumi.StringMap{}
	var problem error
	each(&h, func(key string, field reflect.Value) {
		value, told := outputs[key]
		if !told || problem != nil {
			return
		}
		output, err := predicted(key, value, field.Type())
		if err != nil {
			problem = fmt.Errorf("import what a preview of core predicts: %w", err)
			return
		}
		field.Set(reflect.ValueOf(output))
		if entries, ok := value.(map[string]any); ok {
			h.entries[key] = entriesOf(entries)
		}
	})
	return h, problem
}

// Of is the hand-off of a cluster on the cloud with these outputs of core, for what is
// worked out without a program and without a stack. An output that is missing is empty,
// and a text in the place of a list is its only element.
func Of(cloud string, outputs map[string]any) (Handoff, error) {
	h := Handoff{Cloud: cloud, entries: map[string]pulumi.StringMap{}}
	var problem error
	each(&h, func(key string, field reflect.Value) {
		value, decoded := outputs[key], reflect.Zero(plain(field.Type())).Interface()
		if text, ok := value.(string); ok && plain(field.Type()).Kind() == reflect.Slice {
			value = []any{text}
		}
		if value != nil {
			var err error
			if decoded, err = decode("core", key, value, field.Type()); err != nil {
				problem = fmt.Errorf("read hand-off: %w", err)
				return
			}
		}
		field.Set(reflect.ValueOf(convert(pulumi.ToOutput(decoded), field.Type(), func(v any) (any, error) { return v, nil })))
		if all, ok := decoded.(map[string]string); ok {
			h.entries[key] = pulumi.ToStringMap(all)
		}
	})
	return h, problem
}

// predicted is an output of a field's type, unknown when any part of it is.
func predicted(key string, value any, field reflect.Type) (pulumi.Output, error) {
	if AnyUnknown(value) {
		return convert(pulumi.UnsafeUnknownOutput(nil), field, func(any) (any, error) {
			return reflect.Zero(plain(field)).Interface(), nil
		}), nil
	}
	decoded, err := decode("core", key, value, field)
	if err != nil {
		return nil, err
	}
	return convert(pulumi.ToOutput(decoded), field, func(v any) (any, error) { return v, nil }), nil
}

// entriesOf are the entries of a map; each may be known or unknown.
func entriesOf(entries map[string]any) pulumi.StringMap {
	out := pulumi.StringMap{}
	for key, value := range entries {
		text, ok := value.(string)
		if !ok || isUnknown(text) {
			out[key] = pulumi.UnsafeUnknownOutput(nil).ApplyT(func(any) string { return "" }).(pulumi.StringOutput)
			continue
		}
		out[key] = pulumi.String(text)
	}
	return out
}

// AnyUnknown says whether an output, as a preview tells it, has something in it that is not known yet.
func AnyUnknown(value any) bool {
	switch v := value.(type) {
	case string:
		return isUnknown(v)
	case []any:
		return slices.ContainsFunc(v, AnyUnknown)
	case map[string]any:
		for _, child := range v {
			if AnyUnknown(child) {
				return true
			}
		}
	}
	return false
}

// isUnknown recognises the texts by which events write a value, of any type,
// that is not known yet.
func isUnknown(text string) bool {
	return slices.Contains([]string{
		plugin.UnknownBoolValue, plugin.UnknownNumberValue, plugin.UnknownStringValue, plugin.UnknownArrayValue,
		plugin.UnknownAssetValue, plugin.UnknownArchiveValue, plugin.UnknownObjectValue,
	}, text)
}
