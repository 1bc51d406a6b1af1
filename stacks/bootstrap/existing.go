package bootstrap

import (
	"context"
	"fmt"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"

	"tombolo/internal/names"
	"tombolo/stacks/handoff"
)

// listTimeout bounds the listing of namespaces, token included.
const listTimeout = 30 * time.Second

// accessCounts is how long a right that an access entry of EKS has just given may take until
// it counts. EKS names no time; as with IAM's rights it is seconds.
const accessCounts = 15 * time.Second

// existingNamespaces are the cluster's namespaces, each with its owner. In a
// preview without a cluster they are unknown.
func existingNamespaces(ctx *pulumi.Context, kubeconfig pulumi.StringOutput, env map[string]string) pulumi.StringMapOutput {
	return kubeconfig.ApplyT(func(text string) (map[string]string, error) {
		return listNamespaces(ctx.Context(), text, env)
	}).(pulumi.StringMapOutput)
}

func listNamespaces(ctx context.Context, kubeconfig string, env map[string]string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	client, host, err := metadataClient(kubeconfig, env)
	if err != nil {
		return nil, err
	}
	var list *metav1.PartialObjectMetadataList
	err = whenLetIn(ctx, func(ctx context.Context) (err error) {
		list, err = client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).List(ctx, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the cluster's namespaces: %w; check that %s is reachable from here and that this identity is among kubernetes.admins", err, host)
	}
	owners := make(map[string]string, len(list.Items))
	for _, n := range list.Items {
		owners[n.Name] = n.Labels[names.ClusterLabel]
	}
	return owners, nil
}

// whenLetIn repeats a request that the cluster refuses for want of a right, as the right may
// just have been given.
func whenLetIn(ctx context.Context, request func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, time.Second, accessCounts, true, func(ctx context.Context) (bool, error) {
		last = request(ctx)
		return !apierrors.IsForbidden(last) && !apierrors.IsUnauthorized(last), nil
	})
	if last == nil {
		return err
	}
	return last
}

// metadataClient reads objects' metadata, at the host that it returns too.
func metadataClient(kubeconfig string, env map[string]string) (metadata.Interface, string, error) {
	cfg, err := handoff.RESTConfig([]byte(kubeconfig), env)
	if err != nil {
		return nil, "", err
	}
	client, err := metadata.NewForConfig(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("make Kubernetes client: %w", err)
	}
	return client, cfg.Host, nil
}
