// Package definition holds custom resources against their definitions as an API
// server does under strict validation, without one. The definitions come from the
// facts of upstream's charts.
package definition

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"tombolo/tools/upstream/facts"
)

// Structural is the definition's schema as an API server reads it, which refuses
// definitions that are not structural.
func Structural(fields facts.Fields) (*schema.Structural, error) {
	text, err := json.Marshal(fields.Schema())
	if err != nil {
		return nil, fmt.Errorf("encode the definition's schema: %w", err)
	}
	var published apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &published); err != nil {
		return nil, fmt.Errorf("read the definition's schema: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&published, &internal, nil); err != nil {
		return nil, fmt.Errorf("convert the definition's schema: %w", err)
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("make the definition's schema structural: %w", err)
	}
	if problems := schema.ValidateStructural(field.NewPath("openAPIV3Schema"), structural); len(problems) > 0 {
		return nil, fmt.Errorf("the definition's schema is not structural: %w", problems.ToAggregate())
	}
	return structural, nil
}

// Refusals are the reasons why an API server refuses the object.
func Refusals(fields facts.Fields, object map[string]any) ([]string, error) {
	structural, err := Structural(fields)
	if err != nil {
		return nil, err
	}
	var refusals []string
	result := validate.NewSchemaValidator(structural.ToKubeOpenAPI(), nil, "", strfmt.Default).Validate(object)
	for _, err := range result.Errors {
		refusals = append(refusals, err.Error())
	}
	tracked := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(object, structural, true, tracked) {
		refusals = append(refusals, "unknown field "+path)
	}
	return refusals, nil
}
