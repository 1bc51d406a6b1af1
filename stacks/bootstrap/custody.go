package bootstrap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	"golang.org/x/mod/semver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/components/argocd"
	"tombolo/components/distribution"
	"tombolo/components/flux"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks/state"
)

// This file decides who has the engine's distribution in custody: bootstrap,
// which applies it, or whoever it was handed to. See ADR 13.

// distributionKey is the stack output with the record of the distribution.
// Nobody but this package reads it.
const distributionKey = "distribution"

// distributionRecord is what bootstrap knows from its last run.
type distributionRecord struct {
	// Digest of the distribution that was last applied, or found in Git.
	Digest string
	// Objects that were made of it, as the engine lists them.
	Objects []string
	// TakenOver says that the engine was there before bootstrap.
	TakenOver bool
	// Lenient says that the Flux that was there put an empty string in the place of a
	// variable without a value.
	Lenient bool
}

// lastDistribution reads the record from the stack's own outputs. A stack that
// was never deployed has none.
func lastDistribution(ctx *pulumi.Context) (distributionRecord, error) {
	name := strings.Join([]string{ctx.Organization(), ctx.Project(), ctx.Stack()}, "/")
	self, err := state.Of(ctx, name)
	if err != nil {
		return distributionRecord{}, fmt.Errorf("read the last outputs of stack %s: %w", ctx.Stack(), err)
	}
	details, err := self.Details(distributionKey)
	if err != nil {
		return distributionRecord{}, fmt.Errorf("read the last outputs of stack %s: %w", ctx.Stack(), err)
	}
	last := readRecord(details.Value)
	if last.Digest != "" {
		// A run that fails exports what it got to: it must not forget this.
		ctx.Export(distributionKey, last.output(pulumi.ToStringArray(last.Objects).ToStringArrayOutput()))
	}
	return last, nil
}

// readRecord takes anything: without a record, the cluster is asked.
func readRecord(v any) distributionRecord {
	m, _ := v.(map[string]any)
	var r distributionRecord
	r.Digest, _ = m["digest"].(string)
	r.TakenOver, _ = m["takenOver"].(bool)
	r.Lenient, _ = m["lenient"].(bool)
	list, _ := m["objects"].([]any)
	for _, o := range list {
		if s, ok := o.(string); ok {
			r.Objects = append(r.Objects, s)
		}
	}
	return r
}

// output is the record with the objects that made resolves to: it comes into
// being only when all of them are there.
func (r distributionRecord) output(made pulumi.StringArrayOutput) pulumi.MapOutput {
	return made.ApplyT(func(objects []string) map[string]any {
		record := map[string]any{"digest": r.Digest, "objects": objects}
		if r.TakenOver {
			record["takenOver"], record["lenient"] = true, r.Lenient
		}
		return record
	}).(pulumi.MapOutput)
}

// custody is what is done with the distribution in this run.
type custody struct {
	// handedOver leaves the objects in made as they are.
	handedOver bool
	made       []string
	// digest to record when everything went well.
	digest string
}

// engine is what custody has to know of one.
type engine struct {
	product distribution.Product
	// digest of what a manifest becomes.
	digest func(manifest []byte) string
	// selector narrows the controllers down to those that may be Git's, and
	// managed tells that one is.
	selector string
	managed  func(metav1.PartialObjectMetadata) bool
	// digestAnnotation of a controller is the digest that Git has; "" when
	// nobody writes it.
	digestAnnotation string
	// definition is the name of one that every installation has.
	definition string
	// remedy says how a distribution gets into Git, and foreign, how where others' files
	// have it there; "" for the same.
	remedy, foreign string
	// instead says what to do about an engine that others have installed.
	instead string
}

// fluxEngine is the cluster's Flux, which others may have installed before.
func fluxEngine(c *config.Cluster, r distributionRecord) engine {
	remedy := pushed(c)
	if r.TakenOver {
		remedy = "change it in the repository that Flux itself is in, or name the version that is there in the cluster file"
	}
	return engine{
		product:          flux.Product(),
		digest:           func(manifest []byte) string { return flux.Digest(manifest, r.substitution()) },
		selector:         names.FluxLabel,
		managed:          func(metav1.PartialObjectMetadata) bool { return true },
		digestAnnotation: distribution.DigestAnnotation,
		definition:       "gitrepositories.source.toolkit.fluxcd.io",
		remedy:           remedy,
		instead:          "Set gitops.takeOver: true to take it over, or have its owner remove it, definitions included, or leave the cluster to it",
	}
}

