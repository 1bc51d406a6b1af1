// Package parameters reads parameters of AWS's Parameter Store.
package parameters

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ErrSecret says that a parameter is a SecureString: its value was not decrypted.
var ErrSecret = errors.New("is a SecureString")

// ErrMissing says that the account has no such parameter in the region.
var ErrMissing = errors.New("does not exist")

// Read reads a parameter: a String is a text, a StringList a list of texts. The error
// is ErrMissing, ErrSecret, or what AWS says. Nothing is ever decrypted, and the right
// to it, kms:Decrypt, is not needed.
func Read(ctx *pulumi.Context, name string, opts ...pulumi.InvokeOption) (any, error) {
	var found struct {
		Type  string `pulumi:"type"`
		Value string `pulumi:"value"`
	}
	// By the function's name: the package of the SDK takes all of Systems Manager along.
	err := ctx.Invoke("aws:ssm/getParameter:getParameter", map[string]any{"name": name, "withDecryption": false}, &found, opts...)
	switch {
	case err != nil && isMissing(err):
		return nil, ErrMissing
	case err != nil:
		return nil, fmt.Errorf("look up parameter %s: %w", name, err)
	}
	// The types of a parameter:
	// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_Parameter.html
	switch found.Type {
	case "SecureString":
		return nil, ErrSecret
	case "StringList":
		var items []any
		for item := range strings.SplitSeq(found.Value, ",") {
			items = append(items, item)
		}
		return items, nil
	}
	return found.Value, nil
}

// isMissing recognises the answer for a name that the account does not have: AWS's own,
// and the provider's (internal/service/ssm/parameter_data_source.go of
// hashicorp/terraform-provider-aws).
func isMissing(err error) bool {
	return strings.Contains(err.Error(), "ParameterNotFound") || strings.Contains(err.Error(), "couldn't find resource")
}
