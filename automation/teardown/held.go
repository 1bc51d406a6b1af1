package teardown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"tombolo/automation/kube"
)

// takeOffTimeout is how long objects without finalizers may take to go.
const takeOffTimeout = time.Minute

// Held is an object that did not go.
type Held struct {
	// Object is its kind and name, such as "Service shop/front".
	Object string `json:"object"`
	// Finalizers that hold it; none when it is not being deleted at all.
	Finalizers []string `json:"finalizers,omitempty"`
	// Message of the object about itself, if it has one.
	Message string `json:"message,omitempty"`
}

// String says who holds the object.
func (h Held) String() string {
	switch {
	case len(h.Finalizers) > 0:
		return fmt.Sprintf("%s is held by %s", h.Object, strings.Join(h.Finalizers, ", "))
	case h.Message != "":
		return fmt.Sprintf("%s says: %s", h.Object, h.Message)
	}
	return h.Object + " is still there, or was made again"
}

// HeldError says that controllers did not give back in time what they have in
// the cloud.
type HeldError struct {
	// Stage is what they have there: load balancers, volumes or nodes.
	Stage string
	// After is how long they had.
	After time.Duration
	// Left are the objects that did not go.
	Left []Held
	// Err is why it is not known what is left.
	Err error
}

func (e *HeldError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("after %s it is not known which %s are left: %v", e.After, e.Stage, e.Err)
	}
	return fmt.Sprintf("%s were not given back within %s: %s", e.Stage, e.After, Names(e.Left))
}

// Unwrap returns the cause.
func (e *HeldError) Unwrap() error { return e.Err }

// RemedyFor says what to do about the error of a Drain.
func RemedyFor(err error) string {
	if held := new(HeldError); errors.As(err, &held) && held.Err == nil {
		return "look at the logs of the controllers that hold them, resolve the cause, and run the same command again; " +
			"--leftovers delete takes the finalizers off, and deletes in the cloud what is left over then"
	}
	return "run the same command again"
}

func heldBy(left []remaining) []Held {
	out := make([]Held, 0, len(left))
	for _, r := range left {
		h := Held{Object: r.object.String(), Message: kube.Text(r.Unstructured, "status", "message")}
		if r.deleting() {
			h.Finalizers = r.GetFinalizers()
		}
		out = append(out, h)
	}
	return out
}

// takeOff takes the finalizers off what is left, and deletes what others should
// have deleted.
func (d *drain) takeOff(ctx context.Context) error {
	for _, r := range d.left {
		if !r.deleting() {
			if err := r.delete(ctx); err != nil {
				return err
			}
		}
		if len(r.GetFinalizers()) == 0 {
			continue
		}
		if err := r.unfinalize(ctx); err != nil {
			return err
		}
		d.options.Note(fmt.Sprintf("finalizer %s was taken off %s, as nobody did within %s: what it stood for may be left in the cloud",
			strings.Join(r.GetFinalizers(), ", "), r.object, d.options.Timeout))
	}
	return nil
}

// unfinalize takes the finalizers off the very object that was seen.
func (o object) unfinalize(ctx context.Context) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "finalizers": nil}})
	if err != nil {
		return fmt.Errorf("take the finalizers off %s: %w", o, err)
	}
	_, err = o.resource.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("take the finalizers off %s: %w", o, err)
	}
	return nil
}
