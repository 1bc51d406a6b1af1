// Package policy writes IAM policy documents: of identities, of trust, and of
// resources.
package policy

import (
	"encoding/json"
	"fmt"
)

const version = "2012-10-17"

// The effects of a statement.
const (
	Allow = "Allow"
	Deny  = "Deny"
)

// Conditions by operator and key: a condition holds when the key has one of the
// values, a statement applies when all its conditions hold.
type Conditions map[string]map[string][]string

// Statement of a document. The fields' order is the order in the JSON; what is
// empty is left out.
type Statement struct {
	Sid       string `json:",omitempty"`
	Effect    string
	Principal map[string]string `json:",omitempty"`
	Action    []string
	Resource  []string   `json:",omitempty"`
	Condition Conditions `json:",omitempty"`
}

// document is a policy; the fields' order is the order in the JSON.
type document struct {
	Version   string
	Statement []Statement
}

// Render writes the document of the statements: JSON without white space, the
// same for the same statements.
func Render(statements ...Statement) (string, error) {
	b, err := json.Marshal(document{Version: version, Statement: statements})
	if err != nil {
		return "", fmt.Errorf("render IAM policy: %w", err)
	}
	return string(b), nil
}

// Service is the principal of an AWS service, such as eks.amazonaws.com.
func Service(name string) map[string]string { return map[string]string{"Service": name} }

// RequireTLS denies everybody, the account's own administrators too, every
// action of a service on the resources when the connection has no TLS.
func RequireTLS(service string, resources ...string) Statement {
	return Statement{
		Sid:       "RequireTLS",
		Effect:    Deny,
		Principal: map[string]string{"AWS": "*"},
		Action:    []string{service + ":*"},
		Resource:  resources,
		Condition: Conditions{"Bool": {"aws:SecureTransport": {"false"}}},
	}
}
