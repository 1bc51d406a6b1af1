package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"text/template"

	"gopkg.in/yaml.v3"

	"tombolo/config"
	"tombolo/config/addon"
	files "tombolo/internal/file"
	"tombolo/platform/system"
)

// appsChart is the chart of the shape app of apps.
const appsChart = "app-of-apps"

// argocdLayout has for each addon a folder of ApplicationSets and a file of the
// chart app-of-apps, and for each overlay one list of folders.
func argocdLayout() layout {
	chart := func(name string) string { return path.Join(appsChart, name) }
	return layout{
		shared: []string{"README.md", baseDir, appsDir, chart("Chart.yaml"), chart("values.yaml"), chart("templates")},
		ofAddon: func(name string) []string {
			return []string{path.Join(addonsDir, name), chart(path.Join(addonsDir, name+".yaml"))}
		},
		overlay: (*writer).applicationSetsOf,
	}
}

// applicationSetsOf writes the list of what a hub's Argo CD has for its clusters.
func (w *writer) applicationSetsOf(root string, clusters []*config.Cluster) error {
	var wanted, unwanted []string
	for _, a := range addon.All() {
		folder := path.Join(addonsDir, a.Name)
		_, err := fs.Stat(w.reference, path.Join(folder, listFile))
		switch {
		case errors.Is(err, fs.ErrNotExist): // made in the cloud alone
		case err != nil:
			return err
		case on(clusters, a.Name):
			wanted = append(wanted, relative(root, folder))
		default:
			unwanted = append(unwanted, relative(root, folder))
		}
	}
	wanted = append(wanted, relative(root, appsDir))
	return w.list(path.Join(root, listFile), header{components: []string{relative(root, baseDir)}}, wanted, unwanted)
}

// sharedOfArgoCDSystems is what all systems have in common in a tree of Argo CD: what a
// hub has for them, what each cluster has, and how teams are told of failures.
func sharedOfArgoCDSystems() []string {
	in := func(name string) string { return path.Join(systemsDir, name) }
	return []string{in("Chart.yaml"), in("base"), in("channels"), in("hub"), in("repository"), in("templates"), "charts/namespace", "charts/system"}
}

// argocdSystemFile is the file of a system. What it leaves out, the chart charts/system has.
var argocdSystemFile = template.Must(template.New("system").Parse(`team: {{.Team | printf "%q"}}
group: {{.Group | printf "%q"}}
{{- with .SignInGroup}}
signInGroup: {{. | printf "%q"}}
{{- end}}
repository:
  url: {{.Repository.URL | printf "%q"}}
{{- with .Repository.Branch}}
  branch: {{. | printf "%q"}}
{{- end}}
{{- with .Repository.Path}}
  path: {{. | printf "%q"}}
{{- end}}
{{- with .Channel.Type}}
channel:
  type: {{.}}
{{- with $.Channel.Severity}}
  severity: {{.}}
{{- end}}
{{- end}}
{{- with .Hosts}}
hosts:
{{- range .}}
  - {{. | printf "%q"}}
{{- end}}
{{- end}}
`))

// AddArgoCDSystem adds a system to a tree of Argo CD: its file, which must not be there, and
// an entry in the list of each cluster. hubs are the gitops.path of the clusters' hubs, which
// get what systems need of a hub.
func AddArgoCDSystem(dir string, reference fs.FS, name string, v system.Values, clusters, hubs []string) ([]File, error) {
	w := &writer{dir: dir, reference: reference}
	if err := w.copyRoots(sharedOfArgoCDSystems()); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := argocdSystemFile.Execute(&text, v); err != nil {
		return nil, err
	}
	if err := w.put(SystemFile(name), text.Bytes(), false); err != nil {
		return nil, fmt.Errorf("write the system: %w", err)
	}
	for _, cluster := range clusters {
		if err := w.listSystem(SystemsList(cluster), name); err != nil {
			return nil, fmt.Errorf("write the list of systems: %w", err)
		}
	}
	for _, root := range hubs {
		if err := w.list(path.Join(root, listFile), header{}, []string{relative(root, path.Join(systemsDir, "hub"))}, nil); err != nil {
			return nil, fmt.Errorf("write the list of %s: %w", root, err)
		}
	}
	return w.files, nil
}

// SystemsList is the list of the systems of a cluster in a tree of Argo CD.
func SystemsList(cluster string) string { return path.Join("clusters", cluster, "systems.yaml") }

// listSystem adds a system to the list of a cluster.
func (w *writer) listSystem(file, name string) error {
	existing, err := files.ReadInside(filepath.Join(w.dir, filepath.FromSlash(file)), files.MostOfSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(existing) == 0 {
		existing = []byte("# The systems of this cluster: each has its file in systems.\n")
	}
	var listed []struct{ System string }
	if err := yaml.Unmarshal(existing, &listed); err != nil {
		return fmt.Errorf("%s: %w; correct the file, or remove it and run the command again", file, err)
	}
	for _, entry := range listed {
		if entry.System == name {
			return w.put(file, existing, true)
		}
	}
	text := strings.TrimRight(string(existing), "\n")
	if len(listed) == 0 {
		text = strings.TrimRight(strings.TrimSuffix(text, "[]"), "\n")
	}
	return w.put(file, []byte(text+"\n- system: "+name+"\n"), true)
}

// HubOf is the gitops.path of the cluster's hub, and of a cluster that is its own.
func HubOf(c *config.Cluster) (string, error) {
	hub, err := config.LoadHub(c)
	if err != nil {
		return "", err
	}
	return path.Clean(strings.TrimPrefix(hub.GitOps.Path, "/")), nil
}
