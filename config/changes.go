package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tombolo/config/access"
	"tombolo/config/addon"
	"tombolo/config/cloud"
	"tombolo/config/egress"
	"tombolo/config/field"
	"tombolo/config/gitops"
	"tombolo/config/identity"
	"tombolo/config/kubernetes"
	"tombolo/config/network"
	"tombolo/config/nodes"
	"tombolo/config/policy"
	"tombolo/config/secret"
	"tombolo/config/services"
	"tombolo/config/stackfile"
	"tombolo/config/strict"
	"tombolo/config/values"
	"tombolo/config/windows"
	"tombolo/internal/wording"
)

// Live is the cluster file that a cluster which lives was made from, as far as the
// cloud's resources in its state tell.
type Live struct {
	Cluster *Cluster
	// Known are the fields that the resources tell, such as "Network.CIDR". Others are
	// not compared.
	Known []string
	// ControlPlaneZones are those that the control plane was made in, and Subnets those
	// that the cluster's own network has; none of others' networks.
	ControlPlaneZones []string
	Subnets           []network.SubnetPlan
	// NodeVersion is the oldest version of the node groups, major.minor, whatever the
	// file says; "" without a group.
	NodeVersion string
}

// Change is a key of the cluster file that differs from what the live cluster was made
// from.
type Change struct {
	// Path of the key, such as network.cidr. For an item that is gone, that of its list.
	Path string `json:"path"`
	// Before and After are the values; of an item of a list that came or went, its name
	// on one side and nil on the other.
	Before any `json:"before"`
	After  any `json:"after"`
	// Effect of the change, and what happens, in words.
	Effect Effect `json:"effect"`
	Words  string `json:"words"`
	// Remedy says what to do in place of a change that is refused.
	Remedy string `json:"remedy,omitempty"`
}

// String is the change on one line.
func (c Change) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", c.Path, c.Values(), c.Effect, c.Words)
}

// Values are the values before and after, in short.
func (c Change) Values() string {
	switch {
	case c.After == nil:
		return "removed " + short(c.Before)
	case c.Before == nil:
		return "added " + short(c.After)
	}
	return short(c.Before) + " -> " + short(c.After)
}

// longestValue of a change that is shown as a whole, in characters.
const longestValue = 80

func short(value any) string {
	text := strings.TrimSpace(fmt.Sprint(value))
	if s, ok := value.(string); ok && s == "" {
		return "none"
	}
	if runes := []rune(text); len(runes) > longestValue {
		return string(runes[:longestValue-3]) + "..."
	}
	return text
}

// Changes of a cluster file, in the order of its keys.
type Changes []Change

// Compare lists the keys in which the file differs from what the live cluster was made
// from, each with its effect. Without a live cluster there are none.
func Compare(live *Live, file *Cluster) Changes {
	if live == nil {
		return nil
	}
	w := comparison{live: live, file: file}
	switch {
	case live.Cluster.Cloud.Provider != "" && live.Cluster.Cloud.Provider != file.Cloud.Provider:
		w.otherCloud()
		return w.found
	case live.Cluster.IsExisting() != file.IsExisting():
		w.otherOwner()
		return w.found
	}
	w.section("", reflect.ValueOf(*live.Cluster), reflect.ValueOf(*file))
	return w.found
}

// Refused are the changes that an up refuses.
func (cs Changes) Refused() Changes {
	return slices.DeleteFunc(slices.Clone(cs), func(c Change) bool { return !c.Effect.Refused() })
}

// Worst is the gravest effect of the changes; "" when there are none.
func (cs Changes) Worst() Effect {
	var worst Effect
	for _, c := range cs {
		if worst == "" || c.Effect.Worse(worst) {
			worst = c.Effect
		}
	}
	return worst
}

// Problems are the changes that are refused, each with its place in the file of the
// cluster. They are no error when there are none: see strict.Problems.Err.
func (cs Changes) Problems(file *Cluster) strict.Problems {
	refused := cs.Refused()
	if len(refused) == 0 {
		return nil
	}
	problem := file.Places()
	var out strict.Problems
	for _, c := range refused {
		message := fmt.Sprintf("cannot change on the live cluster (%s, %s): %s", c.Values(), c.Effect, c.Words)
		out = append(out, problem(c.Path, message, c.Remedy))
	}
	return out.InOrder()
}

// comparison walks both clusters together.
type comparison struct {
	live  *Live
	file  *Cluster
	found Changes
}

