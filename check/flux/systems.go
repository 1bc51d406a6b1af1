package flux

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
	"tombolo/platform/system"
)

// systemChart is the directory of the chart of systems in the tree.
const systemChart = "charts/system"

// systemMet is a release in the namespace of systems, with its values as the chart reads them.
type systemMet struct {
	releaseMet
	values system.Values
}

// namespaceMet is a namespace with the label of a system, and the build that holds it.
type namespaceMet struct {
	manifest.Object
	label, hosts string
	in           *walk.Origin
}

// channelMet is the address of a channel that the tree has in clear: in the Secret of a
// system, or in a Provider.
type channelMet struct {
	manifest.Object
	path    []string
	address string
	secret  bool
	in      *walk.Origin
}

// takeOfSystems takes note of what systems need: their namespaces, addresses of channels.
func (w *Walk) takeOfSystems(in *walk.Origin, o manifest.Object, text string) error {
	switch o.Kind {
	case "Namespace":
		n, err := manifest.Decode[struct {
			Metadata struct {
				Labels      map[string]string `json:"labels"`
				Annotations map[string]string `json:"annotations"`
			} `json:"metadata"`
		}](text)
		if label, ok := n.Metadata.Labels[names.SystemLabel]; err == nil && ok {
			w.namespaces = append(w.namespaces, namespaceMet{o, label, n.Metadata.Annotations[names.SystemHosts], in})
		}
		return err
	case "Provider":
		p, err := manifest.Decode[struct {
			Spec struct {
				Address string `json:"address"`
			} `json:"spec"`
		}](text)
		if err == nil && p.Spec.Address != "" {
			w.channels = append(w.channels, channelMet{o, []string{"spec", "address"}, p.Spec.Address, false, in})
		}
		return err
	case "Secret":
		s, err := manifest.Decode[struct {
			Data       map[string]string `json:"data"`
			StringData map[string]string `json:"stringData"`
		}](text)
		if address := s.StringData["address"]; address != "" {
			w.channels = append(w.channels, channelMet{o, []string{"stringData", "address"}, address, true, in})
		} else if address, wrong := base64.StdEncoding.DecodeString(s.Data["address"]); wrong == nil && len(address) > 0 {
			w.channels = append(w.channels, channelMet{o, []string{"data", "address"}, string(address), true, in})
		}
		return err
	}
	return nil
}

// CheckSystems looks at the systems of teams: what would not be set up, and what would let
// one team into what is another's.
func (w *Walk) CheckSystems() {
	var all []systemMet
	schema := w.systemSchema()
	for _, r := range w.releases {
		if r.Metadata.Namespace != names.SystemsNamespace {
			continue
		}
		s := systemMet{releaseMet: r}
		w.checkSystemRelease(s)
		text, err := json.Marshal(r.Spec.Values)
		if err == nil {
			err = json.Unmarshal(text, &s.values) // of a wrong type: the schema says which
		}
		problems := s.values.Check(w.Published.Entra)
		if err != nil || len(problems) == 0 {
			problems = nil
			err = w.checkSystemValues(s, schema)
		}
		for _, p := range problems {
			w.about(s, p.Value, append([]string{"spec", "values"}, p.Path...), "values."+p.Message, p.Remedy)
		}
		if err == nil {
			w.needsSecret(s, s.values.Repository.Secret, "repository")
			w.needsSecret(s, s.values.Channel.Secret, "channel")
			all = append(all, s)
		}
	}
	if len(all) > 0 {
		w.OpenNetwork()
	}
	w.checkSystemsTogether(all)
	w.checkSystemNamespaces()
	w.checkChannels()
}

// about reports an error about a value of a system's release.
func (w *Walk) about(s systemMet, value string, at []string, message, remedy string) {
	w.Refer(s.in, tree.Wanted{Object: s.Object, Path: at, Value: value}, finding.Errorf("system %s: %s", s.Metadata.Name, message).WithRemedy(remedy))
}

