package lab

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/wording"
	"tombolo/lab/control"
)

// NewCmdFault returns the group of commands lab fault.
func NewCmdFault(f *Given) *cobra.Command {
	cmd := factory.Group("fault <command>", "Make requests to the lab's cloud go wrong", `
Make the next requests to the stand-in of the cloud fail, to see the effect.
Faults end with their count, when they are cleared, and with the lab.`)
	cmd.AddCommand(NewCmdFaultAdd(f, nil), NewCmdFaultList(f), NewCmdFaultClear(f, nil))
	return cmd
}

// FaultOptions are the options of the commands lab fault.
type FaultOptions struct {
	Options
	// Fault to add.
	Fault control.Fault
	// IDs of the faults to clear; none means all.
	IDs []int
}

// NewCmdFaultAdd returns the command lab fault add; runF, if not nil, runs in
// place of it.
func NewCmdFaultAdd(f *Given, runF func(context.Context, *FaultOptions) error) *cobra.Command {
	opts := &FaultOptions{Options: f.options()}
	cmd := &cobra.Command{
		Use:   "add <kind> <operation> <type>",
		Short: "Make the next requests fail",
		Long: strings.TrimSpace(`
Make the next requests fail in one of the ways below. The type is a resource type,
such as aws:ec2/vpc:Vpc or azure-native:network:Subnet, or the end of it, such as Vpc,
where one cloud alone has it; with the operation invoke, it is a function, such as
getAvailabilityZones; with the operation ask, it is a question of tombolo itself to
Azure's Resource Manager, such as resources; "*" is any type. The operation is create,
read, update, delete, invoke or ask. The kinds:

  throttled     refused, because there are too many requests
  server-error  an error of the cloud's own
  answer-lost   done, but the answer never arrives
  not-found     not found yet: when it is read, or right after it was created
  slow          takes longer, see --delay
  quota         a creation beyond a quota

The provider tries a request up to four times if it is throttled, meets a server
error, or does not find what it created. A --count below four causes only retries.
Tombolo asks three times.`),
		Example: `  tombolo lab fault add answer-lost create Vpc
  tombolo lab fault add throttled create "*" --count 12`,
		Args: cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Fault.Kind, opts.Fault.Operation, opts.Fault.Type = control.FaultKind(args[0]), args[1], args[2]
			return factory.Run(cmd.Context(), opts, runF, faultAddRun)
		},
	}
	cmd.Flags().IntVar(&opts.Fault.Count, "count", 1, "how many requests fail")
	cmd.Flags().DurationVar(&opts.Fault.Delay, "delay", 5*time.Second, "how long a slow request takes")
	return cmd
}

// NewCmdFaultList returns the command lab fault list.
func NewCmdFaultList(f *Given) *cobra.Command {
	opts := &FaultOptions{Options: f.options()}
	return &cobra.Command{
		Use:   "list",
		Short: "List the faults that have not happened yet",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return faultListRun(cmd.Context(), opts) },
	}
}

// NewCmdFaultClear returns the command lab fault clear; runF, if not nil, runs
// in place of it.
func NewCmdFaultClear(f *Given, runF func(context.Context, *FaultOptions) error) *cobra.Command {
	opts := &FaultOptions{Options: f.options()}
	return &cobra.Command{
		Use:   "clear [id]...",
		Short: "Remove faults, all of them if none is named",
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				id, err := strconv.Atoi(arg)
				if err != nil {
					return fault.NewUsage(fmt.Sprintf("%q is not the id of a fault", arg), "see `tombolo lab fault list`")
				}
				opts.IDs = append(opts.IDs, id)
			}
			return factory.Run(cmd.Context(), opts, runF, faultClearRun)
		},
	}
}

// faultsDocument is the result in the JSON format.
type faultsDocument struct {
	Type   string          `json:"type"`
	Faults []control.Fault `json:"faults"`
}

func (o *FaultOptions) document(faults ...control.Fault) error {
	return render.WriteJSON(o.Out, faultsDocument{Type: "lab-faults", Faults: append([]control.Fault{}, faults...)})
}

func faultAddRun(ctx context.Context, o *FaultOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	added, err := l.AddFault(ctx, o.Fault)
	if err != nil {
		return err
	}
	if o.JSON() {
		return o.document(added)
	}
	o.Status().Done("fault %d added: %s of %s, %s, %s", added.ID, added.Operation, added.Type, added.Kind, wording.Count(added.Count, "time"))
	return nil
}

func faultListRun(ctx context.Context, o *FaultOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	faults, err := l.Faults(ctx)
	if err != nil {
		return err
	}
	if o.JSON() {
		return o.document(faults...)
	}
	if len(faults) == 0 {
		o.Status().Plain("there is no fault")
	}
	rows := make([][]string, 0, len(faults))
	for _, f := range faults {
		rows = append(rows, []string{strconv.Itoa(f.ID), string(f.Kind), f.Operation, f.Type, strconv.Itoa(f.Count)})
	}
	return render.Table(o.Out, o.Table(), []string{"ID", "KIND", "OPERATION", "TYPE", "LEFT"}, rows)
}

func faultClearRun(ctx context.Context, o *FaultOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	n, err := l.ClearFaults(ctx, o.IDs...)
	if err != nil {
		return err
	}
	left, err := l.Faults(ctx)
	if err != nil {
		return err
	}
	if o.JSON() {
		return o.document(left...)
	}
	o.Status().Done("faults removed: %d, left: %d", n, len(left))
	return nil
}
