// Package flags holds flag types that say which values they take.
package flags

import (
	"fmt"
	"slices"
	"strings"
)

// Enum is a flag that takes one of a few values.
type Enum[T ~string] struct {
	target  *T
	allowed []T
}

// NewEnum returns a flag that sets target to one of allowed. The target holds
// the default already.
func NewEnum[T ~string](target *T, allowed ...T) *Enum[T] {
	return &Enum[T]{target: target, allowed: allowed}
}

// Set takes a value, or says which ones it would take.
func (e *Enum[T]) Set(value string) error {
	if !slices.Contains(e.allowed, T(value)) {
		return fmt.Errorf("must be one of: %s", strings.Join(e.Values(), ", "))
	}
	*e.target = T(value)
	return nil
}

// String returns the present value.
func (e *Enum[T]) String() string { return string(*e.target) }

// Type names the values in the help text.
func (e *Enum[T]) Type() string { return strings.Join(e.Values(), "|") }

// Values returns the allowed values.
func (e *Enum[T]) Values() []string {
	values := make([]string, len(e.allowed))
	for i, v := range e.allowed {
		values[i] = string(v)
	}
	return values
}
