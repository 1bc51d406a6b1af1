package inventory

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"tombolo/check/manifest"
)

// Anywhere is the namespace of an object that a controller makes in many namespaces, which are not
// worked out here. It stands for any of them.
const Anywhere = "*"

// named is the kind of an entry for a name that an object of a kind which is not known here has in
// its spec: a controller may make something of that name.
const named = ""

// A maker is a kind whose controller makes objects. The lists of paths lead to their names; "*" is
// each key of a mapping or item of a list.
type maker struct {
	group, kind         string
	secrets, configMaps []string
	// own are kinds that it makes under the object's own name, with each of the suffixes if there are any.
	own, suffixes []string
	// anywhere says that they are in many namespaces.
	anywhere bool
}

// makers by group, of which a suffix may be given, and kind; "" is every kind. Each is what the
// reference of its API says. Their objects have keys that are not known here.
func makers() []maker {
	return []maker{
		// https://cert-manager.io/docs/reference/api-docs/
		{group: "cert-manager.io", kind: "Certificate", secrets: []string{"spec.secretName"}},
		// https://cert-manager.io/docs/trust/trust-manager/api-reference/ makes both kinds, as far as its
		// targets say so.
		{group: "trust.cert-manager.io", kind: "Bundle", own: []string{"Secret", "ConfigMap"}, anywhere: true},
		{group: "trust-manager.io", kind: "ClusterBundle", own: []string{"Secret", "ConfigMap"}, anywhere: true},
		// https://external-secrets.io/latest/api/clusterexternalsecret/
		{
			group: "external-secrets.io", kind: "ClusterExternalSecret", anywhere: true, own: []string{"Secret"},
			secrets: []string{"spec.externalSecretSpec.target.name", "spec.externalSecretName"},
		},
		// https://docs.crossplane.io/latest/managed-resources/managed-resources/
		{group: ".", secrets: []string{"spec.writeConnectionSecretToRef.name", "spec.publishConnectionDetailsTo.name"}},
		// https://aws-controllers-k8s.github.io/community/docs/user-docs/field-export/
		{group: "services.k8s.aws", kind: "FieldExport", secrets: []string{"spec.to.name"}, configMaps: []string{"spec.to.name"}},
		// https://flux-iac.github.io/tofu-controller/
		{group: "infra.contrib.fluxcd.io", kind: "Terraform", secrets: []string{"spec.writeOutputsToSecret.name"}},
		// https://cloudnative-pg.io/documentation/current/applications/ has -app and -superuser, and two CAs.
		{group: "postgresql.cnpg.io", kind: "Cluster", own: []string{"Secret"}, suffixes: []string{"-app", "-superuser", "-ca", "-server", "-replication"}},
		// https://strimzi.io/docs/operators/latest/configuring
		{group: "kafka.strimzi.io", kind: "KafkaUser", own: []string{"Secret"}},
		{group: "kafka.strimzi.io", kind: "Kafka", own: []string{"Secret"}, suffixes: []string{"-cluster-ca-cert", "-clients-ca-cert"}},
		// https://developer.hashicorp.com/vault/docs/deploy/kubernetes/vso/api-reference
		{group: "secrets.hashicorp.com", secrets: []string{"spec.destination.name"}},
		// https://developer.1password.com/docs/k8s/operator/
		{group: "onepassword.com", kind: "OnePasswordItem", own: []string{"Secret"}},
		// https://secrets-store-csi-driver.sigs.k8s.io/topics/sync-as-kubernetes-secret
		{group: "secrets-store.csi.x-k8s.io", kind: "SecretProviderClass", secrets: []string{"spec.secretObjects.*.secretName"}},
	}
}

// addMade adds what controllers make of an object of the tree.
func (s Inventory) addMade(o manifest.Object, text string) error {
	if !isCustom(o) && !slices.Contains([]string{"Secret", "ConfigMap", "Ingress", "Gateway"}, o.Kind) {
		return nil // definitions are long, and nothing is made of most objects
	}
	content, err := manifest.Decode[map[string]any](text)
	if err != nil {
		return err
	}
	known := s.addOperated(o, content)
	for _, m := range makers() {
		if m.makesOf(o) {
			known = s.addOf(m, o, content) || known
		}
	}
	s.addMirrors(o, content)
	switch {
	case o.Group() == "kyverno.io":
		s.addGenerated(content)
	case o.Kind == "ResourceSet" && o.Group() == "fluxcd.controlplane.io":
		s.addResources(o, content)
	case o.Kind == "FluxInstance" && o.Group() == "fluxcd.controlplane.io":
		s.addSync(o, content)
	case o.Kind == "Ingress" || o.Kind == "Gateway":
		s.addServed(o, content)
	case !known && isCustom(o):
		s.addNamed(o, content)
	}
	return nil
}