// checkSystemRelease holds the release to its namespace, whose name it has.
func (w *Walk) checkSystemRelease(s systemMet) {
	name := []string{"metadata", "name"}
	for _, p := range system.CheckName(s.Metadata.Name) {
		w.about(s, p.Value, name, p.Message, p.Remedy)
	}
	if w.namespaceOf(s.Metadata.Name) == nil && !w.Incomplete {
		w.about(s, s.Metadata.Name, name, "there is no Namespace "+s.Metadata.Name+" with the label "+names.SystemLabel,
			"put the Namespace into the system's file, with the label "+names.SystemLabel+": "+s.Metadata.Name)
	}
	for field, value := range map[string]string{
		"releaseName": s.Spec.ReleaseName, "targetNamespace": s.Spec.TargetNamespace,
		"storageNamespace": s.Spec.StorageNamespace, "serviceAccountName": s.Spec.ServiceAccountName,
	} {
		if value != "" {
			w.about(s, value, []string{"spec", field}, "spec."+field+" takes its release out of the namespace of systems",
				"remove it: the platform sets up a system by its name")
		}
	}
	for field, given := range map[string]bool{"kubeConfig": s.Spec.KubeConfig != nil, "postRenderers": len(s.Spec.PostRenderers) > 0} {
		if given {
			w.about(s, s.Metadata.Name, name, "spec."+field+" changes what the platform sets up for a system", "remove it: write the values of the chart")
		}
	}
}

// systemSchema is what the tree's chart says of the values; nil when the tree has none, or
// none that can be read.
func (w *Walk) systemSchema() *jsonschema.Schema {
	file := path.Join(systemChart, "values.schema.json")
	if !w.Files.IsFile(file) {
		return nil
	}
	text, err := w.Files.Read(file)
	if err != nil {
		return nil
	}
	schema, err := jsonschema.CompileString(file, string(text))
	if err != nil {
		w.At(tree.Place{File: file}, finding.Errorf("is no JSON schema: %s", err).WithRemedy("correct the schema"))
		return nil
	}
	return schema
}

// checkSystemValues reports values of a system that the chart does not take, and returns why.
func (w *Walk) checkSystemValues(s systemMet, schema *jsonschema.Schema) error {
	if schema == nil {
		return nil
	}
	values := any(s.Spec.Values)
	if s.Spec.Values == nil {
		values = map[string]any{}
	}
	err := schema.Validate(values)
	var cause *jsonschema.ValidationError
	if !errors.As(err, &cause) {
		return err
	}
	for len(cause.Causes) > 0 {
		cause = cause.Causes[0]
	}
	at := []string{"spec", "values"}
	var value any = s.Spec.Values
	for part := range strings.SplitSeq(strings.Trim(cause.InstanceLocation, "/"), "/") {
		below, isMap := value.(map[string]any)
		if part == "" || !isMap {
			break
		}
		at, value = append(at, part), below[part]
	}
	key := strings.Join(append([]string{"values"}, at[2:]...), ".")
	remedy := "see " + path.Join(w.Name, systemChart, "values.yaml")
	where, text := []string{"metadata", "name"}, s.Metadata.Name
	if value != nil && len(at) > 2 {
		where, text = walk.First(at, value)
	}
	w.about(s, text, where, key+": "+cause.Message, remedy)
	return err
}

// needsSecret reports a Secret of the system's namespace that nothing makes.
func (w *Walk) needsSecret(s systemMet, name, of string) {
	if name == "" || w.Incomplete {
		return
	}
	if _, ok := w.find("Secret", s.Metadata.Name, name); ok {
		return
	}
	a := w.absent(reference{Kind: "Secret", Name: name}, s.Metadata.Name)
	w.Refer(s.in, tree.Wanted{Object: s.Object, Path: []string{"spec", "values", of, "secret"}, Value: name}, finding.New(a.gravity(),
		"system %s: values.%s.secret names Secret %s, which nothing in the tree makes in namespace %s", s.Metadata.Name, of, name, s.Metadata.Name).
		WithRemedy(a.remedy("add it beside the system's file, as SealedSecret or ExternalSecret")))
}

