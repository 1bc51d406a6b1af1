// Package locks shows the locks on stacks and removes those that were left behind, for clusters and accounts.
package locks

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/backend"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks"
)

// Driver is what a removal needs of automation.Driver.
type Driver interface {
	Locks(ctx context.Context, c *config.Cluster, only stacks.Kind) ([]backend.Lock, error)
	Unlock(ctx context.Context, l backend.Lock, ownerIsGone bool) error
}

// Options of a removal.
type Options struct {
	factory.Base
	Clusters func([]string) ([]*config.Cluster, error)
	Driver   func(context.Context, automation.Observer) (Driver, error)
	Now      func() time.Time

	Name  string
	Stack stacks.Kind
	Yes   bool
	// OwnerIsGone says that the user has made sure that the owner is gone.
	OwnerIsGone bool
}

// NewOptions are those of the process.
func NewOptions(f *factory.Factory) *Options {
	return &Options{
		Base: f.Base(), Clusters: f.Clusters,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
		Now:    time.Now,
	}
}

// AddFlags adds the flags that every removal has.
func (o *Options) AddFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.OwnerIsGone, "owner-is-gone", false,
		"remove a lock even if tombolo cannot tell that its owner is gone")
}

// Run shows the locks, and removes them.
func Run(ctx context.Context, o *Options) error {
	all, err := o.Clusters([]string{o.Name})
	if err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error { return o.one(ctx, driver, all[0]) })
}

func (o *Options) one(ctx context.Context, driver Driver, c *config.Cluster) error {
	locks, err := driver.Locks(ctx, c, o.Stack)
	if err != nil {
		return err
	}
	if len(locks) == 0 {
		o.Status().Done("%s: there is no lock", c.Name)
		return o.document(c, nil, nil)
	}
	if !o.JSON() {
		if err := o.show(locks); err != nil {
			return err
		}
	}
	if !o.Yes && (o.JSON() || !o.Streams.CanPrompt()) {
		o.Status().Plain("no lock was removed; to remove them without a terminal, pass --yes")
		return o.document(c, locks, nil)
	}
	for _, l := range locks {
		if err := o.remove(ctx, driver, l); err != nil {
			return err
		}
	}
	o.Status().Plain("the next up or destroy of %s first finds out how the interrupted operation ended", c.Name)
	return o.document(c, nil, locks)
}

// remove removes a lock. It asks first, but not about a lock that will be refused.
func (o *Options) remove(ctx context.Context, driver Driver, l backend.Lock) error {
	if !o.Yes && (o.OwnerIsGone || l.State == backend.OwnerGone) {
		if err := o.Streams.Confirm(ctx, fmt.Sprintf("Remove the lock of %s?", l.Stack), l.Stack+" stays locked"); err != nil {
			return err
		}
	}
	if err := driver.Unlock(ctx, l, o.OwnerIsGone); err != nil {
		return err
	}
	o.Status().Done("%s: removed the lock", l.Stack)
	return nil
}

func (o *Options) show(locks []backend.Lock) error {
	rows := make([][]string, len(locks))
	for i, l := range locks {
		rows[i] = row(l, o.Now())
	}
	return render.Table(o.Streams.Out, o.Table(), []string{"STACK", "USER", "HOST", "PROCESS", "SINCE", "THE OWNER"}, rows)
}

func row(l backend.Lock, now time.Time) []string {
	if l.Owner == nil {
		return []string{l.Stack, "-", "-", "-", "-", meaning(l.State)}
	}
	age := now.Sub(l.Owner.Since).Truncate(time.Second)
	since := fmt.Sprintf("%s (%s)", l.Owner.Since.Local().Format(time.DateTime), age)
	return []string{l.Stack, l.Owner.User, l.Owner.Host, strconv.Itoa(l.Owner.PID), since, meaning(l.State)}
}

func meaning(s backend.OwnerState) string {
	switch s {
	case backend.OwnerGone:
		return "is gone"
	case backend.OwnerOrphan:
		return "runs, its driver is gone"
	case backend.OwnerAlive:
		return "runs"
	case backend.OwnerElsewhere:
		return "is on another host"
	default:
		return "is not known"
	}
}

// document is the result in the JSON format: the locks that are still held, and
// those that were removed.
type document struct {
	Type    string         `json:"type"`
	Cluster string         `json:"cluster"`
	Held    []backend.Lock `json:"held,omitempty"`
	Removed []backend.Lock `json:"removed"`
}

func (o *Options) document(c *config.Cluster, held, removed []backend.Lock) error {
	if !o.JSON() {
		return nil
	}
	return render.WriteJSON(o.Streams.Out, document{
		Type: "unlock", Cluster: c.Name, Held: held, Removed: append([]backend.Lock{}, removed...),
	})
}
