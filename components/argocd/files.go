package argocd

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"tombolo/components/distribution"
	"tombolo/internal/names"
)

// The files by which Argo CD manages itself, below the tree's path. The Application is in the tree
// itself, so that the root applies it. The distribution is in a directory of its own, so that the
// root does not apply that, too.
const (
	ApplicationFile = names.ArgoCDNamespace + ".yaml"
	InstallFile     = names.ArgoCDNamespace + "/install.yaml"
)

// Staying is what Argo CD is told about one object, in annotations. An object that the next release drops stays,
// and counts as no difference. An Application that is deleted with all it has made leaves Argo CD there.
// Sources: docs/user-guide/sync-options.md and compare-options.md of argo-cd v3.5.7.
func Staying() map[string]string {
	return map[string]string{
		"argocd.argoproj.io/sync-options":    "Prune=false,Delete=false",
		"argocd.argoproj.io/compare-options": "IgnoreExtraneous",
	}
}

const notificationsObject = "argocd-notifications-cm"

// Files are the distribution, and the Application that has Argo CD apply it, as files for the
// repository that Argo CD follows, by their name. Of args.Auth, KnownHosts alone counts.
//
// Not in them is what bootstrap goes on to decide about: Secrets, the namespace, and the keys of
// ConfigMaps that it sets; and the empty ConfigMap of notifications, which the tree's systems fill: all
// Applications apply under one name, and each would take from it what another one has set
// (ArgoCDSSAManager in common/common.go of argo-cd v3.5.7). Argo CD applies on the server's side, which leaves alone what no file has.
// The Application has no finalizer: by one, Argo CD would take itself away, and not finish.
func Files(args *EngineArgs) (map[string][]byte, error) {
	problems := errors.Join(append(args.Repository.Problems(), args.SignIn.problems()...)...)
	objects, err := Product().Parse(args.Manifest)
	if err = errors.Join(problems, err); err != nil {
		return nil, fmt.Errorf("files for Argo CD: %w", err)
	}
	settings, digest := args.settings(""), distribution.Digest(args.Manifest)
	install, err := distribution.Rewrite(args.Manifest, func(n *yaml.Node, o distribution.Object) (bool, error) {
		if o.Kind() == "Secret" || o.Is("Namespace", names.ArgoCDNamespace) || o.Is("ConfigMap", notificationsObject) && o["data"] == nil {
			return false, nil
		}
		prepare(n, o, settings[o.Meta("name")], digest)
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("files for Argo CD: %w", err)
	}
	own, err := distribution.Encode(args.application(names.ArgoCDNamespace, path.Join(treePath(args.Path), path.Dir(InstallFile)), retriesLatest(objects)))
	return map[string][]byte{ApplicationFile: append([]byte(names.Pushed), own...), InstallFile: append([]byte(names.Pushed), install...)}, err
}

// prepare has one object stay, and takes from it what bootstrap sets. A Job stays after its end, as it
// does when bootstrap makes it.
func prepare(n *yaml.Node, o distribution.Object, settings map[string]string, digest string) {
	switch o.Kind() {
	case "ConfigMap":
		data, _ := o["data"].(map[string]any)
		for key := range settings {
			if _, there := data[key]; there {
				distribution.Remove(distribution.Member(n, "data"), key)
			}
		}
	case "Deployment":
		distribution.SetAnnotation(n, distribution.DigestAnnotation, digest)
	case "Job":
		distribution.Remove(distribution.Member(n, "spec"), "ttlSecondsAfterFinished")
	}
	annotations, _ := o["metadata"].(map[string]any)["annotations"].(map[string]any)
	options := Staying()
	for _, key := range slices.Sorted(maps.Keys(options)) {
		released, _ := annotations[key].(string)
		distribution.SetAnnotation(n, key, strings.TrimPrefix(released+","+options[key], ","))
	}
}
