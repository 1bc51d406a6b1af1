package contract

import (
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// id of an object. Kinds are told apart without their group: those that are
// referred to share no name.
type id struct{ kind, namespace, name string }

// stocked is what is known of an object of the tree.
type stocked struct {
	keys []string
	// values by key, where the tree has them in clear.
	values map[string]string
	// open says that it will have keys that nobody can know here.
	open bool
}

func (s stocked) has(key string) bool { return s.open || slices.Contains(s.keys, key) }

// stock is all objects that the tree makes.
type stock map[id]stocked

// holder is what the check reads of objects with data.
type holder struct {
	manifest
	Data       map[string]any `json:"data"`
	BinaryData map[string]any `json:"binaryData"`
	StringData map[string]any `json:"stringData"`
}

// externalSecret is an ExternalSecret of External Secrets.
type externalSecret struct {
	manifest
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
	manifest
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

// add takes an object into the stock, and the Secret that a controller will
// make of it.
func (s stock) add(m manifest, text string) error {
	self := id{m.Kind, m.Metadata.Namespace, m.Metadata.Name}
	s[self] = stocked{}
	switch m.Kind {
	case "ConfigMap", "Secret":
		return s.addData(self, text)
	case "ExternalSecret":
		return s.addExternal(self, text)
	case "SealedSecret":
		return s.addSealed(self, text)
	}
	return nil
}

func (s stock) addData(self id, text string) error {
	var h holder
	if err := yaml.Unmarshal([]byte(text), &h); err != nil {
		return err
	}
	out := stocked{values: map[string]string{}}
	for _, data := range []map[string]any{h.Data, h.BinaryData, h.StringData} {
		out.keys = append(out.keys, slices.Sorted(maps.Keys(data))...)
	}
	if self.kind == "ConfigMap" {
		for key, v := range h.Data {
			if clear, ok := v.(string); ok {
				out.values[key] = clear
			}
		}
	}
	s[self] = out
	return nil
}

func (s stock) addExternal(self id, text string) error {
	var e externalSecret
	if err := yaml.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	target := id{"Secret", self.namespace, self.name}
	if e.Spec.Target.Name != "" {
		target.name = e.Spec.Target.Name
	}
	out := stocked{}
	template := e.Spec.Target.Template
	if template == nil || template.MergePolicy == "Merge" || (len(template.Data) == 0 && len(template.TemplateFrom) == 0) {
		for _, d := range e.Spec.Data {
			out.keys = append(out.keys, d.SecretKey)
		}
		out.open = len(e.Spec.DataFrom) > 0
	}
	if template != nil {
		out.keys = append(out.keys, slices.Sorted(maps.Keys(template.Data))...)
		out.open = out.open || len(template.TemplateFrom) > 0
	}
	s[target] = out
	return nil
}

func (s stock) addSealed(self id, text string) error {
	var e sealedSecret
	if err := yaml.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	target := id{"Secret", self.namespace, self.name}
	if e.Spec.Template.Metadata.Name != "" {
		target.name = e.Spec.Template.Metadata.Name
	}
	s[target] = stocked{keys: append(slices.Sorted(maps.Keys(e.Spec.EncryptedData)), slices.Sorted(maps.Keys(e.Spec.Template.Data))...)}
	return nil
}
