package argocd

import (
	_ "embed" // the health check
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/distribution"
	"tombolo/components/object"
	"tombolo/internal/names"
)

// This file makes Argo CD's settings. Each is a patch: it owns its own fields of
// an object of the distribution and nothing else, so that Git may have the
// object, and set other fields in it.

// applicationHealth has a wave of Applications wait until each is synced and
// healthy. Argo CD itself has no opinion about the health of an Application.
//
//go:embed health.lua
var applicationHealth string

const (
	hostsObject = "argocd-ssh-known-hosts-cm"
	hostsKey    = "ssh_known_hosts"
)

// settings are the keys that we set in Argo CD's ConfigMaps, by object.
func (a *EngineArgs) settings(hosts string) map[string]map[string]string {
	out := map[string]map[string]string{
		"argocd-cm": {
			"application.resourceTrackingMethod":                     "annotation",
			"resource.customizations.health.argoproj.io_Application": applicationHealth,
			"timeout.reconciliation":                                 fmt.Sprintf("%ds", (a.Interval+time.Second-1)/time.Second),
		},
		// What the API server fills in or converts is no difference.
		"argocd-cmd-params-cm": {
			"controller.diff.server.side": "true",
			// A sync that waits in a wave for half an hour is given up, so that the
			// commit that repairs it is taken up.
			"controller.sync.timeout.seconds": "1800",
		},
	}
	if a.SignIn != nil {
		maps.Copy(out["argocd-cm"], a.SignIn.settings())
		out["argocd-rbac-cm"] = a.SignIn.policy()
	}
	if a.Auth != nil && a.Auth.KnownHosts != "" {
		out[hostsObject] = map[string]string{hostsKey: hosts + strings.TrimRight(a.Auth.KnownHosts, "\n") + "\n"}
	}
	return out
}

// configure patches the ConfigMaps, and the service accounts with their role.
func configure(ctx *pulumi.Context, name string, args *EngineArgs, hosts string, opts ...pulumi.ResourceOption) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for configMap, data := range args.settings(hosts) {
		settings := object.ConfigMap(metadata(configMap, nil), pulumi.ToStringMap(data))
		settings.Patch = true
		patch, err := object.New(ctx, name+"-"+configMap, settings, opts...)
		if err != nil {
			return nil, fmt.Errorf("settings in %s: %w", configMap, err)
		}
		made = append(made, patch)
	}
	if args.RoleARN == nil {
		return made, nil
	}
	for _, account := range ServiceAccounts() {
		annotations := pulumi.StringMap{"eks.amazonaws.com/role-arn": args.RoleARN}
		patch, err := object.New(ctx, name+"-"+account, object.Args{
			APIVersion: "v1", Kind: "ServiceAccount", Meta: metadata(account, annotations), Patch: true,
		}, opts...)
		if err != nil {
			return nil, fmt.Errorf("role of service account %s: %w", account, err)
		}
		made = append(made, patch)
	}
	return made, nil
}

func metadata(name string, annotations pulumi.StringMap) object.Meta {
	all := pulumi.StringMap{distribution.PatchForce: pulumi.String("true")}
	for key, value := range annotations {
		all[key] = value
	}
	return object.Meta{Name: name, Namespace: names.ArgoCDNamespace, Annotations: all}
}

// takeKnownHosts takes the hosts' keys out of the distribution: they are one
// text, which only one can own.
func takeKnownHosts(objects []distribution.Object) (string, error) {
	for _, o := range objects {
		if !o.Is("ConfigMap", hostsObject) {
			continue
		}
		data, _ := o["data"].(map[string]any)
		hosts, _ := data[hostsKey].(string)
		delete(data, hostsKey)
		if hosts != "" && !strings.HasSuffix(hosts, "\n") {
			hosts += "\n"
		}
		return hosts, nil
	}
	return "", errors.New("the distribution has no ConfigMap " + hostsObject + "; private keys need it")
}
