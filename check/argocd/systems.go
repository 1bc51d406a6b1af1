package argocd

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
	"tombolo/platform/system"
)

const (
	// systemChart is the directory of the chart that sets up a system.
	systemChart = "charts/system"
	// addressesSecret of Argo CD's namespace has the addresses of channels.
	addressesSecret = "argocd-notifications-secret"
	// impersonating is the first release of Argo CD that applies a project's Applications as
	// the account that the project names, and others as before.
	// https://github.com/argoproj/argo-cd/blob/v3.5.7/docs/operator-manual/app-sync-using-impersonation.md
	impersonating = "v3.5.0"
)

// systemMet is a system of the cluster's list, with its values as the chart reads them.
type systemMet struct {
	name, file string
	values     system.Values
}

// addressesMet are the addresses of channels, by the systems' names.
type addressesMet struct {
	keys map[string]bool
	// hidden says that something makes addresses whose names are not in the tree.
	hidden bool
}

// setsUpSystem says that the Application is the platform's for a system.
func (a Application) setsUpSystem() bool {
	return a.Metadata.Labels[names.SystemLabel] != "" && a.Spec.Project == names.Platform && a.Spec.Source != nil && a.Spec.Source.Path == systemChart
}

// delivers says that the Application is a team's, whose repository is not looked at.
func (a Application) delivers() bool {
	return a.Metadata.Labels[names.SystemLabel] != "" && a.Spec.Project != names.Platform
}

// listFile is the list of the cluster's systems.
func (w *Walk) listFile() string { return path.Join("clusters", w.Published.Cluster, "systems.yaml") }

// takeSystem looks at the file of a system, and says whether its chart would take it.
func (w *Walk) takeSystem(app Application) bool {
	s := systemMet{name: app.Metadata.Labels[names.SystemLabel]}
	s.file = path.Join("systems", s.name+".yaml")
	listed := func() tree.Place {
		at, _ := w.Files.Text(w.listFile(), "system: "+s.name)
		at.File = w.listFile()
		return at
	}
	problems := system.CheckName(s.name)
	for _, p := range problems {
		w.At(listed(), finding.Errorf("system %s: %s", s.name, p.Message).WithRemedy(p.Remedy))
	}
	if !w.Files.IsFile(s.file) {
		w.At(listed(), finding.Errorf("system %s has no file %s", s.name, s.file).
			WithRemedy(w.NearFile(s.file, s.name+".yaml", "add it, or take the system from the list")))
		return false
	}
	if !w.readSystem(&s) || len(problems) > 0 {
		return false
	}
	w.systems = append(w.systems, s)
	return true
}

// about reports an error about a value of a system's file.
func (w *Walk) about(s systemMet, at []string, message, remedy string) {
	w.At(walk.InFile(w.Files, s.file, at), finding.Errorf("system %s: %s", s.name, message).WithRemedy(remedy))
}

// readSystem reads the values of a system, and reports those that would not do.
func (w *Walk) readSystem(s *systemMet) bool {
	text, err := w.Files.Read(s.file)
	values := map[string]any{}
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	}
	if err != nil {
		w.about(*s, nil, "its file cannot be read: "+walk.Innermost(err), "correct the file")
		return false
	}
	if text, err = json.Marshal(values); err == nil {
		err = json.Unmarshal(text, &s.values) // of a wrong type: the schema says which
	}
	problems := s.values.Check(w.Published.Entra)
	if err != nil || len(problems) == 0 {
		problems = nil
		err = w.checkSchema(*s, values)
	}
	for _, p := range problems {
		w.about(*s, p.Path, p.Message, p.Remedy)
	}
	return err == nil && len(problems) == 0
}

// checkSchema reports values that the tree's chart does not take, and returns why.
func (w *Walk) checkSchema(s systemMet, values map[string]any) error {
	file := path.Join(systemChart, "values.schema.json")
	text, err := w.Files.Read(file)
	if err != nil || !w.Files.IsFile(file) {
		return nil // a chart of their own
	}
	schema, err := jsonschema.CompileString(file, string(text))
	if err != nil {
		w.At(tree.Place{File: file}, finding.Errorf("is no JSON schema: %s", err).WithRemedy("correct the schema"))
		return err
	}
	err = schema.Validate(values)
	var cause *jsonschema.ValidationError
	if !errors.As(err, &cause) {
		return err
	}
	for len(cause.Causes) > 0 {
		cause = cause.Causes[0]
	}
	var at []string
	if location := strings.Trim(cause.InstanceLocation, "/"); location != "" {
		at = strings.Split(location, "/")
	}
	where := strings.Join(at, ".")
	if where == "" {
		where = "its file"
	}
	w.about(s, at, where+": "+cause.Message, "see "+path.Join(w.Name, systemChart, "values.yaml"))
	return err
}

