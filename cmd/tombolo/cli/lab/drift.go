package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

// NewCmdDrift returns the group of commands lab drift.
func NewCmdDrift(f *Given) *cobra.Command {
	cmd := factory.Group("drift <command>", "Change or delete something in the lab's cloud, past Pulumi", `
Do to the stand-in of the cloud what people do in a console: change or delete a
resource without Pulumi knowing. "tombolo drift" shows it, and "tombolo up
--refresh" reverts it. The stand-in refuses what the cloud would refuse.`)
	cmd.AddCommand(NewCmdDriftChange(f, nil), NewCmdDriftDelete(f))
	return cmd
}

// DriftOptions are the options of lab drift change and lab drift delete.
type DriftOptions struct {
	Options
	Type, Name string
	// Changes to the properties, by path; nil removes one.
	Changes map[string]any
}

// NewCmdDriftChange returns the command lab drift change; runF, if not nil, runs
// in place of it.
func NewCmdDriftChange(f *Given, runF func(context.Context, *DriftOptions) error) *cobra.Command {
	opts := &DriftOptions{Options: f.options()}
	return &cobra.Command{
		Use:   "change <type> <name-or-id> <property>=<value>...",
		Short: "Change properties of a resource in the lab's cloud",
		Long: strings.TrimSpace(`
Change properties of a resource in the cloud's stand-in. The type is a Pulumi type,
such as aws:ec2/vpc:Vpc or azure-native:network:Subnet, or the end of it, such as Vpc.
A property is a path, such as tags.Owner. A value is JSON, or text if it is not valid
JSON; null removes the property.`),
		Example: `  tombolo lab drift change Vpc demo-vpc tags.Owner=me
  tombolo lab drift change NodeGroup demo-system scalingConfig.desiredSize=3`,
		Args: cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Type, opts.Name = args[0], args[1]
			var err error
			if opts.Changes, err = assignments(args[2:]); err != nil {
				return err
			}
			return factory.Run(cmd.Context(), opts, runF, driftRun)
		},
	}
}

// NewCmdDriftDelete returns the command lab drift delete.
func NewCmdDriftDelete(f *Given) *cobra.Command {
	opts := &DriftOptions{Options: f.options()}
	return &cobra.Command{
		Use:     "delete <type> <name-or-id>",
		Short:   "Delete a resource in the lab's cloud",
		Example: `  tombolo lab drift delete LogGroup /aws/eks/demo/cluster`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Type, opts.Name = args[0], args[1]
			return driftRun(cmd.Context(), opts)
		},
	}
}

// assignments reads <property>=<value> arguments.
func assignments(args []string) (map[string]any, error) {
	out := map[string]any{}
	for _, arg := range args {
		property, text, ok := strings.Cut(arg, "=")
		if !ok || property == "" {
			return nil, fault.NewUsage(fmt.Sprintf("%q changes nothing", arg), "write <property>=<value>, such as tags.Owner=me")
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		out[property] = value
	}
	return out, nil
}

// driftDocument is the result in the JSON format.
type driftDocument struct {
	Type     string       `json:"type"`
	Done     string       `json:"done"`
	Resource control.Item `json:"resource"`
}

func driftRun(ctx context.Context, o *DriftOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	var item control.Item
	done := "deleted"
	if o.Changes == nil {
		item, err = l.Delete(ctx, o.Type, o.Name)
	} else {
		done = "changed"
		item, err = l.Change(ctx, o.Type, o.Name, o.Changes)
	}
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, driftDocument{Type: "lab-drift", Done: done, Resource: item})
	}
	o.Status().Done("%s %s %s behind Pulumi's back", done, item.Type, item.ID)
	return nil
}
