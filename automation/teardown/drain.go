package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/kube"
)

// Options of a drain.
type Options struct {
	// Timeout is how long controllers may take to give back the cloud resources
	// of one kind. Default 10m: load balancers and nodes take a few.
	Timeout time.Duration
	// Poll is the time between two looks. Default 1s.
	Poll time.Duration
	// TakeOff removes the finalizers from what is still there when the time is
	// over, and says from which. Their resources may then be left in the cloud.
	// Default: that is an error.
	TakeOff bool
	// Ours limits the drain to what is ours, in a cluster that others own. Default: all
	// there is.
	Ours *Ours
	// Waiting is told what is waited for; Note, what people should know. Both are
	// required.
	Waiting, Note func(string)
}

// Drain deletes what controllers have made cloud resources for: objects of Azure Service
// Operator, Gateways, Ingresses and Services with load balancers, claims with their volumes and
// the pods that use them, Karpenter's node pools with their nodes. Before the nodes go ExternalSecrets,
// whose namespaces could not go without their controller. It waits until the controllers have released each.
//
// It can be run again whenever it was interrupted, and does nothing where there
// is nothing left. Errors are *HeldError, or from the API and the context.
func (c Cluster) Drain(ctx context.Context, o Options) error {
	o.Timeout, o.Poll = cmp.Or(o.Timeout, 10*time.Minute), cmp.Or(o.Poll, time.Second)
	defer o.Waiting("")
	if o.Ours != nil {
		if err := o.Ours.learn(ctx, c); err != nil {
			return err
		}
	}
	for _, s := range stages() {
		d := &drain{Cluster: c, stage: s, options: o}
		if err := d.run(ctx); err != nil {
			return err
		}
	}
	return c.reportRetained(ctx, o)
}

// drain is one stage under way.
type drain struct {
	Cluster
	stage   stage
	options Options
	// begun says that there was something at all.
	begun bool
	// left is what the last look found; clear, how many in a row found nothing.
	left  []remaining
	clear int
	// others are not ours, and stay.
	others []remaining
	// failed is why the last look did not succeed.
	failed error
}

func (d *drain) run(ctx context.Context) error {
	err := d.await(ctx, d.options.Timeout)
	if len(d.others) > 0 {
		d.options.Note(fmt.Sprintf("of the %s, what is not Tombolo's stays: %s", d.stage.name, kube.Names(d.others, most)))
	}
	late := new(HeldError)
	if !errors.As(err, &late) || !d.options.TakeOff || d.failed != nil {
		return err
	}
	if err := d.takeOff(ctx); err != nil {
		return err
	}
	return d.await(ctx, takeOffTimeout)
}

// await looks until nothing is left.
func (d *drain) await(ctx context.Context, timeout time.Duration) error {
	err := wait.PollUntilContextTimeout(ctx, d.options.Poll, timeout, true, func(ctx context.Context) (bool, error) {
		done, err := d.step(ctx)
		if err == nil || ctx.Err() == nil {
			d.failed = err // the API may be restarting: it is asked again
		}
		return done && err == nil, nil
	})
	if kube.WaitIsOver(ctx, err) {
		return &HeldError{Stage: d.stage.name, After: timeout, Left: heldBy(d.left), Err: d.failed}
	}
	return err
}

// step looks once, deletes what is not being deleted yet, and says whether all
// is over: two looks in a row that find nothing, for one may fall between a
// deletion and its undoing. Where there never was anything, one will do.
func (d *drain) step(ctx context.Context) (bool, error) {
	mapper, err := d.Mapper()
	if err != nil {
		return false, err
	}
	if err := d.look(ctx, mapper); err != nil {
		return false, err
	}
	if len(d.left) == 0 {
		d.clear++
		return !d.begun || d.clear > 1, nil
	}
	d.begun, d.clear = true, 0
	d.options.Waiting(fmt.Sprintf("%s to be given back: %s", d.stage.name, kube.Names(d.left, most)))
	for _, r := range d.left {
		if r.awaited || r.deleting() {
			continue
		}
		if err := r.delete(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// look finds what is left, and stops what would hold it.
func (d *drain) look(ctx context.Context, mapper meta.RESTMapper) error {
	left, err := d.stage.find(ctx, d.Cluster, mapper)
	if err != nil {
		return err
	}
	if d.options.Ours != nil {
		left, d.others = d.options.Ours.apart(left)
	}
	d.left = left
	if !d.stage.used || len(left) == 0 {
		return nil
	}
	return d.stopUsers(ctx, mapper, d.options.Ours)
}

// reportRetained tells of volumes that outlive their claims.
func (c Cluster) reportRetained(ctx context.Context, o Options) error {
	mapper, err := c.Mapper()
	if err != nil {
		return err
	}
	volumes, err := c.list(ctx, mapper, schema.GroupKind{Kind: "PersistentVolume"})
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(volumes, func(v object) bool {
		return !retained(v.Unstructured) || o.Ours != nil && !o.Ours.has(v.Unstructured)
	})
	for _, v := range kept {
		o.Note(fmt.Sprintf("%s keeps its volume %s: its reclaim policy is Retain", v, kube.Text(v.Unstructured, "spec", "csi", "volumeHandle")))
	}
	return nil
}

// takeOffTimeout is how long objects without finalizers may take until they are deleted.
const takeOffTimeout = time.Minute

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

// takeOff removes the finalizers from what is left, and deletes what its controller
// should have deleted.
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
		d.options.Note(fmt.Sprintf("finalizer %s was removed from %s, because no controller did so within %s: its resource in the cloud may be left over",
			strings.Join(r.GetFinalizers(), ", "), r.object, d.options.Timeout))
	}
	return nil
}
