package config

import (
	"reflect"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/scalar"
	"tombolo/internal/wording"
)

// clusterFormat is the format of cluster files with the keys of all clouds. A file is read
// by that of its cloud: see formatOf.
var clusterFormat = strict.Format{
	Rule:    ruleOf,
	Empty:   "start with version: 1 and name, or copy another cluster file",
	Several: "put every cluster into a file of its own",
}

// formats of cluster files, by the cloud that they are for.
var formats = map[Provider]strict.Format{AWS: formatFor(AWS), Azure: formatFor(Azure)}

// formatOf is the format of the cluster files for a cloud; for one that is not known, it is
// that for AWS.
func formatOf(p Provider) strict.Format {
	if f, ok := formats[p]; ok {
		return f
	}
	return formats[AWS]
}

func formatFor(p Provider) strict.Format {
	f := clusterFormat
	f.Rule = func(name string) strict.Rule { return ruleFor(p, name) }
	f.Omit = func(owner reflect.Type, name string, tag reflect.StructTag) *strict.Omission {
		if owner == reflect.TypeFor[addon.Selection]() {
			return addonOmission(p, name)
		}
		return omission(p, owner.Name()+"."+name, Provider(tag.Get(field.CloudTag)))
	}
	return f
}

// format of the cluster's file.
func (c *Cluster) format() strict.Format { return formatOf(c.Cloud.Provider) }

// onAzure says that the cluster is in Azure.
func (c *Cluster) onAzure() bool { return c.Cloud.Provider == Azure }

// providerIn is the cloud that a file is for, whatever else is wrong with it: what the file
// may say depends on it.
func providerIn(content []byte) Provider { return providerOf(providerWord(content)) }

func providerWord(content []byte) string {
	word, _ := scalar.At(content, "cloud", "provider") // an error is reported when the file is decoded
	return word
}

// providerOf is the cloud that a word means: a misspelt one means the nearest, and none AWS.
func providerOf(word string) Provider {
	word = strings.ToLower(strings.TrimSpace(word))
	if slices.Contains(field.Providers(), Provider(word)) {
		return Provider(word)
	}
	if near := wording.Nearest(word, form.Texts(field.Providers()...)); near != "" {
		return Provider(near)
	}
	return AWS
}

// addonOmission is why the files for a cloud have no addon of a name; nil for one that they
// have.
func addonOmission(p Provider, name string) *strict.Omission {
	a := addon.Find(name)
	if a == nil {
		return nil
	}
	instead, not := a.NotOn[string(p)]
	if !not {
		return nil
	}
	return &strict.Omission{Message: instead.Reason, Remedy: instead.Remedy}
}

// omission is why the files for a cloud have no key for a field, such as Cloud.Tenant, which
// only those of another have; nil for a key that they have.
func omission(p Provider, name string, other Provider) *strict.Omission {
	if other == "" || other == p {
		return nil
	}
	d := described[name]
	o := &strict.Omission{
		Message: "is a key of files for " + other.Title() + ", and this one is for " + p.Title(),
		Remedy:  d.Remedy, Instead: d.Instead,
	}
	switch {
	case o.Remedy != "":
	case o.Instead != "":
		o.Remedy = "use " + o.Instead
	default:
		o.Remedy = "remove it"
	}
	return o
}
