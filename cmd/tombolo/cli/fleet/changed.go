package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation/inputs"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks"
)

// AddChangedFlags adds those that leave out clusters with the same inputs as at
// a commit.
func (f *Fleet) AddChangedFlags(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.ChangedSince, "changed-since", "", "only clusters whose inputs have changed since a `commit`, a branch or a tag")
	cmd.Flags().StringVar(&f.Tree, "tree", "", "with --changed-since, the `directory` of the platform tree, which is compared too")
}

// checkChanged checks the flags. Without a selection, they apply to all clusters.
func (f *Fleet) checkChanged() error {
	switch {
	case f.ChangedSince == "" && f.Tree != "":
		return fault.NewUsage("--tree is used only with --changed-since", "pass --changed-since <commit>, or leave --tree out")
	case f.ChangedSince == "":
		return nil
	case f.Resume:
		return fault.NewUsage("--resume and --changed-since: a resumed run has its own clusters", "pass --resume alone")
	case f.Selection.Empty():
		f.Selection.All = true
	}
	return nil
}

// onlyChanged are the clusters with changed inputs. It shows the reasons.
func (f *Fleet) onlyChanged(all []*config.Cluster) ([]*config.Cluster, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	report, err := inputs.Since(f.cmd.Context(), inputs.Options{Root: root, Ref: f.ChangedSince, Tree: f.Tree}, all)
	if err != nil {
		return nil, err
	}
	f.Changed = &report
	if err := f.tellChanged(all, report); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(c *config.Cluster) bool { return len(report.Clusters[c.Name]) == 0 }), nil
}

// FileAtBase is a file of the project at the commit of --changed-since, and
// whether it was there.
func (f *Fleet) FileAtBase(ctx context.Context, file string) (content string, found bool, err error) {
	root, err := f.Root()
	if err != nil {
		return "", false, err
	}
	return inputs.FileAt(ctx, inputs.Options{Root: root, Ref: f.ChangedSince}, file)
}

// SettingsAtBase is a directory with the project file and the stacks' settings as they
// were at the commit of --changed-since: what a change proposes for them, a preview does
// not use. It is "" without the flag. The caller removes it.
func (f *Fleet) SettingsAtBase(ctx context.Context) (string, error) {
	if f.ChangedSince == "" {
		return "", nil
	}
	root, err := f.Root()
	if err != nil {
		return "", err
	}
	files, err := inputs.SettingsAt(ctx, inputs.Options{Root: root, Ref: f.ChangedSince})
	if err != nil {
		return "", err
	}
	if _, ok := files["Pulumi.yaml"]; !ok { // the project is new, and has no settings yet
		files = map[string]string{"Pulumi.yaml": "name: " + stacks.Project + "\n"}
	}
	dir, err := os.MkdirTemp("", "tombolo-settings-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the settings at %s: %w", f.ChangedSince, err)
	}
	err = os.Mkdir(filepath.Join(dir, "clusters"), 0o700)
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600)
		}
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("write the settings at %s: %w", f.ChangedSince, err), os.RemoveAll(dir))
	}
	return dir, err
}

// changedDocument is the result in the JSON format.
type changedDocument struct {
	Type      string           `json:"type"`
	Since     string           `json:"since"`
	Clusters  []changedCluster `json:"clusters"`
	Unchanged []string         `json:"unchanged"`
	Removed   []string         `json:"removed,omitempty"`
	// Shared are the files of shared settings that have changed.
	Shared []inputs.Shared `json:"shared,omitempty"`
	// Unseen is what clusters take values from, and Git does not have.
	Unseen []inputs.Unseen `json:"unseen,omitempty"`
}

type changedCluster struct {
	Cluster string          `json:"cluster"`
	Reasons []inputs.Reason `json:"reasons"`
}

func (f *Fleet) tellChanged(all []*config.Cluster, report inputs.Report) error {
	document := changedDocument{
		Type: "changed-since", Since: f.ChangedSince,
		Clusters: []changedCluster{}, Unchanged: []string{}, Removed: report.Removed, Shared: report.Shared, Unseen: report.Unseen,
	}
	status := f.Status()
	f.Unchanged = nil
	for _, c := range all {
		reasons := report.Clusters[c.Name]
		if len(reasons) == 0 {
			document.Unchanged = append(document.Unchanged, c.Name)
			f.Unchanged = document.Unchanged
			continue
		}
		document.Clusters = append(document.Clusters, changedCluster{Cluster: c.Name, Reasons: reasons})
		lines := make([]string, len(reasons))
		for i, r := range reasons {
			lines[i] = r.String()
		}
		status.Doing("%s: %s", c.Name, strings.Join(lines, "; "))
	}
	if f.JSON() {
		return render.WriteJSON(f.Out, document)
	}
	if n := len(document.Unchanged); n > 0 {
		status.Done("unchanged since %s: %s", f.ChangedSince, clusters.Listed(document.Unchanged))
	}
	for _, s := range report.Shared {
		status.Plain("%s", s)
	}
	for _, u := range report.Unseen {
		status.Plain("%s", u)
	}
	for _, file := range report.Removed {
		status.Failed("%s was removed since %s: its cluster may still exist; restore the file, and run `tombolo destroy`", file, f.ChangedSince)
	}
	return nil
}
