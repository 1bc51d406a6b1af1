package initialize

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation"
	"tombolo/automation/adoption"
	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/platform/project"
)

// theirs is a driver that finds one cluster.
type theirs struct {
	found adoption.Cluster
	asked *config.Cluster
}

func (d *theirs) Describe(_ context.Context, c *config.Cluster) (adoption.Cluster, error) {
	d.asked = c
	if c.NameInCloud() != d.found.Name {
		return adoption.Cluster{}, errors.New("there is no such cluster")
	}
	return d.found, nil
}

// initialise runs the command in a project with the cluster file demo.yaml.
func initialise(t *testing.T, driver *theirs, change func(*ClusterOptions)) (root, said string, err error) {
	t.Helper()
	demo, err := os.ReadFile("../../../../config/testdata/base.yaml")
	assert.NilError(t, err)
	root = clitest.Project(t, map[string]string{"demo": string(demo)})
	f := clitest.At(root, render.Text)
	o := &ClusterOptions{
		Driver:  func(context.Context, automation.Observer) (Describer, error) { return driver, nil },
		Answers: Answers{Base: f.Base(), Cluster: project.Cluster{Region: "eu-central-1", Environment: "prod"}}, FromAWS: "Shop_Main", Like: "demo",
	}
	if change != nil {
		change(o)
	}
	err = clusterRun(t.Context(), o)
	return root, f.ErrOut.String(), err
}

func TestClusterFromAWS(t *testing.T) {
	driver := &theirs{found: adoption.Cluster{Name: "Shop_Main", Account: "111122223333", Version: "1.34", AccessEntries: true}}
	root, said, err := initialise(t, driver, nil)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "EKS cluster Shop_Main in account 111122223333, Kubernetes 1.34"))
	assert.Check(t, is.Equal(driver.asked.Cloud.Region, "eu-central-1"))

	c, err := config.Load(filepath.Join(root, "clusters", "shop-main.yaml"))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(c.NameInCloud(), "Shop_Main"))
	assert.Check(t, is.Equal(c.Environment, "prod"))
	assert.Check(t, is.Equal(c.Cloud.Account, "111122223333"))
	assert.Check(t, c.Kubernetes.Existing.CreateOIDCProvider)
	demo, err := config.Load(filepath.Join(root, "clusters", "demo.yaml"))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(c.GitOps.Path, "clusters/shop-main"))
	demo.GitOps.Path = c.GitOps.Path
	assert.Check(t, is.DeepEqual(c.GitOps, demo.GitOps))
}

func TestClusterFromAWSWithoutLike(t *testing.T) {
	driver := &theirs{found: adoption.Cluster{Name: "Shop_Main", Account: "111122223333", Version: "1.34", OIDCProvider: true}}
	root, said, err := initialise(t, driver, func(o *ClusterOptions) { o.Like, o.Name, o.Profile = "", "shop", "platform" })
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "the cluster takes no access entries"))
	assert.Check(t, is.Contains(said, "fill in gitops, and run `tombolo validate shop`"))
	text, err := os.ReadFile(filepath.Join(root, "clusters", "shop.yaml"))
	assert.NilError(t, err)
	assert.Check(t, is.Contains(string(text), "  profile: platform\n"))
	_, err = config.Load(filepath.Join(root, "clusters", "shop.yaml"))
	assert.Check(t, is.ErrorContains(err, "gitops.url"))
}

// TestClusterFromAzure: region and tenant are the cloud's to tell.
func TestClusterFromAzure(t *testing.T) {
	const subscription, tenant = "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-00000000000a"
	driver := &theirs{found: adoption.Cluster{Name: "Shop_Main", Account: subscription, Tenant: tenant, Region: "germanywestcentral", Version: "1.34"}}
	root, said, err := initialise(t, driver, func(o *ClusterOptions) {
		o.FromAWS, o.FromAzure, o.Region, o.Subscription, o.ResourceGroup = "", "Shop_Main", "", subscription, "platform"
	})
	assert.NilError(t, err)
	assert.Check(t, is.Contains(said, "AKS cluster Shop_Main in account "+subscription+", Kubernetes 1.34"))
	assert.Check(t, is.Contains(said, "the cluster has no issuer of tokens"))
	assert.Check(t, is.Equal(driver.asked.Cloud.Provider, config.Azure))
	c, err := config.Load(filepath.Join(root, "clusters", "shop-main.yaml"))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(c.Cloud.Account+" "+c.Cloud.Tenant+" "+c.Cloud.Region, subscription+" "+tenant+" germanywestcentral"))
	assert.Check(t, is.Equal(c.NameInCloud()+" "+c.Kubernetes.Existing.ResourceGroup, "Shop_Main platform"))
}

func TestClusterFromAWSRefused(t *testing.T) {
	found := adoption.Cluster{Name: "Shop_Main", Account: "111122223333", Version: "1.34"}
	owned := found
	owned.Owner = "q5zk"
	for _, test := range []struct {
		found  adoption.Cluster
		change func(*ClusterOptions)
		want   string
	}{
		{found, func(o *ClusterOptions) { o.FromAWS, o.Yes = "", true }, "the cluster is not named"},
		{found, func(o *ClusterOptions) { o.Region = "" }, "the region is missing"},
		{found, func(o *ClusterOptions) { o.FromAzure = "main" }, "two clusters are named"},
		{found, func(o *ClusterOptions) { o.FromAWS, o.FromAzure = "", "main" }, "the resource group of the cluster is missing"},
		{found, func(o *ClusterOptions) { o.Name = "Shop" }, `"Shop" is no name of a cluster file`},
		{found, func(o *ClusterOptions) { o.Name = "demo" }, "demo.yaml exists already"},
		{found, func(o *ClusterOptions) { o.Like = "nobody" }, "nobody"},
		{found, func(o *ClusterOptions) { o.FromAWS = "other" }, "there is no such cluster"},
		{owned, nil, "is a cluster that Tombolo made (its owner is q5zk)"},
	} {
		root, _, err := initialise(t, &theirs{found: test.found}, test.change)
		assert.Check(t, is.ErrorContains(err, test.want))
		files, err := os.ReadDir(filepath.Join(root, "clusters"))
		assert.NilError(t, err)
		assert.Check(t, is.Len(files, 1), "a file was written: %s", test.want)
	}
}
