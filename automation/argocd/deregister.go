package argocd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/fault"
	"tombolo/automation/kube"
)

// Options of a deregistration.
type Options struct {
	// Settle is how long ApplicationSets may take to drop what they no longer
	// make, before whatever is left counts as held. Default 2m.
	Settle time.Duration
	// Timeout is how long to wait until Argo CD has deleted all Applications
	// with what they have made. Default 15m: load balancers take some.
	Timeout time.Duration
	// TakeOff has the Applications let go that Argo CD has not deleted in that time: their
	// cluster goes with what they have made on it.
	TakeOff bool
	// Poll is the time between two looks. Default 1s.
	Poll time.Duration
	// Waiting is told what is waited for; Note, what people should know.
	Waiting, Note func(string)
}

// Deregister has the hub forget the cluster's Applications: generators first,
// so that nothing is made again, then what they made and what no generator
// makes. The registration stays, with which Argo CD deletes what is on the
// cluster: it can be deleted afterwards. Nothing of another cluster is touched.
//
// It can be run again whenever it was interrupted, and does nothing where there
// is nothing left. Errors are *fault.Error, or from the API and the context.
func (h Hub) Deregister(ctx context.Context, l Leaving, o Options) error {
	o.setDefaults()
	d := &deregistration{Hub: h, Leaving: l, options: o, told: map[string]bool{}}
	if err := d.begin(ctx); err != nil {
		return err
	}
	defer o.Waiting("")
	err := d.until(ctx, o.Settle, o.Timeout)
	if o.TakeOff && !d.LetGo && d.failed == nil && len(d.left) > 0 && kube.WaitIsOver(ctx, err) {
		d.LetGo, d.late = true, fmt.Sprintf("Argo CD has not deleted it in %s; ", o.Timeout)
		d.report(d.left)
		if err := d.relabel(ctx, d.Name, leave(d.LetGo)); err != nil {
			return err
		}
		err = d.until(ctx, 0, max(o.Timeout, takeOffTimeout))
	}
	if kube.WaitIsOver(ctx, err) {
		return d.overdue()
	}
	return err
}

// takeOffTimeout is the least time for taking finalizers off, which waits for no controller.
const takeOffTimeout = time.Minute

// cutShort is how long before the end a look fails because of the end: client-go asks for no token of its
// rate that comes later.
const cutShort = 100 * time.Millisecond

// until looks and advances until nothing is left.
func (d *deregistration) until(ctx context.Context, settle, timeout time.Duration) error {
	start := time.Now()
	return wait.PollUntilContextTimeout(ctx, d.options.Poll, timeout, true, func(ctx context.Context) (bool, error) {
		done, err := d.step(ctx, time.Since(start) > settle)
		if held := new(fault.Error); errors.As(err, &held) {
			return false, held
		}
		if err == nil || ctx.Err() == nil && time.Since(start) < timeout-cutShort {
			d.failed = err // the hub may be restarting: it is asked again
		}
		return done, nil
	})
}

