package published

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/config/addon"
)

// Values are the Helm values that bootstrap publishes for an addon.
type Values struct {
	// All are the values, in the types that JSON has.
	All map[string]any
	// Accounts are the service accounts that the addon's roles are for.
	Accounts []string
}

// Meeting is a value that is published and that the tree sets as well.
type Meeting struct {
	// Path of its keys.
	Path []string
	// Tree is the tree's value.
	Tree any
	// Made says that the published one is of something that core makes, such as a
	// role: software with another does not work.
	Made bool
}

// Name of the value, its keys with dots between them.
func (m Meeting) Name() string { return strings.Join(m.Path, ".") }

// fromCore stands for every output of core.
const fromCore = "<made by core>"

// valuesOf an addon that has some.
func valuesOf(c *config.Cluster, a addon.Enabled) *Values {
	needs := a.Needs(c.AddonFacts(), a.Options)
	out := addon.Outputs{
		VPCID: fromCore, PrivateSubnetIDs: []string{fromCore}, ClusterEndpoint: fromCore, ClusterSecurityGroupID: fromCore, Certificate: fromCore,
		Made: map[string]string{},
	}
	for _, name := range []string{
		addon.InstanceProfile, addon.QueueName, addon.CertificateARN, addon.BucketName, addon.FileSystemID, addon.VaultURL, addon.AccountName,
		addon.ContainerName,
	} {
		out.Made[name] = fromCore
	}
	v := &Values{}
	for _, i := range needs.Identities {
		out.Made[addon.RoleOutput(i.Name)], out.Made[addon.ClientOutput(i.Name)] = fromCore, fromCore
		v.Accounts = append(v.Accounts, i.ServiceAccount)
	}
	v.All = plain(a.Values(c.AddonFacts(), a.Options, out))
	return v
}

// plain is values in the types that JSON has, as those of a tree are read.
func plain(values map[string]any) map[string]any {
	text, err := json.Marshal(values)
	var out map[string]any
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err) // the catalogue's values are JSON
	}
	return out
}

// Meet returns the published values that a tree's values set to something else, in
// order. An addon without published values meets none.
func (v *Values) Meet(tree map[string]any) []Meeting {
	if v == nil {
		return nil
	}
	return v.meet(v.All, plain(tree), nil)
}

func (v *Values) meet(all, tree map[string]any, at []string) []Meeting {
	var out []Meeting
	for _, key := range slices.Sorted(maps.Keys(all)) {
		theirs, set := tree[key]
		if !set || reflect.DeepEqual(theirs, all[key]) {
			continue
		}
		path := append(slices.Clone(at), key)
		below, isMap := all[key].(map[string]any)
		if inner, ok := theirs.(map[string]any); ok && isMap {
			out = append(out, v.meet(below, inner, path)...)
			continue
		}
		out = append(out, Meeting{Path: path, Tree: theirs, Made: v.made(key, all[key])})
	}
	return out
}

// made says whether a value, or one below it, is of something that core makes: an
// output, or the name that a role is for.
func (v *Values) made(key string, value any) bool {
	if inner, ok := value.(map[string]any); ok {
		for key := range inner {
			if v.made(key, inner[key]) {
				return true
			}
		}
		return false
	}
	text := fmt.Sprint(value)
	return strings.Contains(text, fromCore) || key == "name" && slices.Contains(v.Accounts, text)
}
