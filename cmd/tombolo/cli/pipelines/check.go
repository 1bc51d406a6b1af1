package pipelines

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/check/finding"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/render"
	"tombolo/internal/wording"
	"tombolo/platform/pipelines"
)

func newCheck(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := newOptions(f)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that pipelines pass on the secrets that files name",
		Long: strings.TrimSpace(`
Compare the pipelines of the project with its files: every secret that a cluster file
names (env: NAME) reaches the jobs that plan and apply, and put drift right; jobs for
pull requests get none; the pipelines are those of the release that tombolo.sha256 pins.

The command reads clusters/, accounts/, tombolo.policy.yaml, tombolo.sha256, and of the
hosts .github/workflows, .gitlab-ci.yml and azure-pipelines.yml. It asks no host. A
file that it does not understand is an error, and so is a cluster file that is not
valid. Notes name what only the host knows, such
as the variables of a project at GitLab.`),
		Example: "  tombolo pipelines check\n  tombolo pipelines check --strict --host github",
		Args:    clusters.AtMost(0),
		RunE:    runs(opts, runF, checkRun),
	}
	fl := cmd.Flags()
	fl.BoolVar(&opts.Strict, "strict", false, "treat warnings as errors")
	host := flags.NewEnum(&opts.Write.Host, pipelines.Hosts()...)
	fl.Var(host, "host", "check the pipelines of this host alone: "+strings.Join(host.Values(), ", "))
	factory.CompleteFlag(cmd, "host", host.Values())
	return cmd
}

// checked is the document after the findings.
type checked struct {
	Type string `json:"type"`
	// Secrets that files of the project name.
	Secrets  []string `json:"secrets"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
}

func checkRun(_ context.Context, o *Options) error {
	root, err := o.Root()
	if err != nil {
		return err
	}
	// In a file that is not valid, a secret may have a name that no job can pass.
	if files, err := clusters.All(root); err != nil {
		return err
	} else if len(files) > 0 {
		if _, err := clusters.LoadAll(o.Root); err != nil {
			return err
		}
	}
	found, uses, err := pipelines.Check(root, hostsOf(o.Write.Host)...)
	if err != nil {
		return err
	}
	end := checked{Type: "pipelines check", Secrets: secretsOf(uses)}
	for _, f := range found {
		if o.Strict && f.Severity == finding.Warning {
			f.Severity = finding.Error
		}
		switch f.Severity {
		case finding.Error:
			end.Errors++
		case finding.Warning:
			end.Warnings++
		}
		if err := o.write(f); err != nil {
			return err
		}
	}
	if o.JSON() {
		if err := render.WriteJSON(o.Streams.Out, end); err != nil {
			return err
		}
	}
	if end.Errors > 0 {
		return &fault.Error{Class: fault.Contract, Problem: "the pipelines do not fit the project: " + wording.Count(end.Errors, "error")}
	}
	o.Status().Done("the pipelines fit the project, whose files name %s", wording.Count(len(end.Secrets), "secret"))
	return nil
}

// hostsOf is the host, if one is named.
func hostsOf(host string) []string {
	if host == "" {
		return nil
	}
	return []string{host}
}

func (o *Options) write(f pipelines.Finding) error {
	if !o.JSON() {
		text := f.String() + "\n"
		if width := o.Streams.OutWidth(); width > 0 {
			text = render.Paragraph(f.String(), width)
		}
		_, err := fmt.Fprint(o.Streams.Out, text)
		return err
	}
	return render.WriteJSON(o.Streams.Out, struct {
		Type string `json:"type"`
		pipelines.Finding
	}{"finding", f})
}

// secretsOf are the names of secrets, sorted and each once.
func secretsOf(uses []pipelines.Use) []string {
	names := []string{}
	for _, u := range uses {
		names = append(names, u.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