// argocdEngine is Git's when an Application of its own tracks a controller: by our files, or by
// those of a team that had it manage itself.
func argocdEngine(c *config.Cluster) engine {
	return engine{
		product:          argocd.Product(),
		digest:           func(manifest []byte) string { return distribution.Digest(manifest) },
		managed:          func(o metav1.PartialObjectMetadata) bool { return o.Annotations[names.ArgoCDAnnotation] != "" },
		digestAnnotation: distribution.DigestAnnotation,
		definition:       "applications.argoproj.io",
		remedy:           pushed(c),
		foreign:          "change it in Git, where Argo CD manages itself",
		instead:          "Name it in gitops.externalHub, or have its owner remove it, definitions included, or leave the cluster to it",
	}
}

func pushed(c *config.Cluster) string {
	return "if Git does not have it, run `tombolo push " + c.Name + "`"
}

// custody decides by the distribution that the cluster file names:
//   - it is the one of the last run, or an engine is met that Git has: changes of it are
//     not our concern;
//   - it is another, and Git has the engine: Git decides, and we say so;
//   - it is another, and the engine was not handed over: it is applied. In a stack without
//     resources it is handed over at once: Pulumi creates an object as it is given, whatever
//     changes it is to ignore afterwards (processIgnoreChanges in pkg/resource/deploy of
//     Pulumi 3.250.0). Where a run made some of the objects, the next one has to see changes.
func (p *program) custody(e engine, manifest []byte) (custody, error) {
	wanted, last := e.digest(manifest), p.last
	if last.Digest == wanted || p.taken.keeper != "" {
		return custody{handedOver: true, made: last.Objects, digest: wanted}, nil
	}
	controllers, err := e.product.Controllers(manifest)
	if err != nil {
		return custody{}, err
	}
	git, err := p.gitCustody(e, controllers)
	if err != nil {
		return custody{}, err
	}
	switch {
	case !git.managed:
		return custody{handedOver: p.o.New && !p.takenOver, digest: wanted}, nil
	case git.digest == wanted, p.takenOver && git.isOf(p.c.GitOps.Distribution.Version):
		return custody{handedOver: true, made: last.Objects, digest: wanted}, nil
	}
	message := fmt.Sprintf("Git decides about the engine of %s, and the distribution of the cluster file (%s) has not arrived from there: "+
		"the engine is left as it is; %s", p.c.Name, p.c.GitOps.Distribution.Version, e.remedyFor(git))
	return custody{handedOver: true, made: last.Objects, digest: last.Digest}, p.ctx.Log.Warn(message, nil)
}

func (e engine) remedyFor(git inGit) string {
	if git.digest == "" && e.foreign != "" {
		return e.foreign
	}
	return e.remedy
}

// inGit is what the cluster says about the engine's own management.
type inGit struct {
	// managed says that the engine applies itself from Git.
	managed bool
	// digest of the distribution that Git has; "" when it was not pushed by us.
	digest string
	// version of the controllers; "" when they do not say.
	version string
}

// isOf says that Git has a release of the minor version: of an engine that others keep in
// Git, nobody writes a digest.
func (g inGit) isOf(version string) bool {
	return g.version != "" && semver.MajorMinor(g.version) == semver.MajorMinor(version)
}

// gitCustody asks the cluster. The answer shapes the program, whose options
// cannot wait for outputs: so the kubeconfig is awaited here. Where it is
// unknown there is no cluster yet, and nothing in it.
func (p *program) gitCustody(e engine, controllers []string) (inGit, error) {
	text, err := internals.UnsafeAwaitOutput(p.ctx.Context(), p.own.kubeconfig)
	if err != nil {
		return inGit{}, err
	}
	if !text.Known {
		return inGit{}, nil
	}
	return e.findInGit(p.ctx.Context(), text.Value.(string), p.o.Env, controllers)
}

// findInGit looks for one of the controllers that the engine itself has applied.
func (e engine) findInGit(ctx context.Context, kubeconfig string, env map[string]string, controllers []string) (inGit, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return inGit{}, err
	}
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	var list *metav1.PartialObjectMetadataList
	err = whenLetIn(ctx, func(ctx context.Context) (err error) {
		list, err = client.Resource(deployments).Namespace(e.product.Namespace).List(ctx, metav1.ListOptions{LabelSelector: e.selector})
		return err
	})
	if err != nil {
		return inGit{}, fmt.Errorf("list the Deployments in %s: %w; check that %s is reachable from here and that this identity is among kubernetes.admins",
			e.product.Namespace, err, host)
	}
	var found inGit
	for _, d := range list.Items {
		if slices.Contains(controllers, d.Name) && e.managed(d) {
			found = inGit{managed: true, digest: d.Annotations[e.digestAnnotation], version: d.Labels[versionLabel]}
		}
	}
	return found, nil
}