// checkSystemsTogether looks for what two systems have in common and should not.
func (w *Walk) checkSystemsTogether(all []systemMet) {
	var met []systemMet
	var named []system.Named
	for _, s := range all {
		same := func(other systemMet) bool { return other.Metadata.Name == s.Metadata.Name }
		if slices.ContainsFunc(met, same) {
			w.about(s, s.Metadata.Name, []string{"metadata", "name"}, "there are two systems of this name", "give one of them another name")
			continue
		}
		if n := w.namespaceOf(s.Metadata.Name); n != nil {
			s.values.Hosts = strings.Fields(n.hosts)
		}
		met, named = append(met, s), append(named, system.Named{Name: s.Metadata.Name, Values: s.values})
	}
	for _, m := range system.Together(named, w.Published.Pages) {
		if s := met[m.At]; m.Path[0] == "hosts" {
			w.aboutHosts(w.namespaceOf(s.Metadata.Name), m.Problem)
		} else {
			w.about(s, m.Value, append([]string{"spec", "values"}, m.Path...), m.Message, m.Remedy)
		}
	}
}

// namespaceOf is the Namespace of a system, the first of that name; nil when there is none.
func (w *Walk) namespaceOf(name string) *namespaceMet {
	at := slices.IndexFunc(w.namespaces, func(n namespaceMet) bool { return n.Metadata.Name == name })
	if at < 0 {
		return nil
	}
	return &w.namespaces[at]
}

// aboutHosts reports an error about the hosts of a system.
func (w *Walk) aboutHosts(n *namespaceMet, p system.Problem) {
	w.Refer(n.in, tree.Wanted{Object: n.Object, Path: []string{"metadata", "annotations", names.SystemHosts}, Value: n.hosts}, finding.Errorf(
		"system %s: %s", n.Metadata.Name, p.Message).WithRemedy(p.Remedy))
}

// checkSystemNamespaces looks at the label by which policies know a system's namespace.
func (w *Walk) checkSystemNamespaces() {
	for i, n := range w.namespaces {
		name := tree.Wanted{Object: n.Object, Path: []string{"metadata", "name"}, Value: n.Metadata.Name}
		label := tree.Wanted{Object: n.Object, Path: []string{"metadata", "labels", names.SystemLabel}, Value: n.label}
		released := func(r releaseMet) bool {
			return r.Metadata.Namespace == names.SystemsNamespace && r.Metadata.Name == n.Metadata.Name
		}
		again := func(o namespaceMet) bool { return o.Metadata.Name == n.Metadata.Name }
		for _, p := range system.CheckHosts(strings.Fields(n.hosts)) {
			w.aboutHosts(&n, p)
		}
		switch {
		case n.label != n.Metadata.Name:
			w.Refer(n.in, label, finding.Errorf("Namespace %s has the label of another system, %s: %q", n.Metadata.Name, names.SystemLabel, n.label).
				WithRemedy(fmt.Sprintf("set it to %s: the policies keep a system apart by it", n.Metadata.Name)))
		case slices.ContainsFunc(w.namespaces[:i], again):
			w.Refer(n.in, name, finding.Errorf("Namespace %s is in two places of the tree", n.Metadata.Name).WithRemedy("remove one of them"))
		case !w.Incomplete && !slices.ContainsFunc(w.releases, released):
			w.Refer(n.in, name, finding.Warningf(
				"Namespace %s is a system's by its label, and no HelmRelease in namespace %s sets the system up", n.Metadata.Name, names.SystemsNamespace).
				WithRemedy("add the release to the system's file, or remove the namespace"))
		}
	}
}

// checkChannels looks at addresses of channels that the tree has in clear. Who knows the
// address of a channel writes to it, so it is a secret.
func (w *Walk) checkChannels() {
	for _, c := range w.channels {
		at := tree.Wanted{Object: c.Object, Path: c.path, Value: c.address}
		if c.path[0] == "data" {
			at.Value = base64.StdEncoding.EncodeToString([]byte(c.address))
		}
		switch {
		case names.RetiredConnector(c.address):
			w.Refer(c.in, at, finding.Errorf("%s sends to a connector at webhook.office.com, which Microsoft has retired", c.Identity()).
				WithRemedy("make a Workflow in the channel, and take its address"))
		case c.secret && c.Metadata.Namespace != "" && w.isSystem(c.Metadata.Namespace) && !names.Invented(c.address):
			w.Refer(c.in, at, finding.Errorf(
				"%s has the address of a channel in clear: anybody who reads the tree can write to the channel", c.Identity()).
				WithRemedy("make it a SealedSecret or an ExternalSecret, and take another address"))
		}
	}
}

func (w *Walk) isSystem(namespace string) bool {
	return w.namespaceOf(namespace) != nil
}
