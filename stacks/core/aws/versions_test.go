package aws

import (
	"errors"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/eks"
	"tombolo/config"
)

func TestUnpinnedVersion(t *testing.T) {
	const oldest, byDefault, newest = "v1.20.5-eksbuild.1", "v1.20.5-eksbuild.2", "v1.20.5-eksbuild.10"
	for _, test := range []struct{ name, live, byDefault, mostRecent, want string }{
		// An empty mostRecent says that it must not be asked for.
		{"a new addon", "", byDefault, "", byDefault},
		{"the same version", byDefault, byDefault, "", byDefault},
		{"an older build", oldest, byDefault, "", byDefault},
		{"an older patch, though its build is larger", "v1.20.4-eksbuild.9", byDefault, "", byDefault},
		{"several minors older", "v1.9.3-eksbuild.1", byDefault, "", byDefault},
		{"a newer build", newest, byDefault, newest, newest},
		{"a newer minor", "v1.20.0-eksbuild.1", "v1.9.3-eksbuild.1", "v1.21.0-eksbuild.1", "v1.20.0-eksbuild.1"},
		{"newer than all, as after a rollback of Kubernetes", "v1.35.0-eksbuild.1", "v1.34.0-eksbuild.2", "v1.34.1-eksbuild.1", "v1.34.0-eksbuild.2"},
		{"no version", "latest", byDefault, "", byDefault},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := unpinnedVersion(test.live, func(mostRecent bool) (string, error) {
				if !mostRecent {
					return test.byDefault, nil
				}
				if test.mostRecent == "" {
					return "", errors.New("asked for the most recent version")
				}
				return test.mostRecent, nil
			})
			assert.NilError(t, err)
			assert.Check(t, is.Equal(got, test.want))
		})
	}
}

func TestFindAddonVersions(t *testing.T) {
	state := stateOf()
	for name, version := range map[string]string{"vpc-cni": "v1.20.5-eksbuild.1", "kube-proxy": "v1.34.0-eksbuild.2", "coredns": "v1.12.4-eksbuild.1"} {
		state["urn:pulumi:demo-core::tombolo::tombolo:eks:Cluster$"+managedAddonToken+"::demo-addon-"+name] = map[string]any{
			"type": managedAddonToken, "outputs": map[string]any{"addonName": name, "addonVersion": version},
		}
	}
	offers := map[string][2]string{ // the default and the most recent one
		"vpc-cni": {"v1.20.4-eksbuild.2", "v1.20.5-eksbuild.2"}, "kube-proxy": {"v1.35.0-eksbuild.2", "v1.35.0-eksbuild.2"},
		"metrics-server": {"v0.8.0-eksbuild.2", "v0.8.0-eksbuild.3"},
	}
	ask := map[string]func(resource.PropertyMap) (resource.PropertyMap, error){
		"aws:eks/getAddonVersion:getAddonVersion": func(args resource.PropertyMap) (resource.PropertyMap, error) {
			offer, known := offers[args["addonName"].StringValue()]
			if !known || args["kubernetesVersion"].StringValue() != "1.35" {
				return nil, errors.New("reading EKS Add-On version info: empty result")
			}
			version := offer[0]
			if args["mostRecent"].BoolValue() {
				version = offer[1]
			}
			return resource.PropertyMap{"version": resource.NewProperty(version)}, nil
		},
	}
	find := func(kubernetes string, addons ...eks.Addon) error {
		c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Region: "eu-central-1"}, Kubernetes: config.Kubernetes{Version: kubernetes}}
		return reading(t, state, ask, func(ctx *pulumi.Context, have made) error {
			return findAddonVersions(ctx, c, have, addons, pulumi.Parent(nil))
		})
	}
	addons := []eks.Addon{{Name: "vpc-cni"}, {Name: "kube-proxy"}, {Name: "metrics-server"}, {Name: "coredns", Version: "v1.12.3-eksbuild.1"}}
	assert.NilError(t, find("1.35", addons...))
	assert.Check(t, is.DeepEqual(addons, []eks.Addon{
		{Name: "vpc-cni", Version: "v1.20.5-eksbuild.1"},       // stays: newer than the default
		{Name: "kube-proxy", Version: "v1.35.0-eksbuild.2"},    // follows Kubernetes
		{Name: "metrics-server", Version: "v0.8.0-eksbuild.2"}, // new
		{Name: "coredns", Version: "v1.12.3-eksbuild.1"},       // pinned, though older: AWS is not asked
	}))

	err := find("1.36", eks.Addon{Name: "vpc-cni"})
	for _, part := range []string{
		"find out the version of addon vpc-cni (kubernetes.addons) of cluster demo for Kubernetes 1.36: ", "empty result",
		"check that EKS offers the addon for it in eu-central-1, or else take it out of kubernetes.addons or set its version", "eks:DescribeAddonVersions",
	} {
		assert.Check(t, err != nil && strings.Contains(err.Error(), part), "%v", err)
	}
}
