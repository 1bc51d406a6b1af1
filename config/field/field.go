// Package field describes the fields of the types that files are read into: what a value may
// be, what a change of it does to a cluster that lives, and what files for the other cloud have
// in its place. A field has one Descriptor, beside its type; the schema, the reference and the
// page of effects are generated from them.
package field

import (
	"reflect"

	"tombolo/config/strict"
)

// Provider is a cloud. A field with the tag cloud has a key in the files for that cloud only.
type Provider string

// The clouds of version 1.
const (
	AWS   Provider = "aws"
	Azure Provider = "azure"
)

// CloudTag is the tag of a field whose key only files for one cloud have.
const CloudTag = "cloud"

// Providers are the clouds that a cluster file may be for.
func Providers() []Provider { return []Provider{AWS, Azure} }

// Title of the cloud, as people write it.
func (p Provider) Title() string {
	if p == Azure {
		return "Azure"
	}
	return "AWS"
}

// Descriptor is what is known of a field beside its type and its comment. The zero Descriptor
// is of a section, whose own keys have theirs.
type Descriptor struct {
	// Rule says what the value may be, and its default; AzureRule does so in files for Azure,
	// nil where that is the same.
	Rule      strict.Rule
	AzureRule *strict.Rule
	// Change has the ways in which the value can change, in the order in which they are tried;
	// the last is for all other changes. AzureChange has those on Azure, nil where they are
	// the same.
	Change, AzureChange []Case
	// Instead is the key of the same mapping that files for the other cloud have in the place
	// of this one, "" for none. Remedy says what to do with this one there; "" for the general
	// words.
	Instead, Remedy string
	// KeyRemedy says what to do about a KMS key of another region than the cluster's; "" where
	// it may be of any.
	KeyRemedy string
	// Cloud is the one whose files alone have the key, by its tag; "" for all.
	Cloud Provider
	// Own says that the value is one cluster's: files that clusters share do not have it.
	Own bool
	// Unordered says that the order of a list says nothing.
	Unordered bool
}

// RuleOn is what the value may be in files for a cloud.
func (d Descriptor) RuleOn(p Provider) strict.Rule {
	if p == Azure && d.AzureRule != nil {
		return *d.AzureRule
	}
	return d.Rule
}

// ChangeOn are the cases of a change on a cloud.
func (d Descriptor) ChangeOn(p Provider) []Case {
	if p == Azure && d.AzureChange != nil {
		return d.AzureChange
	}
	return d.Change
}

// Set has descriptors by type and field, such as "Network.CIDR"; that of a type as a whole by
// the type, such as "SecretRef".
type Set map[string]Descriptor

// Of are the descriptors of a struct type's fields, by their names in Go; "" is the type itself.
func Of[T any](fields map[string]Descriptor) Set {
	typ := reflect.TypeFor[T]()
	set := Set{}
	for name, d := range fields {
		if name == "" {
			set[typ.Name()] = d
			continue
		}
		f, ok := typ.FieldByName(name)
		if !ok {
			panic("the descriptor " + typ.Name() + "." + name + " is of no field")
		}
		d.Cloud = Provider(f.Tag.Get(CloudTag))
		set[typ.Name()+"."+name] = d
	}
	return set
}

// Join is all of several sets.
func Join(sets ...Set) Set {
	all := Set{}
	for _, set := range sets {
		for name, d := range set {
			if _, twice := all[name]; twice {
				panic("the field " + name + " has two descriptors")
			}
			all[name] = d
		}
	}
	return all
}