func (o *Options) setDefaults() {
	o.Settle, o.Timeout = cmp.Or(o.Settle, 2*time.Minute), cmp.Or(o.Timeout, 15*time.Minute)
	o.Poll = cmp.Or(o.Poll, time.Second)
	if o.Waiting == nil {
		o.Waiting = func(string) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}

// deregistration is a deregistration under way.
type deregistration struct {
	Hub
	Leaving
	options Options
	// late says why they are let go, if they were not from the start.
	late string
	// told are the Applications that were released and reported.
	told map[string]bool
	// left are those that the last look found.
	left []Application
	// clear is how many looks in a row found none.
	clear int
	// failed is why the last look or change did not succeed.
	failed error
}

// begin refuses what could not end well while nothing has changed, and then
// takes the cluster from the generators.
func (d *deregistration) begin(ctx context.Context) error {
	r, err := d.Registration(ctx, d.Name)
	if err != nil {
		return err
	}
	if r != nil && !r.IsOf(d.Owner) {
		return r.strangers(d.Owner)
	}
	if r != nil && r.Server() != "" {
		d.Server = r.Server() // by which Argo CD knows it
	}
	v, err := d.look(ctx)
	if err != nil {
		return err
	}
	m := metadata{labels: map[string]string{}, annotations: map[string]string{}}
	if err := leave(d.LetGo)(&m); err != nil {
		return err
	}
	if sets := v.insisting(d.Leaving, m.labels); len(sets) > 0 {
		return &fault.Error{
			What: fmt.Sprintf("%s would make Applications for %s again: its cluster generator reaches clusters that leave", strings.Join(sets, ", "), d.Name),
			Remedy: fmt.Sprintf("nothing was changed: give the generator a selector in the platform tree, such as "+
				"matchExpressions: [{key: %s, operator: DoesNotExist}], push, and run the command again", LeavingLabel),
		}
	}
	if d.LetGo {
		d.report(v.of(d.Leaving))
	} else if err := d.cascadeAll(ctx, v); err != nil {
		return err
	}
	return d.relabel(ctx, d.Name, leave(d.LetGo))
}

// report notes each Application that is released, once.
func (d *deregistration) report(all []Application) {
	for _, a := range all {
		if !d.told[id(a)] {
			d.told[id(a)] = true
			d.options.Note(fmt.Sprintf("%s is released: %swhat it has made on %s is not deleted", a, d.late, d.Name))
		}
	}
}

// cascadeAll has Applications be deleted together with what they have made. Of
// one that is generated or declared, the generator or parent has decided.
func (d *deregistration) cascadeAll(ctx context.Context, v *view) error {
	leaving := v.of(d.Leaving)
	for _, a := range leaving {
		if keeper, _ := v.keeper(a, leaving); keeper != "" || a.deleting() || a.cascades() {
			continue
		}
		if err := d.finalize(ctx, a, append(a.GetFinalizers(), resourcesFinalizer)); err != nil {
			return err
		}
	}
	return nil
}

// step looks once, does what can be done, and says whether all is over: two
// looks in a row that find nothing, for one may fall between a deletion and its
// undoing.
func (d *deregistration) step(ctx context.Context, settled bool) (bool, error) {
	v, err := d.look(ctx)
	if err != nil {
		return false, err
	}
	d.left = v.of(d.Leaving)
	if len(d.left) == 0 {
		d.clear++
		return d.clear > 1, nil
	}
	d.clear = 0
	d.options.Waiting("Argo CD still has " + kube.Names(d.left, most))
	if settled {
		if err := d.held(v); err != nil {
			return false, err
		}
	}
	return false, d.advance(ctx, v, settled)
}

// held reports Applications that are not being deleted, because something that
// stays would make them again.
func (d *deregistration) held(v *view) error {
	var held []string
	for _, a := range d.left {
		if keeper, goes := v.keeper(a, d.left); keeper != "" && !goes && !a.deleting() {
			held = append(held, fmt.Sprintf("%s by %s", a, keeper))
		}
	}
	if len(held) == 0 {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("%s leaves, and would be made again: %s", d.Name, strings.Join(held, ", ")),
		Remedy: "take the cluster out of it in the platform tree, push, and run the command again",
		Class:  fault.Deployment,
	}
}

// advance releases what is being deleted where that is wanted, and deletes
// what is free, as soon as the generators have dropped theirs.
func (d *deregistration) advance(ctx context.Context, v *view, settled bool) error {
	generated := false
	for _, a := range d.left {
		set, ok := v.set(a)
		// A set that goes itself, and makes the same whatever clusters there are, drops nothing before.
		generated = generated || ok && (set.followsClusters() || !v.goes(set, d.left))
		if !d.LetGo {
			continue
		}
		if ok {
			if err := d.refreshSet(ctx, set); err != nil {
				return err
			}
		}
		if err := d.letGo(ctx, a); err != nil {
			return err
		}
	}
	if generated && !settled {
		return nil
	}
	for _, a := range d.left {
		if keeper, _ := v.keeper(a, d.left); keeper != "" || a.deleting() {
			continue
		}
		if err := d.delete(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// letGo removes Argo CD's finalizers from an Application that is being deleted.
func (d *deregistration) letGo(ctx context.Context, a Application) error {
	d.report([]Application{a})
	if !a.deleting() || len(a.foreignFinalizers()) == len(a.GetFinalizers()) {
		return nil
	}
	return d.finalize(ctx, a, a.foreignFinalizers())
}

func (d *deregistration) delete(ctx context.Context, a Application) error {
	uid := a.GetUID()
	err := d.applications().Namespace(a.GetNamespace()).Delete(ctx, a.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s: %w", a, err)
	}
	return nil
}

// finalize replaces the finalizers of the Application that was seen. One that
// changed meanwhile is left for the next look.
func (d *deregistration) finalize(ctx context.Context, a Application, finalizers []string) error {
	metadata := map[string]any{"finalizers": finalizers}
	if version := a.GetResourceVersion(); version != "" {
		metadata["resourceVersion"] = version
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	_, err = d.applications().Namespace(a.GetNamespace()).Patch(ctx, a.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("set the finalizers of %s: %w", a, err)
	}
	return nil
}

// overdue says what is left when the time is over, and what Argo CD says about it.
func (d *deregistration) overdue() error {
	if d.failed != nil {
		return &fault.Error{
			What:   fmt.Sprintf("after %s it is not known which Applications of %s are left: %v", d.options.Timeout, d.Name, d.failed),
			Remedy: "run the command again when the hub answers", Class: fault.Deployment,
		}
	}
	what := fmt.Sprintf("after %s Argo CD still has %s", d.options.Timeout, kube.Names(d.left, most))
	for _, a := range d.left {
		if problem := a.problem(); problem != "" {
			what += fmt.Sprintf("; it cannot delete %s: %s", a, problem)
			break
		}
	}
	if len(d.left) == 0 { // they left a moment ago
		return &fault.Error{What: what + "nothing that is known", Remedy: "run the command again to make sure", Class: fault.Deployment}
	}
	first, otherwise := d.left[0], "where what it made may stay, set gitops.argocd.applications: keep"
	if d.Leaving.Hub {
		otherwise = fmt.Sprintf("where its Argo CD does not work any more, run `tombolo destroy %s --leftovers delete`", d.Name)
	}
	return &fault.Error{
		What: what,
		Remedy: fmt.Sprintf("look at `kubectl -n %s describe application %s` on the hub, resolve the cause, and run the command again; %s",
			first.GetNamespace(), first.GetName(), otherwise),
		Class: fault.Deployment,
	}
}

// most is how many Applications are named; the others are counted.
const most = 3
