package gitops

import (
	"reflect"

	"tombolo/config/addon"
	"tombolo/config/check"
	"tombolo/config/enginefacts"
	"tombolo/config/secret"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Around is what the engine depends on beside itself.
type Around struct {
	Addons addon.Selection
	// Namespaces of the file, and the one that the engine has.
	Namespaces      []string
	EngineNamespace string
	// Version of Kubernetes.
	Version string
	// Neighbours are the clusters that have files beside a file.
	Neighbours func(file string) []string
}

// Check checks the engine and its repository.
func Check(v *check.File, g GitOps, around Around) {
	checkArgocd(v, g, around)
	if g.TakeOver {
		checkTakeOver(v, g, around)
	}
	checkSealedSecrets(v, g.SealedSecrets, around.Addons)
	checkChannel(v, g.Channel, g.Engine, around.Addons)
	if v.Spoke {
		return
	}
	checkWebhook(v, g)
	if v.Doc.Sound("gitops.engine", "gitops.hub") {
		checkRequired(v, "url", "path", "distribution")
	}
	if u := checkRepository(v, g.Engine, g.URL); u != nil {
		checkAccess(v, u, g)
	}
	if g.Auth != nil {
		checkAuth(v, *g.Auth)
	}
	checkBranch(v, g.Branch)
	checkInterval(v, g.Interval)
	if v.Doc.Has("gitops.path") {
		checkRepositoryPath(v, g.Path)
	}
	if v.Doc.Has("gitops.distribution") {
		checkDistribution(v, g.Engine, g.Distribution)
		checkTested(v, g, around.Version)
		checkSince(v, g)
	}
}

// checkTakeOver checks that there can be an engine of others: on a cluster of theirs.
func checkTakeOver(v *check.File, g GitOps, around Around) {
	const at = strict.Path("gitops.takeOver")
	if g.Engine == ArgoCD {
		v.Problem(at, "remove it; an Argo CD that is there already goes into gitops.externalHub",
			"is for Flux alone: the settings of Argo CD count for all of its Applications, and would change for those of others, too")
		return
	}
	if !v.Existing {
		v.Problem(at, "remove it: bootstrap installs the engine", "goes with kubernetes.existing alone: a cluster that core makes has no engine before")
		return
	}
	for i, name := range around.Namespaces {
		if name == around.EngineNamespace {
			v.Problem(strict.Path("namespaces").Index(i).Field("name"), "take it out of the file, or remove gitops.takeOver",
				"is the namespace of the engine that is taken over, and belongs to who made it")
		}
	}
}

// checkTested warns of an engine that upstream does not test with the cluster's
// version of Kubernetes.
func checkTested(v *check.File, g GitOps, minor string) {
	if !v.Doc.Sound("gitops.engine", "kubernetes.version") || v.Existing { // whose version core reads
		return
	}
	gap, untested := enginefacts.Untested(string(g.Engine), g.Distribution.Version, minor)
	if !untested {
		return
	}
	remedy := "use another kubernetes.version"
	if len(gap.Releases) > 0 {
		remedy = "use a release of " + wording.Or(gap.Releases)
	}
	v.Warn("gitops.distribution.version", remedy, "is tested by upstream with Kubernetes %s, and the cluster has %s", wording.And(gap.Tested), minor)
}

// checkRequired reports keys of gitops that only a spoke may leave out.
func checkRequired(v *check.File, keys ...string) {
	v.Require("gitops", reflect.TypeFor[GitOps](), keys...)
}

// SealedSecretsAddon is the name of the addon that opens SealedSecrets.
const SealedSecretsAddon = "sealed-secrets"

// checkSealedSecrets checks that the controller and its key come together. A controller without
// one makes a key that nobody keeps: a cluster made again would open nothing.
func checkSealedSecrets(v *check.File, s *SealedSecrets, addons addon.Selection) {
	const at = strict.Path("gitops.sealedSecrets")
	addonAt := strict.Path("addons").Field(SealedSecretsAddon)
	_, on := addons[SealedSecretsAddon]
	if s == nil {
		if on && v.Doc.Sound(at, addonAt) {
			v.Problem(addonAt, "add gitops.sealedSecrets with key and certificate: docs/guide/secrets.md says how they are made",
				"needs gitops.sealedSecrets: without it the controller makes a key that nobody keeps")
		}
		return
	}
	if !v.Doc.Sound(at) {
		return
	}
	if !on {
		v.Problem(at, "add the addon "+SealedSecretsAddon+", or remove it", "has no effect without the addon %s", SealedSecretsAddon)
	}
	secret.Check(v, at.Field("key"), s.Key)
	secret.Check(v, at.Field("certificate"), s.Certificate)
}

// PrometheusAddon is the name of the addon whose Alertmanager writes to the channel.
const PrometheusAddon = "kube-prometheus-stack"

// checkChannel checks that something writes to the channel.
func checkChannel(v *check.File, c *Channel, engine Engine, addons addon.Selection) {
	const at = strict.Path("gitops.channel")
	if c == nil || !v.Doc.Sound(at) {
		return
	}
	if _, on := addons[PrometheusAddon]; !on && engine == ArgoCD && !c.HasNotices() && v.Doc.Sound("addons", "gitops.engine") {
		v.Problem(at, "add the addon "+PrometheusAddon+", or notices, or remove it", "has no effect with Argo CD without the addon %s and without notices", PrometheusAddon)
	}
	secret.Check(v, at.Field("address"), c.Address)
}

// HasNotices says that the channel is told how runs end.
func (c *Channel) HasNotices() bool {
	return c != nil && c.Notices != "" && c.Notices != NoNotices
}
