package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// aggregated asks for all kinds of all groups in one answer, which every Kubernetes since 1.30 gives
// (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery).
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// discoverer returns what asks the API for its kinds. client-go's discovery client also asks older
// versions, and brings along the types of every API that Kubernetes has.
func discoverer(cfg *rest.Config, web *http.Client) (func() (meta.RESTMapper, error), error) {
	cfg = rest.CopyConfig(cfg)
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.UnversionedRESTClientForConfigAndClient(cfg, web)
	if err != nil {
		return nil, err
	}
	return func() (meta.RESTMapper, error) {
		var groups []apidiscovery.APIGroupDiscovery
		for _, path := range []string{"/api", "/apis"} {
			answer, err := client.Get().AbsPath(path).SetHeader("Accept", aggregated).DoRaw(context.Background()) // cfg bounds the time
			if err != nil {
				return nil, err
			}
			var list apidiscovery.APIGroupDiscoveryList
			if err := json.Unmarshal(answer, &list); err != nil {
				return nil, fmt.Errorf("read the answer of %s: %w", path, err)
			}
			if list.Kind != "APIGroupDiscoveryList" {
				return nil, fmt.Errorf("%s answers with a %q and not with all its kinds: Kubernetes is older than 1.30", path, list.Kind)
			}
			groups = append(groups, list.Items...)
		}
		return mapperOf(groups), nil
	}, nil
}

// mapperOf finds kinds among groups, whose preferred version is the first. What a server that does
// not answer has told before counts.
func mapperOf(groups []apidiscovery.APIGroupDiscovery) meta.RESTMapper {
	var versions []schema.GroupVersion
	for _, g := range groups {
		for _, v := range g.Versions {
			versions = append(versions, schema.GroupVersion{Group: g.Name, Version: v.Version})
		}
	}
	mapper := meta.NewDefaultRESTMapper(versions)
	for _, g := range groups {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				if r.ResponseKind == nil { // only its subresources do something
					continue
				}
				in := schema.GroupVersion{Group: g.Name, Version: v.Version}
				scope := meta.RESTScopeRoot
				if r.Scope == apidiscovery.ScopeNamespace {
					scope = meta.RESTScopeNamespace
				}
				mapper.AddSpecific(in.WithKind(r.ResponseKind.Kind), in.WithResource(r.Resource), in.WithResource(r.SingularResource), scope)
			}
		}
	}
	return mapper
}
