// Package namespaces makes the namespaces that exist before the GitOps engine
// starts, so that what is put into them never races with it.
package namespaces

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/object"
	"tombolo/internal/names"
)

const namespacesType = "tombolo:namespaces:Namespaces"

// Namespace is one namespace.
type Namespace struct {
	// Name of the namespace.
	Name string
	// Labels and Annotations to set. Others on the namespace are left alone.
	Labels, Annotations map[string]string
}

// NamespacesArgs are the arguments of Namespaces.
type NamespacesArgs struct {
	// Owner is the value of names.ClusterLabel, a label value: the cluster's name.
	Owner string
	// Namespaces to make.
	Namespaces []Namespace
	// Existing holds the namespaces that the cluster has already, each with
	// the value of its names.ClusterLabel, "" for none. Server-side apply would adopt
	// another owner's namespace silently, and a later destroy would
	// delete it; with Existing it is refused. Nil checks nothing.
	Existing pulumi.StringMapInput
}

// Namespaces is a set of namespaces.
//
// They are applied on the server's side under a field manager of their own:
// only the labels and annotations given here are owned. What GitOps adds to a
// namespace's metadata is neither diffed nor removed.
type Namespaces struct {
	pulumi.ResourceState

	// Names of the namespaces, in the order of the arguments.
	Names pulumi.StringArrayOutput
	// Resources are all that it is made of, to depend on (distribution.Engine says why).
	Resources []pulumi.Resource
}

// NewNamespaces makes the namespaces. The run fails when one of them exists
// already and is not Owner's.
func NewNamespaces(ctx *pulumi.Context, name string, args *NamespacesArgs, opts ...pulumi.ResourceOption) (*Namespaces, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("namespaces %s: %w", name, err)
	}
	c := &Namespaces{}
	if err := ctx.RegisterComponentResourceV2(namespacesType, name, pulumi.Map{"owner": pulumi.String(args.Owner)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register namespaces %s: %w", name, err)
	}
	var names pulumi.StringArray
	for _, n := range args.Namespaces {
		meta := object.Meta{Name: n.Name, Labels: args.labels(n)}
		if len(n.Annotations) > 0 {
			meta.Annotations = pulumi.ToStringMap(n.Annotations)
		}
		made, err := object.New(ctx, name+"-"+n.Name, object.Args{APIVersion: "v1", Kind: "Namespace", Meta: meta}, pulumi.Parent(c))
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", n.Name, err)
		}
		c.Resources = append(c.Resources, made)
		names = append(names, made.Name())
	}
	c.Names = names.ToStringArrayOutput()
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"names": c.Names})
}

func (a *NamespacesArgs) validate() error {
	if a.Owner == "" {
		return errors.New("an owner is required")
	}
	seen := map[string]bool{}
	for _, n := range a.Namespaces {
		if n.Name == "" {
			return errors.New("a namespace has no name")
		}
		if seen[n.Name] {
			return fmt.Errorf("namespace %s is given twice", n.Name)
		}
		seen[n.Name] = true
		if _, taken := n.Labels[names.ClusterLabel]; taken {
			return fmt.Errorf("namespace %s: the label %s is set by tombolo; remove it", n.Name, names.ClusterLabel)
		}
	}
	return nil
}

func (a *NamespacesArgs) labels(n Namespace) pulumi.StringMap {
	labels := pulumi.ToStringMap(n.Labels)
	if labels == nil {
		labels = pulumi.StringMap{}
	}
	labels[names.ClusterLabel] = a.owner(n.Name)
	return labels
}

// owner is the value of names.ClusterLabel, once it is sure that no other owns the
// namespace.
func (a *NamespacesArgs) owner(namespace string) pulumi.StringInput {
	if a.Existing == nil {
		return pulumi.String(a.Owner)
	}
	return a.Existing.ToStringMapOutput().ApplyT(func(existing map[string]string) (string, error) {
		owner, found := existing[namespace]
		if found && owner != a.Owner {
			return "", fmt.Errorf("namespace %s exists already and is not of cluster %s: take it out of the cluster file, "+
				"or hand it over with `kubectl label namespace %s %s=%s --overwrite`", namespace, a.Owner, namespace, names.ClusterLabel, a.Owner)
		}
		return a.Owner, nil
	}).(pulumi.StringOutput)
}