func (m maker) makesOf(o manifest.Object) bool {
	group := o.Group()
	switch {
	case m.kind != "" && m.kind != o.Kind:
		return false
	case m.group == ".":
		return isCustom(o)
	}
	return group == m.group || (strings.HasPrefix(m.group, ".") && strings.HasSuffix(group, m.group))
}

// isCustom says whether others than Kubernetes and Flux define the kind: who defines it has a
// controller of its own, which may make something.
func isCustom(o manifest.Object) bool {
	group := o.Group()
	return strings.Contains(group, ".") && strings.Contains(o.APIVersion, "/") &&
		!strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, ".toolkit.fluxcd.io")
}

// addOf adds what a maker makes of an object, and says whether that is anything.
func (s Inventory) addOf(m maker, o manifest.Object, content map[string]any) bool {
	namespace := o.Metadata.Namespace
	if m.anywhere {
		namespace = Anywhere
	}
	before := len(s)
	suffixes := m.suffixes
	if len(suffixes) == 0 {
		suffixes = []string{""}
	}
	for _, kind := range m.own {
		for _, suffix := range suffixes {
			s.putMade(kind, namespace, o.Metadata.Name+suffix)
		}
	}
	if given := texts(content, []string{"spec", "writeConnectionSecretToRef", "namespace"}); len(given) > 0 { // of a cluster's object
		namespace = given[0]
	}
	for kind, paths := range map[string][]string{"Secret": m.secrets, "ConfigMap": m.configMaps} {
		for _, p := range paths {
			for _, name := range texts(content, strings.Split(p, ".")) {
				s.putMade(kind, namespace, name)
			}
		}
	}
	return len(s) > before
}

// putMade adds an object that a controller makes; its keys are not known.
func (s Inventory) putMade(kind, namespace, name string) {
	id := ID{kind, namespace, name}
	if e, ok := s[id]; ok {
		e.Open = true
		s.put(id, e)
		return
	}
	s.put(id, Entry{Open: true})
}

// Annotations of controllers that copy Secrets and ConfigMaps to other namespaces.
// https://github.com/emberstack/kubernetes-reflector and https://github.com/mittwald/kubernetes-replicator
const (
	reflectedTo    = "reflector.v1.k8s.emberstack.com/reflection-auto-enabled"
	reflectedFrom  = "reflector.v1.k8s.emberstack.com/reflects"
	replicatedTo   = "replicator.v1.mittwald.de/replicate-to"
	replicatedLike = "replicator.v1.mittwald.de/replicate-to-matching"
	replicatedFrom = "replicator.v1.mittwald.de/replicate-from"
)

// addMirrors adds the copies of an object, and of the Secret that a controller makes of it with
// annotations of its own. Patterns of namespaces are not worked out.
func (s Inventory) addMirrors(o manifest.Object, content map[string]any) {
	kind, name := o.Kind, o.Metadata.Name
	for _, p := range []struct {
		annotations []string
		name        string
	}{
		{[]string{"metadata", "annotations"}, ""},
		{[]string{"spec", "secretTemplate", "annotations"}, "spec.secretName"},
		{[]string{"spec", "target", "template", "metadata", "annotations"}, "spec.target.name"},
		{[]string{"spec", "template", "metadata", "annotations"}, "spec.template.metadata.name"},
	} {
		annotations, _ := below(content, p.annotations).(map[string]any)
		if p.name != "" {
			kind, name = "Secret", o.Metadata.Name
			if given := texts(content, strings.Split(p.name, ".")); len(given) > 0 {
				name = given[0]
			}
		} else if kind != "Secret" && kind != "ConfigMap" {
			continue
		}
		if annotations[reflectedTo] == "true" || annotations[replicatedTo] != nil || annotations[replicatedLike] != nil {
			s.putMade(kind, Anywhere, name)
		}
		if annotations[reflectedFrom] != nil || annotations[replicatedFrom] != nil {
			s.putMade(kind, o.Metadata.Namespace, name)
		}
	}
}

// addGenerated adds what Kyverno's rules generate; the namespaces are those that its rules match.
// https://kyverno.io/docs/policy-types/cluster-policy/generate/
func (s Inventory) addGenerated(content map[string]any) {
	rules, _ := below(content, []string{"spec", "rules"}).([]any)
	for _, rule := range rules {
		rule, _ := rule.(map[string]any)
		kind, _ := below(rule, []string{"generate", "kind"}).(string)
		for _, name := range append(texts(rule, []string{"generate", "name"}), texts(rule, []string{"generate", "cloneList", "kinds", "*"})...) {
			if kind != "" && !strings.Contains(name, "{{") {
				s.putMade(kind, Anywhere, name)
				continue
			}
			s.putMade(kind, Anywhere, Anywhere)
		}
	}
}

