package drift

import (
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/value"
)

// Masked is written in place of a secret.
const Masked = value.Masked

// property compares the values at a path: what the program wanted with what
// there is. What is read back from the cloud is not always marked as secret, so
// a mark on either side counts for both.
func property(m apitype.StepEventMetadata, path string) Property {
	p := Property{Path: path}
	parsed, err := resource.ParsePropertyPath(path)
	if err != nil {
		return p
	}
	wanted, hidden := value.At(m.Old.Inputs, parsed)
	var actual any
	if m.New != nil {
		var secret bool
		if actual, secret = value.At(m.New.Inputs, parsed); actual == nil {
			actual, secret = value.At(m.New.Outputs, parsed)
		}
		hidden = hidden || secret
	}
	_, made := value.At(m.Old.Outputs, parsed)
	hidden = hidden || made || value.HidesContent(m.Type, parsed)
	p.Expected, p.Actual = value.Shown(wanted, hidden), value.Shown(actual, hidden)
	return p
}
