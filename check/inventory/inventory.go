// Package inventory is what objects there are for those of a platform tree that
// refer to others: bootstrap's and the tree's own.
package inventory

import (
	"maps"
	"slices"
	"strings"

	"tombolo/check/manifest"
	"tombolo/internal/wording"
)

// ID of an object. Kinds are told apart without their group: those that are
// referred to share no name.
type ID struct{ Kind, Namespace, Name string }

// Entry is what is known of an object.
type Entry struct {
	// Keys of its data.
	Keys []string
	// Values by key, where they are known in clear.
	Values map[string]string
	// Open says that it will have keys that are not known here.
	Open bool
	// Exact says that one controller writes it, and nobody else puts keys into it.
	Exact bool
	// Published says that bootstrap makes it: nothing in the tree replaces it.
	Published bool
}

// Has says whether the object has a key, or may have it.
func (e Entry) Has(key string) bool { return e.Open || slices.Contains(e.Keys, key) }

// Inventory is all objects that there are.
type Inventory map[ID]Entry

// In are the names of the objects of a kind in a namespace.
func (s Inventory) In(kind, namespace string) []string {
	var out []string
	for o := range s {
		if o.Kind == kind && o.Namespace == namespace {
			out = append(out, o.Name)
		}
	}
	return out
}

// Namesake looks for an object of the name of one that is not there: in the
// namespace and of a kind that may be mistaken for the wanted one, or in another
// namespace. It returns what differs.
func (s Inventory) Namesake(wanted ID) (kind, namespace string) {
	all := slices.SortedFunc(maps.Keys(s), func(a, b ID) int {
		return strings.Compare(a.Namespace+"/"+a.Kind, b.Namespace+"/"+b.Kind)
	})
	for _, o := range all {
		if o.Name == wanted.Name && o.Namespace == wanted.Namespace && alike(o.Kind, wanted.Kind) {
			return o.Kind, ""
		}
	}
	for _, o := range all {
		if o.Name == wanted.Name && o.Kind == wanted.Kind {
			return "", o.Namespace
		}
	}
	return "", ""
}

// alike says whether a kind may be meant where another, or a misspelt one, is
// written.
func alike(kind, written string) bool {
	data := []string{"ConfigMap", "Secret"}
	sources := []string{"GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart"}
	switch {
	case slices.Contains(data, written):
		return slices.Contains(data, kind)
	case slices.Contains(sources, written):
		return slices.Contains(sources, kind)
	default:
		return wording.Nearest(written, []string{kind}) != ""
	}
}

// holder is what the check reads of objects with data.
type holder struct {
	manifest.Object
	Data       map[string]any `json:"data"`
	BinaryData map[string]any `json:"binaryData"`
	StringData map[string]any `json:"stringData"`
}

// externalSecret is an ExternalSecret of External Secrets.
type externalSecret struct {
	manifest.Object
	Spec struct {
		Target struct {
			Name     string `json:"name"`
			Template *struct {
				Data         map[string]any `json:"data"`
				TemplateFrom []any          `json:"templateFrom"`
				MergePolicy  string         `json:"mergePolicy"`
			} `json:"template"`
		} `json:"target"`
		Data []struct {
			SecretKey string `json:"secretKey"`
		} `json:"data"`
		DataFrom []any `json:"dataFrom"`
	} `json:"spec"`
}

// sealedSecret is a SealedSecret of Sealed Secrets.
type sealedSecret struct {
	manifest.Object
	Spec struct {
		EncryptedData map[string]any `json:"encryptedData"`
		Template      struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Data map[string]any `json:"data"`
		} `json:"template"`
	} `json:"spec"`
}

// Add takes an object of the tree, and what controllers will make of it.
func (s Inventory) Add(o manifest.Object, text string) error {
	self := ID{o.Kind, o.Metadata.Namespace, o.Metadata.Name}
	s.put(self, Entry{})
	var err error
	switch o.Kind {
	case "ConfigMap", "Secret":
		err = s.addData(self, text)
	case "ExternalSecret":
		err = s.addExternal(self, text)
	case "SealedSecret":
		err = s.addSealed(self, text)
	}
	if err != nil {
		return err
	}
	return s.addMade(o, text)
}

func (s Inventory) put(o ID, e Entry) {
	if !s[o].Published {
		s[o] = e
	}
}

func (s Inventory) addData(self ID, text string) error {
	h, err := manifest.Decode[holder](text)
	if err != nil {
		return err
	}
	out := Entry{Values: map[string]string{}}
	for _, data := range []map[string]any{h.Data, h.BinaryData, h.StringData} {
		out.Keys = append(out.Keys, slices.Sorted(maps.Keys(data))...)
	}
	if self.Kind == "ConfigMap" {
		for key, v := range h.Data {
			if clear, ok := v.(string); ok {
				out.Values[key] = clear
			}
		}
	}
	s.put(self, out)
	return nil
}

func (s Inventory) addExternal(self ID, text string) error {
	e, err := manifest.Decode[externalSecret](text)
	if err != nil {
		return err
	}
	target := ID{"Secret", self.Namespace, self.Name}
	if e.Spec.Target.Name != "" {
		target.Name = e.Spec.Target.Name
	}
	out := Entry{}
	template := e.Spec.Target.Template
	if template == nil || template.MergePolicy == "Merge" || (len(template.Data) == 0 && len(template.TemplateFrom) == 0) {
		for _, d := range e.Spec.Data {
			out.Keys = append(out.Keys, d.SecretKey)
		}
		out.Open = len(e.Spec.DataFrom) > 0
	}
	if template != nil {
		out.Keys = append(out.Keys, slices.Sorted(maps.Keys(template.Data))...)
		out.Open = out.Open || len(template.TemplateFrom) > 0
	}
	s.put(target, out)
	return nil
}

func (s Inventory) addSealed(self ID, text string) error {
	e, err := manifest.Decode[sealedSecret](text)
	if err != nil {
		return err
	}
	target := ID{"Secret", self.Namespace, self.Name}
	if e.Spec.Template.Metadata.Name != "" {
		target.Name = e.Spec.Template.Metadata.Name
	}
	s.put(target, Entry{Keys: append(slices.Sorted(maps.Keys(e.Spec.EncryptedData)), slices.Sorted(maps.Keys(e.Spec.Template.Data))...)})
	return nil
}
