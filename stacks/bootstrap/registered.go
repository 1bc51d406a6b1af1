package bootstrap

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/components/registration"
	"tombolo/internal/names"
)

// unclaimed is the address of the cluster's API, once it is sure that the hub has no
// other owner's cluster of the name: the registration would be taken from it. One
// without an owner is from before, and is taken over.
func (p *program) unclaimed(hub connection) pulumi.StringOutput {
	return pulumi.All(hub.kubeconfig, p.h.Owner, p.h.ClusterEndpoint).ApplyT(func(v []any) (string, error) {
		err := refuseRegistered(p.ctx.Context(), v[0].(string), p.c.Name, v[1].(string), p.o.Env)
		if p.ctx.DryRun() && apierrors.IsForbidden(err) {
			err = nil // previewers may not read Secrets, and the up that follows looks
		}
		return v[2].(string), err
	}).(pulumi.StringOutput)
}

func refuseRegistered(ctx context.Context, kubeconfig, cluster, own string, env map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return err
	}
	secret := registration.SecretName(cluster)
	found, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(names.ArgoCDNamespace).Get(ctx, secret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the registration of %s at its hub: %w; check that %s is reachable from here and that this identity is among its kubernetes.admins, "+
			"or for a hub that others run that its token may get Secret %s/%s", cluster, err, host, names.ArgoCDNamespace, secret)
	}
	if by := found.Annotations[names.OwnerKey]; by != "" && by != own {
		return fmt.Errorf("the hub has registered another cluster %s: Secret %s/%s has the owner %s, and this cluster is %s; "+
			"give this one another name, or deregister the other one with the backend that has it",
			cluster, names.ArgoCDNamespace, secret, by, own)
	}
	return nil
}
