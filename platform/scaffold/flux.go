package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/platform/system"
)

// fluxLayout has a folder for each addon, and for each overlay the stages with a
// list of folders in each.
func fluxLayout() layout {
	return layout{
		shared:  []string{"README.md", baseDir, appsDir},
		ofAddon: func(name string) []string { return []string{path.Join(addonsDir, name)} },
		overlay: (*writer).stagesOf,
	}
}

// stagesOf writes what is of one environment alone: which stages it has, and what
// is in each.
func (w *writer) stagesOf(root string, clusters []*config.Cluster) error {
	wanted, unwanted := []string{relative(root, baseDir)}, []string(nil)
	if withChannel(clusters) {
		wanted = append(wanted, relative(root, channelDir))
	} else {
		unwanted = append(unwanted, relative(root, channelDir))
	}
	if err := w.list(path.Join(root, listFile), header{}, wanted, unwanted); err != nil {
		return err
	}
	for _, stage := range stages() {
		folder := path.Join(root, stage)
		var wanted, unwanted []string
		for _, a := range addon.All() {
			entry, ok := w.entry(a, stage)
			switch {
			case !ok:
			case on(clusters, a.Name):
				wanted = append(wanted, relative(folder, entry))
			default:
				unwanted = append(unwanted, relative(folder, entry))
			}
		}
		if stage == appsDir {
			wanted = append(wanted, relative(folder, appsDir))
		}
		if err := w.list(path.Join(folder, listFile), header{stage: stage}, wanted, unwanted); err != nil {
			return err
		}
	}
	return nil
}

// stages of the tree: the definitions, the addons', the apps.
func stages() []string {
	var all []string
	for _, s := range addon.Stages() {
		all = append(all, string(s))
	}
	return append(all, appsDir)
}

// entry is the folder that a stage takes from an addon, if it takes one.
func (w *writer) entry(a *addon.Addon, stage string) (folder string, ok bool) {
	folder = path.Join(addonsDir, a.Name)
	if stage == crdsDir {
		folder = path.Join(folder, crdsDir)
	} else if string(a.Stage) != stage {
		return "", false
	}
	_, err := fs.Stat(w.reference, path.Join(folder, listFile))
	return folder, err == nil
}

// The parts of a tree that are about systems.
const (
	systemsDir = "systems"
	// systemsStage is the stage that clusters of Flux with systems have beside those that
	// all have.
	systemsStage = baseDir + "/systems.yaml"
)

// sharedOfSystems is what all systems have in common in a tree of Flux.
func sharedOfSystems() []string {
	return []string{systemsStage, baseDir + "/systems-repository.yaml", path.Join(systemsDir, "base"), path.Join(systemsDir, "release"), "charts/system"}
}

// systemFile is the file of a system. What it leaves out, the chart and the component
// systems/release have.
var systemFile = template.Must(template.New("system").Funcs(template.FuncMap{"join": strings.Join}).Parse(`apiVersion: v1
kind: Namespace
metadata:
  name: {{.Name}}
  labels:
    {{.Label}}: {{.Name}}
{{- with .Hosts}}
  annotations:
    {{$.HostsAnnotation}}: {{join . " " | printf "%q"}}
{{- end}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: {{.Name}}
  namespace: {{.Namespace}}
spec:
  values:
    team: {{.Team | printf "%q"}}
    group: {{.Group | printf "%q"}}
    repository:
      url: {{.Repository.URL | printf "%q"}}
{{- with .Repository.Branch}}
      branch: {{. | printf "%q"}}
{{- end}}
{{- with .Repository.Path}}
      path: {{. | printf "%q"}}
{{- end}}
{{- with .Repository.Secret}}
      secret: {{. | printf "%q"}}
{{- end}}
{{- if .Channel.Secret}}
    channel:
      type: {{.Channel.Type}}
      secret: {{.Channel.Secret | printf "%q"}}
{{- with .Channel.Severity}}
      severity: {{.}}
{{- end}}
{{- end}}
`))

// AddSystem adds a system to a tree of Flux: its file, which must not be there, and an entry
// in the list of each overlay, which is the gitops.path of clusters. What systems have in
// common comes with the first one, from the reference tree.
func AddSystem(dir string, reference fs.FS, name string, v system.Values, overlays []string) ([]File, error) {
	w := &writer{dir: dir, reference: reference}
	if err := w.copyRoots(sharedOfSystems()); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err := systemFile.Execute(&text, struct {
		system.Values
		Name, Label, HostsAnnotation, Namespace string
	}{v, name, names.SystemLabel, names.SystemHosts, names.SystemsNamespace})
	if err != nil {
		return nil, err
	}
	if err := w.put(SystemFile(name), text.Bytes(), false); err != nil {
		return nil, fmt.Errorf("write the system: %w", err)
	}
	for _, root := range overlays {
		folder := path.Join(root, systemsDir)
		h := header{stage: systemsDir, components: []string{relative(folder, systemsDir+"/release")}}
		entries := []string{relative(folder, systemsDir+"/base"), relative(folder, SystemFile(name))}
		if err := w.list(path.Join(folder, listFile), h, entries, nil); err != nil {
			return nil, fmt.Errorf("write the list of systems: %w", err)
		}
		if err := w.list(path.Join(root, listFile), header{}, []string{relative(root, systemsStage)}, nil); err != nil {
			return nil, fmt.Errorf("write the stages of %s: %w", root, err)
		}
	}
	return w.files, nil
}

// SystemFile is the file of a system in a tree.
func SystemFile(name string) string { return path.Join(systemsDir, name+".yaml") }