// addResources adds the objects that a ResourceSet of the Flux Operator has; a text with its
// template's brackets is not worked out. https://fluxcd.control-plane.io/operator/resourceset/
func (s Inventory) addResources(o manifest.Object, content map[string]any) {
	resources, _ := below(content, []string{"spec", "resources"}).([]any)
	for _, r := range resources {
		r, _ := r.(map[string]any)
		kind, _ := r["kind"].(string)
		name, _ := below(r, []string{"metadata", "name"}).(string)
		namespace, _ := below(r, []string{"metadata", "namespace"}).(string)
		if namespace == "" {
			namespace = o.Metadata.Namespace
		}
		s.putMade(kind, orAnywhere(namespace), orAnywhere(name))
	}
	if template, _ := below(content, []string{"spec", "resourcesTemplate"}).(string); template != "" {
		s.putMade(Anywhere, Anywhere, Anywhere)
	}
}

// addSync adds the source and the Kustomization that the Flux Operator makes for an instance, under the name of its
// namespace unless it gives another. https://fluxoperator.dev/docs/instance/sync/
func (s Inventory) addSync(o manifest.Object, content map[string]any) {
	kind, _ := below(content, []string{"spec", "sync", "kind"}).(string)
	if kind == "" {
		return
	}
	name, _ := below(content, []string{"spec", "sync", "name"}).(string)
	for _, kind := range []string{kind, "Kustomization"} {
		s.putMade(kind, o.Metadata.Namespace, cmp.Or(name, o.Metadata.Namespace))
	}
}

func orAnywhere(text string) string {
	if strings.Contains(text, "<<") {
		return Anywhere
	}
	return text
}

// addServed adds the Secrets that cert-manager makes for an Ingress or Gateway with its
// annotations. https://cert-manager.io/docs/usage/ingress/
func (s Inventory) addServed(o manifest.Object, content map[string]any) {
	annotations, _ := below(content, []string{"metadata", "annotations"}).(map[string]any)
	if annotations["cert-manager.io/cluster-issuer"] == nil && annotations["cert-manager.io/issuer"] == nil && annotations["kubernetes.io/tls-acme"] == nil {
		return
	}
	for _, name := range append(texts(content, []string{"spec", "tls", "*", "secretName"}), texts(content, []string{"spec", "listeners", "*", "tls", "certificateRefs", "*", "name"})...) {
		s.putMade("Secret", o.Metadata.Namespace, name)
	}
}

// addNamed adds all texts of an object's spec, and its name: it may be one of them that a controller
// which is not known here makes.
func (s Inventory) addNamed(o manifest.Object, content map[string]any) {
	s.put(ID{named, o.Metadata.Namespace, o.Metadata.Name}, Entry{})
	var each func(value any)
	each = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for _, v := range value {
				each(v)
			}
		case []any:
			for _, v := range value {
				each(v)
			}
		case string:
			s.put(ID{named, o.Metadata.Namespace, value}, Entry{})
		}
	}
	each(content["spec"])
}

// Find is an object of the inventory, or one that a controller makes in any namespace or under a
// name that is not worked out.
func (s Inventory) Find(wanted ID) (Entry, bool) {
	for _, id := range []ID{
		wanted,
		{wanted.Kind, Anywhere, wanted.Name},
		{wanted.Kind, wanted.Namespace, Anywhere},
		{wanted.Kind, Anywhere, Anywhere},
		{Anywhere, Anywhere, Anywhere},
	} {
		if e, ok := s[id]; ok {
			return e, true
		}
	}
	return Entry{}, false
}

// MayBeMade says whether an object of a kind that is not known here names the wanted one: its
// controller may make it.
func (s Inventory) MayBeMade(wanted ID) bool {
	_, ok := s[ID{named, wanted.Namespace, wanted.Name}]
	if !ok {
		_, ok = s[ID{named, "", wanted.Name}] // by an object of the cluster
	}
	return ok
}

// texts are the texts at a path.
func texts(value any, path []string) []string {
	if len(path) == 0 {
		if text, ok := value.(string); ok && text != "" {
			return []string{text}
		}
		return nil
	}
	var out []string
	switch value := value.(type) {
	case map[string]any:
		if path[0] != "*" {
			return texts(value[path[0]], path[1:])
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out = append(out, texts(value[key], path[1:])...)
		}
	case []any:
		for _, item := range value {
			if path[0] == "*" {
				out = append(out, texts(item, path[1:])...)
			}
		}
	}
	return out
}

// below is the value at keys of mappings.
func below(value any, keys []string) any {
	for _, key := range keys {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}
