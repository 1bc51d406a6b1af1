package pipelines

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

func upRun(ctx context.Context, o *Options) error {
	a, err := o.Account(o.Name)
	if err != nil {
		return err
	}
	if !o.Yes {
		if err := fault.CannotAsk("pipelines up", o.JSON(), o.Streams.CanPrompt()); err != nil {
			return err
		}
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, progress *render.Progress) error {
		if !o.Yes {
			wanted, err := o.ask(ctx, driver, progress, a)
			if err != nil || !wanted {
				return err
			}
		}
		r, err := driver.UpPipelines(ctx, a, automation.UpOptions{Refresh: o.Refresh, Previewed: !o.Yes})
		if err != nil {
			return err
		}
		if o.JSON() {
			return result.Write(o.Streams.Out, "pipelines up", r)
		}
		for _, s := range r.Stacks {
			for _, key := range slices.Sorted(maps.Keys(s.Outputs)) {
				o.Status().Plain("  %s %v", key, s.Outputs[key])
			}
		}
		return nil
	})
}

// ask shows the plan and prompts for confirmation. There is nothing to ask where
// nothing would change.
func (o *Options) ask(ctx context.Context, driver Driver, progress *render.Progress, a *config.Account) (wanted bool, _ error) {
	r, err := driver.PreviewPipelines(ctx, a, automation.PreviewOptions{Refresh: o.Refresh})
	if err != nil {
		return false, err
	}
	if changes(r) == 0 {
		o.Status().Done("%s: nothing to change", a.Name)
		return false, nil
	}
	progress.Interlude(func() {
		status := o.Status()
		o.plans(o.Streams.ErrOut, status.Style, status.Width, result.Plans(progress, r))
	})
	return true, o.Streams.Confirm(ctx, fmt.Sprintf("Change %s as planned?", a.Name), a.Name+" was not changed")
}

func changes(r automation.Result) int {
	n := 0
	for _, s := range r.Stacks {
		n += s.Changes.Total()
	}
	return n
}

func (o *Options) plans(w io.Writer, style render.Style, width int, plans []render.Plan) {
	for _, p := range plans {
		render.WritePlan(w, p, render.PlanOptions{Style: style, Width: width, Details: o.Details})
	}
}

func previewRun(ctx context.Context, o *Options) error {
	a, err := o.Account(o.Name)
	if err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, progress *render.Progress) error {
		r, err := driver.PreviewPipelines(ctx, a, automation.PreviewOptions{Refresh: o.Refresh})
		if err != nil {
			return err
		}
		if o.JSON() {
			return result.Write(o.Streams.Out, "pipelines preview", r)
		}
		table := o.Table()
		o.plans(o.Out, table.Style, table.Width, result.Plans(progress, r))
		return nil
	})
}

func destroyRun(ctx context.Context, o *Options) error {
	a, err := o.Account(o.Name)
	if err != nil {
		return err
	}
	asks, err := o.mustAsk(a)
	if err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error {
		if asks {
			question := fmt.Sprintf("Type %s to delete the roles of its pipelines permanently:", a.Name)
			if err := o.Streams.AskFor(ctx, a.Name, question, a.Name+" was not destroyed"); err != nil {
				return err
			}
		}
		r, err := driver.DestroyPipelines(ctx, a, automation.DestroyOptions{
			Refresh: o.Refresh, Remove: o.Remove, Confirmed: asks || o.Named == a.Name,
		})
		if err != nil {
			return err
		}
		if changes(r) == 0 {
			o.Status().Done("%s: nothing to destroy", a.Name)
		}
		if o.JSON() {
			return result.Write(o.Streams.Out, "pipelines destroy", r)
		}
		return nil
	})
}

// mustAsk says whether the name has to be typed, and refuses what is not confirmed
// where nobody can be asked.
func (o *Options) mustAsk(a *config.Account) (bool, error) {
	if o.Named != "" && o.Named != a.Name {
		return false, fault.NewUsage(fmt.Sprintf("--yes-destroy names %s, and the account is %s", o.Named, a.Name), "give one name")
	}
	if o.Named == a.Name || o.Yes && !a.Protect {
		return false, nil
	}
	if err := fault.CannotAsk("pipelines destroy", o.JSON(), o.Streams.CanPrompt()); err != nil || o.Yes {
		if a.Protect {
			return false, fault.NewUsage(a.Name+" is protected, and --yes does not destroy what is protected",
				"pass --yes-destroy "+a.Name+", or type the name on a terminal")
		}
		return false, err
	}
	return true, nil
}

// outputsDocument is the result of outputs in the JSON format.
type outputsDocument struct {
	Type    string         `json:"type"`
	Account string         `json:"account"`
	Outputs result.Outputs `json:"outputs"`
}

func outputsRun(ctx context.Context, o *Options) error {
	a, err := o.Account(o.Name)
	if err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error {
		found, err := driver.PipelinesOutputs(ctx, a)
		if err != nil {
			return err
		}
		values, err := result.OutputsOf(found).Only(o.Key, fmt.Sprintf("the pipelines of %s have", a.Name), "they have")
		if err != nil {
			return err
		}
		if o.JSON() {
			return render.WriteJSON(o.Out, outputsDocument{Type: "outputs", Account: a.Name, Outputs: values})
		}
		return values.Write(o.Base, o.Key)
	})
}

// valid is the document of a good file in the JSON format.
type valid struct {
	Type    string `json:"type"`
	File    string `json:"file"`
	Account string `json:"account"`
}

func validateRun(_ context.Context, o *Options) error {
	if o.PrintSchema {
		schema, err := o.Schema()
		if err == nil {
			_, err = fmt.Fprintf(o.Streams.Out, "%s\n", strings.TrimSpace(string(schema)))
		}
		return err
	}
	a, err := o.Account(o.Name)
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Streams.Out, valid{Type: "valid", File: clusters.Short(a.File), Account: a.Name})
	}
	o.Status().Done("%s: account %s", clusters.Short(a.File), a.Name)
	return nil
}
