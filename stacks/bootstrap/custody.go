package bootstrap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/internals"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/components/flux"
	"tombolo/config"
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
	// Objects that were made of it, as flux.Engine lists them.
	Objects []string
}

// lastDistribution reads the record from the stack's own outputs. A stack that
// was never deployed has none.
func lastDistribution(ctx *pulumi.Context) (distributionRecord, error) {
	name := strings.Join([]string{ctx.Organization(), ctx.Project(), ctx.Stack()}, "/")
	self, err := pulumi.NewStackReference(ctx, name, nil)
	if err != nil {
		return distributionRecord{}, fmt.Errorf("read the last outputs of stack %s: %w", ctx.Stack(), err)
	}
	details, err := self.GetOutputDetails(distributionKey)
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
		return map[string]any{"digest": r.Digest, "objects": objects}
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

// custodyOf decides by the distribution that the cluster file names:
//   - it is the one of the last run: what became of it since is not our matter;
//   - it is another, and Git has the engine: Git decides, and we say so;
//   - it is another, and nobody else has the engine: it is applied.
func custodyOf(ctx *pulumi.Context, c *config.Cluster, manifest []byte, last distributionRecord, kubeconfig pulumi.StringOutput, env map[string]string) (custody, error) {
	wanted := flux.Digest(manifest, strictSubstitution)
	if last.Digest == wanted {
		return custody{handedOver: true, made: last.Objects, digest: wanted}, nil
	}
	controllers, err := flux.Product().Controllers(manifest)
	if err != nil {
		return custody{}, err
	}
	git, err := gitCustody(ctx, kubeconfig, env, controllers)
	if err != nil {
		return custody{}, err
	}
	switch {
	case !git.managed:
		return custody{digest: wanted}, nil
	case git.digest == wanted:
		return custody{handedOver: true, made: last.Objects, digest: wanted}, nil
	}
	message := fmt.Sprintf("Git decides about the engine of %s, and the distribution of the cluster file (%s) has not arrived from there: "+
		"the engine is left as it is; if Git does not have it, run `tombolo push %s`", c.Name, c.GitOps.Distribution.Version, c.Name)
	return custody{handedOver: true, made: last.Objects, digest: last.Digest}, ctx.Log.Warn(message, nil)
}

// inGit is what the cluster says about the engine's own management.
type inGit struct {
	// managed says that the engine applies itself from Git.
	managed bool
	// digest of the distribution that Git has; "" when it was not pushed by us.
	digest string
}

// gitCustody asks the cluster. The answer shapes the program, whose options
// cannot wait for outputs: so the kubeconfig is awaited here. Where it is
// unknown there is no cluster yet, and nothing in it.
func gitCustody(ctx *pulumi.Context, kubeconfig pulumi.StringOutput, env map[string]string, controllers []string) (inGit, error) {
	text, err := internals.UnsafeAwaitOutput(ctx.Context(), kubeconfig)
	if err != nil {
		return inGit{}, err
	}
	if !text.Known {
		return inGit{}, nil
	}
	return findInGit(ctx.Context(), text.Value.(string), env, controllers)
}

// findInGit looks for one of the controllers with the label of what Flux
// applies.
func findInGit(ctx context.Context, kubeconfig string, env map[string]string, controllers []string) (inGit, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return inGit{}, err
	}
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	list, err := client.Resource(deployments).Namespace(flux.Namespace).List(ctx, metav1.ListOptions{LabelSelector: flux.OwnerLabel})
	if err != nil {
		return inGit{}, fmt.Errorf("list the Deployments in %s: %w; check that %s is reachable from here and that this identity is among kubernetes.admins",
			flux.Namespace, err, host)
	}
	var found inGit
	for _, d := range list.Items {
		if slices.Contains(controllers, d.Name) {
			found = inGit{managed: true, digest: d.Annotations[flux.DigestAnnotation]}
		}
	}
	return found, nil
}