// section compares the keys of a struct.
func (w *comparison) section(at strict.Path, live, file reflect.Value) {
	typ := live.Type()
	for _, f := range w.file.format().Fields(typ) {
		name := typ.Name() + "." + typ.Field(f.Index).Name
		before, after, path := live.Field(f.Index), file.Field(f.Index), at.Field(f.Name)
		switch {
		case name == "Cluster.Network" && (w.live.Cluster.Network.Existing == nil) != (w.file.Network.Existing == nil):
			w.otherNetwork(path)
		case name == "Cluster.Addons":
			w.options(path)
		case f.Type.Kind() == reflect.Struct:
			w.section(path, before, after)
		case named(f.Type):
			w.list(name, path, before, after)
		case pointsToStruct(f.Type) && !before.IsNil() && !after.IsNil():
			w.section(path, before.Elem(), after.Elem())
		case !same(name, before, after):
			w.add(name, path, plain(before), plain(after))
		}
	}
}

// options compares what the state tells of the options of addons.
func (w *comparison) options(at strict.Path) {
	for _, a := range w.live.Cluster.Addons.Enabled() {
		if after, on := w.file.Addons[a.Name]; on {
			w.section(at.Field(a.Name), reflect.ValueOf(a.Options).Elem(), reflect.ValueOf(after).Elem())
		}
	}
}

// otherNetwork says once that an own network and an existing one are exchanged: all
// other keys of the network differ with it.
func (w *comparison) otherNetwork(at strict.Path) {
	network := func(n network.Network) any {
		if n.Existing != nil {
			return cmp.Or(n.Existing.VPC, n.Existing.NodeSubnet)
		}
		return "an own network of " + n.CIDR
	}
	w.add("Network.Existing", at.Field("existing"), network(w.live.Cluster.Network), network(w.file.Network))
}

// otherCloud says once that the file is for another cloud: all other keys differ with it.
func (w *comparison) otherCloud() {
	const name = "Cloud.Provider"
	w.live.Known = append(slices.Clone(w.live.Known), name)
	w.add(name, "cloud.provider", string(w.live.Cluster.Cloud.Provider), string(w.file.Cloud.Provider))
}

// otherOwner says once that a cluster which core made and one that others own are
// exchanged: all other keys differ with it.
func (w *comparison) otherOwner() {
	cluster := func(c *Cluster) any {
		if e := c.Kubernetes.Existing; e != nil {
			return "the existing cluster " + e.Name
		}
		return "a cluster that core makes"
	}
	w.live.Known = append(slices.Clone(w.live.Known), "Kubernetes.Existing")
	w.add("Kubernetes.Existing", "kubernetes.existing", cluster(w.live.Cluster), cluster(w.file))
}

// named says that a list's items are told apart by their names.
func named(list reflect.Type) bool {
	if list.Kind() != reflect.Slice || list.Elem().Kind() != reflect.Struct {
		return false
	}
	_, ok := list.Elem().FieldByName("Name")
	return ok
}

func pointsToStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// list compares the items of the same name, and tells which came and which went.
func (w *comparison) list(name string, at strict.Path, live, file reflect.Value) {
	if !w.knows(name) {
		return
	}
	was := map[string]reflect.Value{}
	for i := range live.Len() {
		was[nameOf(live.Index(i))] = live.Index(i)
	}
	is := map[string]bool{}
	for i := range file.Len() {
		item := file.Index(i)
		is[nameOf(item)] = true
		if before, ok := was[nameOf(item)]; ok {
			w.section(at.Index(i), before, item)
			continue
		}
		w.add(name, at.Index(i), nil, nameOf(item))
	}
	for i := range live.Len() {
		if gone := nameOf(live.Index(i)); !is[gone] {
			w.add(name, at, gone, nil)
		}
	}
}

func nameOf(item reflect.Value) string { return item.FieldByName("Name").String() }

func (w *comparison) knows(name string) bool { return slices.Contains(w.live.Known, name) }

// add decides which case of the field the change is.
func (w *comparison) add(name string, at strict.Path, before, after any) {
	if !w.knows(name) {
		return
	}
	c := field.Change{
		Before: before, After: after, Live: w.live.Cluster.factsOfChanges(), File: w.file.factsOfChanges(),
		ControlPlaneZones: w.live.ControlPlaneZones, HasRoom: w.live.hasRoom,
	}
	for _, of := range EffectsOn(w.file.Cloud.Provider, name) {
		if of.Applies == nil || of.Applies(c) {
			w.found = append(w.found, Change{Path: string(at), Before: before, After: after, Effect: of.Effect, Words: of.Words, Remedy: of.Remedy})
			return
		}
	}
}

