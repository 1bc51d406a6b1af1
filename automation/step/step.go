// Package step runs an operation as a list of steps with names.
package step

import "context"

// Step is a part of an operation.
type Step struct {
	// Name of the step, for people: what it does, or the part of the operation that it is.
	Name string
	// Part says that whoever watches the operation is told that it comes to the step.
	Part bool
	// Do does it.
	Do func(context.Context) error
}

// Run does the steps in their order, up to the first that fails. began, if not nil, is called before
// each step that is a part of the operation.
func Run(ctx context.Context, steps []Step, began func(name string)) error {
	for _, s := range steps {
		if s.Part && began != nil {
			began(s.Name)
		}
		if err := s.Do(ctx); err != nil {
			return err
		}
	}
	return nil
}
