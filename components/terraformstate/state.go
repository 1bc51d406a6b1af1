// Package terraformstate reads outputs of the states that Terraform and OpenTofu keep.
package terraformstate

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrMissing says that there is no state at an address.
var ErrMissing = errors.New("there is no state")

// Output is an output of a state.
type Output struct {
	Value     any  `json:"value"`
	Sensitive bool `json:"sensitive"`
}

// version of the format that is read: of Terraform since 0.12, and of OpenTofu.
// Source: stateV4 in internal/states/statefile/version4.go of hashicorp/terraform and of opentofu/opentofu.
const version = 4

// Parse returns the outputs of a state by their names. Errors say nothing of what the text holds: it may be no state, and
// secret.
func Parse(text []byte) (map[string]Output, error) {
	var state struct {
		Version   *int              `json:"version"`
		Outputs   map[string]Output `json:"outputs"`
		Encrypted string            `json:"encrypted_data"`
	}
	switch err := json.Unmarshal(text, &state); {
	case err != nil:
		return nil, errors.New("it is no state of Terraform")
	case state.Encrypted != "": // https://opentofu.org/docs/language/state/encryption/
		return nil, errors.New("OpenTofu has encrypted it")
	case state.Version == nil:
		return nil, errors.New("it is no state of Terraform")
	case *state.Version != version:
		return nil, fmt.Errorf("it has version %d of the format, and %d is read", *state.Version, version)
	}
	return state.Outputs, nil
}