// same compares two values of a field. Nothing and an empty list or map are the same.
func same(name string, a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice, reflect.Map:
		if a.Len() == 0 && b.Len() == 0 {
			return true
		}
	}
	x, y := plain(a), plain(b)
	if a.Type() == reflect.TypeFor[map[string]any]() { // of YAML and of JSON, which have other numbers
		return canonicalJSON(x) == canonicalJSON(y)
	}
	if described[name].Unordered {
		x, y = sorted(a), sorted(b)
	}
	return reflect.DeepEqual(x, y)
}

func canonicalJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

func sorted(list reflect.Value) []string {
	items := make([]string, list.Len())
	for i := range items {
		items[i] = fmt.Sprint(list.Index(i))
	}
	slices.Sort(items)
	return items
}

// plain is a value without its pointer, and without the name of its type; nil for no
// value, "" for an unset text.
func plain(v reflect.Value) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.String {
		return v.String()
	}
	return v.Interface()
}

// Summary counts the changes by their effects, the gravest first, such as "1 rolls
// nodes, 2 in place".
func (cs Changes) Summary() string {
	n := map[Effect]int{}
	for _, c := range cs {
		n[c.Effect]++
	}
	all := field.Effects()
	slices.Reverse(all)
	var parts []string
	for _, e := range all {
		if n[e] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[e], e))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), wording.Count(0, "change"))
}

// factsOfChanges are what the changes of several keys depend on.
func (c *Cluster) factsOfChanges() field.Facts {
	return field.Facts{
		Existing: c.IsExisting(), Auto: c.Kubernetes.Auto(), Proxied: c.Egress.Proxy.URL != "", Encrypts: c.encrypts(),
		RollBack: c.RollBack, LongTerm: c.Kubernetes.Support == kubernetes.ExtendedSupport, Version: kubernetes.Minor(c.Kubernetes.Version), Nodes: kubernetes.Minor(c.Kubernetes.Nodes()), FirstPool: c.Kubernetes.FirstSystemPool(),
	}
}

// hasRoom says whether the network has room for subnets in zones beside those it has.
func (l *Live) hasRoom(zones []string) bool {
	_, err := network.SubnetsBeside(l.Cluster.Network.CIDR, zones, l.Subnets)
	return err == nil
}

// encrypts says that the file turns the encryption of Secrets on, as it does by default; on Azure
// with a key.
func (c *Cluster) encrypts() bool {
	s := c.Kubernetes.SecretsEncryption
	return (s.Enabled == nil || *s.Enabled) && (s.KeyID != "" || !c.onAzure())
}

// described are the descriptors of all fields of all files, by type and field.
var described = field.Join(
	addon.Fields(), clusterFields, accountFields, stateStoreFields, pipelinesFields, previewRoleFields, applyRoleFields,
	cloud.Fields, network.Fields, secret.Fields, egress.Fields, identity.Fields, services.Fields, values.Fields, nodes.Fields, access.Fields, kubernetes.Fields, gitops.Fields, windows.Fields, policy.Fields, stackfile.Fields,
)

// ruleFor is the rule of a field in the files for a cloud.
func ruleFor(p Provider, name string) strict.Rule { return described[name].RuleOn(p) }

// ruleOf is the rule of a field in files for AWS, and in those that are for no cloud.
func ruleOf(name string) strict.Rule { return ruleFor(AWS, name) }

// EffectsOf are the cases of a field of the cluster file's types in files for AWS: see
// EffectsOn.
func EffectsOf(name string) []Case { return EffectsOn(AWS, name) }

// EffectsOn are the cases of a field of the cluster file's types, such as "Network.CIDR", on
// a cloud, in the order in which they are tried; the last is for all other changes. There
// are none for a section, which has keys with effects of their own, and for what is no key.
func EffectsOn(p Provider, name string) []Case { return slices.Clone(described[name].ChangeOn(p)) }

// EffectFields are the fields with declared effects in files for AWS, sorted, without the
// options of addons that are all changed in place.
func EffectFields() []string {
	return fieldsWith(func(name string, d field.Descriptor) bool {
		_, ofAddon := addon.Fields()[name]
		return d.Change != nil && d.Cloud != Azure && (!ofAddon || len(d.Change) > 1)
	})
}

// AzureEffectFields are the fields whose effects are declared for files for Azure alone, sorted.
func AzureEffectFields() []string {
	return fieldsWith(func(_ string, d field.Descriptor) bool {
		return d.AzureChange != nil || d.Change != nil && d.Cloud == Azure
	})
}

func fieldsWith(is func(name string, d field.Descriptor) bool) []string {
	var out []string
	for name, d := range described {
		if is(name, d) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