// takeAddresses takes note of the addresses of channels that an object gives, and reports
// those that are in clear: who knows an address writes to the channel.
func (w *Walk) takeAddresses(in *walk.Origin, o manifest.Object, text string) {
	var given struct {
		Data       map[string]string `json:"data"`
		StringData map[string]string `json:"stringData"`
		Spec       struct {
			EncryptedData map[string]string `json:"encryptedData"`
			Data          []struct {
				SecretKey string `json:"secretKey"`
			} `json:"data"`
			DataFrom []any `json:"dataFrom"`
		} `json:"spec"`
	}
	if yaml.Unmarshal([]byte(text), &given) != nil {
		return // its build has reported it
	}
	w.addresses.hidden = w.addresses.hidden || len(given.Spec.DataFrom) > 0
	for key := range given.Spec.EncryptedData {
		w.addresses.keys[key] = true
	}
	for _, d := range given.Spec.Data {
		w.addresses.keys[d.SecretKey] = true
	}
	for key, address := range given.StringData {
		w.inClear(in, o, []string{"stringData", key}, address, address)
	}
	for key, encoded := range given.Data {
		if address, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			w.inClear(in, o, []string{"data", key}, encoded, string(address))
		}
	}
}

// inClear takes note of an address that the tree has in clear.
func (w *Walk) inClear(in *walk.Origin, o manifest.Object, at []string, value, address string) {
	w.addresses.keys[at[1]] = true
	f := finding.Finding{Severity: finding.Error}
	switch {
	case names.RetiredConnector(address):
		f.Message = fmt.Sprintf("%s has for %s the address of a connector at webhook.office.com, which Microsoft has retired", o.Identity(), at[1])
		f.Remedy = "make a Workflow in the channel, and take its address"
	case !names.Invented(address):
		f.Message = fmt.Sprintf("%s has the address of the channel of %s in clear: anybody who reads the tree can write to the channel", o.Identity(), at[1])
		f.Remedy = "make it a SealedSecret or an ExternalSecret, and take another address"
	default:
		return
	}
	w.Refer(in, tree.Wanted{Object: o, Path: at, Value: value}, f)
}

// CheckSystems looks at the systems of the cluster's teams together: what would not be set
// up, and what would let one team into what is another's.
func (w *Walk) CheckSystems() {
	if len(w.systems) == 0 {
		return
	}
	w.checkImpersonation()
	w.OpenNetwork()
	var named []system.Named
	for _, s := range w.systems {
		w.checkApplicationName(s)
		w.checkAddress(s)
		named = append(named, system.Named{Name: s.name, Values: s.values})
	}
	for _, m := range system.Together(named, w.Published.Pages) {
		w.about(w.systems[m.At], m.Path, m.Message, m.Remedy)
	}
}

// checkImpersonation reports an Argo CD that would apply systems by its own rights.
func (w *Walk) checkImpersonation() {
	version := w.Published.Registration.Version
	if !semver.IsValid(version) || semver.Compare(version, impersonating) >= 0 {
		return
	}
	w.At(tree.Place{File: w.listFile()}, finding.Errorf(
		"systems need Argo CD %s: the hub's %s cannot apply some projects as an account of theirs and others as before", impersonating, version).
		WithRemedy("upgrade the hub's Argo CD first: gitops.distribution of its cluster file"))
}

// checkAddress reports a channel whose address nothing in the tree gives.
func (w *Walk) checkAddress(s systemMet) {
	if s.values.Channel.Type == "" || w.addresses.hidden || w.addresses.keys[s.name] || w.Incomplete {
		return
	}
	w.At(walk.InFile(w.Files, s.file, []string{"channel", "type"}), finding.Warningf(
		"system %s: nothing in the tree gives the address of its channel, the key %s of Secret %s in namespace %s", s.name, s.name, addressesSecret, names.ArgoCDNamespace).
		WithRemedy("add it to the SealedSecret or ExternalSecret of that name"))
}

// checkApplicationName reports a system whose Application would have the name of another
// one: of an addon, or of a system of another cluster.
func (w *Walk) checkApplicationName(s systemMet) {
	name := w.Published.Cluster + "-" + s.name
	if w.taken[name] {
		w.about(s, nil, "its Application "+name+" has the name of another one", "give the system another name")
		return
	}
	for _, p := range w.Fleet {
		for _, entry := range w.listed(p.Cluster) {
			if (p.Cluster != w.Published.Cluster || entry != s.name) && p.Cluster+"-"+entry == name {
				w.about(s, nil, fmt.Sprintf("its Application %s has the name of that of system %s on %s", name, entry, p.Cluster), "give one of the systems another name")
			}
		}
	}
	at := slices.Index(w.listed(w.Published.Cluster), s.name)
	if again := slices.Index(w.listed(w.Published.Cluster)[at+1:], s.name); again >= 0 {
		w.At(tree.Place{File: w.listFile()}, finding.Errorf(
			"system %s is in the list twice: Argo CD makes no Application at all then", s.name).WithRemedy("take one of the entries out"))
	}
}

// listed are the systems that the list of a cluster names.
func (w *Walk) listed(cluster string) []string {
	file := path.Join("clusters", cluster, "systems.yaml")
	if !w.Files.IsFile(file) {
		return nil
	}
	text, err := w.Files.Read(file)
	var list []struct {
		System string `json:"system"`
	}
	if err != nil || yaml.Unmarshal(text, &list) != nil {
		return nil // reported where the list is read
	}
	var out []string
	for _, entry := range list {
		out = append(out, entry.System)
	}
	return out
}
