package aws

import (
	"fmt"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"golang.org/x/mod/semver"
	"golang.org/x/sync/errgroup"

	"tombolo/components/eks"
	"tombolo/config"
)

// findAddonVersions gives each managed addon without a version the one that it runs
// with: EKS itself leaves an addon at the version of its creation, also when Kubernetes
// is upgraded ("Update add-ons" in
// https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html). It is here and
// not in the component because the state tells what a live addon has, as with node groups.
//
// While nodes are held behind the control plane, the addons are held with them: then EKS
// can take the control plane back, and finds none that is too new for it.
//
// An addon may get several minor versions newer at once. For vpc-cni AWS recommends one
// at a time (https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html), but
// its page of the update goes to the newest, and the API takes it. A pinned version goes
// step by step.
func findAddonVersions(ctx *pulumi.Context, c *config.Cluster, have made, addons []eks.Addon, provider pulumi.InvokeOption) error {
	kubernetes := c.Kubernetes.Nodes()
	var lookups errgroup.Group // one after another they would take a second and more
	for i := range addons {
		a := &addons[i]
		if a.Version != "" {
			continue
		}
		lookups.Go(func() (err error) {
			a.Version, err = unpinnedVersion(have.addonVersion(c.Name, a.Name), func(mostRecent bool) (string, error) {
				return offeredVersion(ctx, a.Name, kubernetes, mostRecent, provider)
			})
			if err != nil {
				return fmt.Errorf("find out the version of addon %s (kubernetes.addons) of cluster %s for Kubernetes %s: %w; "+
					"check that EKS offers the addon for it in %s, or else take it out of kubernetes.addons or set its version; "+
					"allow eks:DescribeAddonVersions to the credentials", a.Name, c.Name, kubernetes, err, c.Cloud.Region)
			}
			return nil
		})
	}
	return lookups.Wait()
}

// unpinnedVersion is AWS's default, or the live version when that is newer, and not newer
// than the most recent one that AWS offers: an up takes an addon back only with
// Kubernetes. The live version is "" for a new addon.
func unpinnedVersion(live string, offered func(mostRecent bool) (string, error)) (string, error) {
	byDefault, err := offered(false)
	if err != nil || !newer(live, byDefault) {
		return byDefault, err
	}
	mostRecent, err := offered(true)
	if err != nil || newer(live, mostRecent) {
		return byDefault, err
	}
	return live, nil
}

// newer compares versions like v1.20.5-eksbuild.2. A build is what Semantic Versioning
// calls a pre-release, of which it compares numbers as numbers. What is no version, as
// that of an addon which is not there, is older than all others.
func newer(a, b string) bool { return semver.Compare(a, b) > 0 }

// offeredVersion is the default version of an addon for a version of Kubernetes, or the
// most recent one.
func offeredVersion(ctx *pulumi.Context, addon, kubernetes string, mostRecent bool, provider pulumi.InvokeOption) (string, error) {
	found, err := awseks.GetAddonVersion(ctx, &awseks.GetAddonVersionArgs{
		AddonName: addon, KubernetesVersion: kubernetes, MostRecent: &mostRecent,
	}, provider)
	if err != nil {
		return "", err
	}
	return found.Version, nil
}
