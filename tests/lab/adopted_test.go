//go:build lab

package lab

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/config"
	"tombolo/lab/azure/arm"
	"tombolo/stacks/handoff"
	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestExistingCluster adopts a cluster that another team's Pulumi program made, takes over
// the Flux that it has, gives it two addons, and takes these away again. Nothing of the other
// team's, in the cloud or on the cluster, is touched meanwhile, but for Flux's own objects.
// Its parts build on each other.
func TestExistingCluster(t *testing.T) {
	tier.Long(t, "another team's cluster and its Flux are adopted, which few users do")
	adopt(t, theirsInAWS())
}

// TestExistingClusterInAzure is the same for a cluster of AKS.
func TestExistingClusterInAzure(t *testing.T) {
	tier.Long(t, "another team's cluster and its Flux are adopted in Azure, which few users do")
	adopt(t, theirsInAzure())
}

// adopt adopts a cluster of another team's, and gives it back.
func adopt(t *testing.T, of theirs) {
	p := newProject(t)
	a := adopted{project: p, of: of}
	a.writeOurs(t) // the lab's repository has the tree as it is when the lab comes up
	p.must(t, "lab", "up", "--profile", "light-engine")
	a.makeTheirs(t)
	a.cloud, a.objects = of.records(p, t), a.theirObjects(t)
	inOrder(t, a, []step[adopted]{
		{"its file is written from what the cloud tells", adopted.written},
		{"what it lacks is refused", of.lacking},
		{"its own Flux is refused", adopted.haveFlux},
		{"a preview creates only what is added", adopted.previewed},
		{"up", adopted.up},
		{"the other team's is left alone", adopted.untouched},
		{"a second up changes nothing", adopted.settled},
		{"what is the owner's is refused", adopted.refused},
		{"destroy leaves it as it was", adopted.destroyed},
	})
}

const (
	shopFile = "clusters/shop.yaml"
	// theirName is the cluster's name in EKS.
	theirName = "Shop_Main"
)

// adopted is a cluster of another team: the cloud and the objects as they were.
type adopted struct {
	project
	of             theirs
	cloud, objects map[string]string
}

// theirs is what the cluster of another team is in a cloud.
type theirs struct {
	// program of theirs, in testdata.
	program string
	// parts of our file for the cluster, in place of those for one in AWS; "" for none.
	parts string
	// kubeconfig is theirs, of what their program tells.
	kubeconfig func(t *testing.T, outputs map[string]string) []byte
	// named are the flags that name the cluster.
	named func(cluster string) []string
	// records are all that the cloud has.
	records func(p project, t *testing.T) map[string]string
	// lacking asks for what the cluster does not have yet.
	lacking func(a adopted, t *testing.T)
	// madeInCloud is what core made, and what it did not.
	madeInCloud func(a adopted, t *testing.T)
	// addons that the file turns on.
	addons []string
	// refused are changes of the file, with what is said of each.
	refused [][3]string
}

// theirsInAWS is a cluster of EKS.
func theirsInAWS() theirs {
	return theirs{
		program: "theirs",
		kubeconfig: func(t *testing.T, outputs map[string]string) []byte {
			config, err := handoff.Kubeconfig("aws", theirName, "eu-central-1", outputs["endpoint"], outputs["ca"], config.Cloud{})
			assert.NilError(t, err)
			return config
		},
		named:       func(cluster string) []string { return []string{"--from-aws", cluster, "--region", "eu-central-1"} },
		records:     project.records,
		lacking:     adopted.lacksProvider,
		madeInCloud: adopted.madeInAWS,
		addons:      []string{"aws-load-balancer-controller", "reloader"},
		refused: [][3]string{
			{"name: " + theirName + "\n", "name: other\n", "another cluster of the account is meant"},
			{"    createOidcProvider: true\n", "", "core has made the provider and would delete it"},
		},
	}
}

// recordsBesideBalancer are all records of Azure but that of the load balancer, which the Services of a
// cluster have in common: https://learn.microsoft.com/azure/aks/load-balancer-standard
func (p project) recordsBesideBalancer(t *testing.T) map[string]string {
	t.Helper()
	all := p.azureRecords(t)
	maps.DeleteFunc(all, func(_, record string) bool { return strings.Contains(record, `"Microsoft.Network/loadBalancers"`) })
	return all
}

// theirsInAzure is one of AKS.
func theirsInAzure() theirs {
	const account, group = "00000000-0000-4000-8000-000000000001", "shop-team"
	return theirs{
		program: "theirs-azure", parts: "shop",
		kubeconfig: func(t *testing.T, outputs map[string]string) []byte {
			given, err := base64.StdEncoding.DecodeString(outputs["kubeconfig"])
			assert.NilError(t, err)
			way, err := clientcmd.Load(given)
			assert.NilError(t, err)
			assert.Assert(t, is.Len(way.Clusters, 1))
			for _, c := range way.Clusters {
				ca := base64.StdEncoding.EncodeToString(c.CertificateAuthorityData)
				given, err = handoff.Kubeconfig("azure", theirName, "germanywestcentral", c.Server, ca, config.Cloud{Tenant: arm.Tenant})
			}
			assert.NilError(t, err)
			return given
		},
		named: func(cluster string) []string {
			return []string{"--from-azure", cluster, "--subscription", account, "--resource-group", group}
		},
		records:     project.recordsBesideBalancer,
		lacking:     adopted.lacksWorkloadIdentity,
		madeInCloud: adopted.madeInAzure,
		addons:      []string{"reloader"},
		refused:     [][3]string{{"name: " + theirName + "\n", "name: other\n", "another cluster of the account is meant"}},
	}
}

// makeTheirs runs the other team's program, and makes what it runs on the cluster.
func (a adopted) makeTheirs(t *testing.T) {
	t.Helper()
	for _, name := range []string{"go.mod", "go.sum"} {
		assert.NilError(t, copyAll(filepath.Join(a.dir, name), filepath.Join(checkout(t), name)))
	}
	for _, name := range []string{"Pulumi.yaml", "main.go"} {
		assert.NilError(t, copyAll(filepath.Join(a.dir, "theirs", name), filepath.Join("testdata", a.of.program, name)))
	}
	for _, args := range [][]string{{"stack", "init", "dev"}, {"up", "--stack", "dev", "--yes", "--skip-preview"}} {
		a.mustTool(t, "pulumi", append([]string{"--cwd", "theirs", "--non-interactive"}, args...)...)
	}
	var outputs map[string]string
	decode(t, a.mustTool(t, "pulumi", "--cwd", "theirs", "stack", "output", "--stack", "dev", "--json", "--show-secrets"), &outputs)
	a.write(t, "theirs/kubeconfig", string(a.of.kubeconfig(t, outputs)))
	a.write(t, "theirs/objects.yaml", testdata(t, "theirs.yaml"))
	a.ask(t, "apply", "-f", "theirs/objects.yaml")
	a.balanced(t, "theirs", "front")
}

// The Flux that the other team has, before and after it is taken over.
const (
	theirFlux = "v2.7.5"
	ourFlux   = "v2.9.3"
)

// haveFlux installs Flux as `flux install` does, with the other team's own source. A preview
// names it, and what to do.
func (a adopted) haveFlux(t *testing.T) {
	a.write(t, "theirs/own.yaml", strings.ReplaceAll(testdata(t, "theirs-flux.yaml"), "${token}", a.labEnv(t)["TOMBOLO_GIT_TOKEN"]))
	a.write(t, "theirs/flux.yaml", a.read(t, ".tools/share/flux-install-before.yaml"))
	a.ask(t, "apply", "--server-side", "--field-manager=flux", "-f", "theirs/flux.yaml")
	a.ask(t, "apply", "-f", "theirs/own.yaml")
	a.fluxWorks(t)
	clear(a.objects)
	maps.Copy(a.objects, a.theirObjects(t))

	a.run(t, "preview", "shop").fails(t, "the existing cluster has Flux already", "nothing was made", "Set gitops.takeOver: true")
	a.untouched(t)
	a.edit(t, shopFile, "\ngitops:\n", "\ngitops:\n  takeOver: true\n")
	whole := a.previewsFlux(t, "which is taken over and upgraded to "+ourFlux)
	// As long as Git applies it, nothing of Flux is made.
	byGit := []string{"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"}
	a.ask(t, "-n", "flux-system", "label", "deployments", "--all", byGit[0]+"=flux-system", byGit[1]+"=flux-system")
	a.edit(t, shopFile, "version: "+ourFlux, "version: "+theirFlux) // Git decides about the version
	added := a.previewsFlux(t, "which Kustomization flux-system/flux-system applies from Git: it stays with Git")
	a.edit(t, shopFile, "version: "+theirFlux, "version: "+ourFlux)
	a.ask(t, "-n", "flux-system", "label", "deployments", "--all", byGit[0]+"-", byGit[1]+"-")
	distribution := strings.Count(a.read(t, ".tools/share/flux-install.yaml"), "\nkind: ") - 1 // its namespace is there
	assert.Check(t, is.Equal(whole-added, distribution))
}

// previewsFlux previews what becomes of the other team's Flux, and returns how much
// bootstrap would create.
func (a adopted) previewsFlux(t *testing.T, becomes string) int {
	t.Helper()
	o := a.run(t, "preview", "shop", "--output", "json")
	assert.Assert(t, o.code == 0, "%s\n%s", o.stdout, o.stderr)
	assert.Check(t, is.Contains(o.stdout+o.stderr, "has Flux "+theirFlux+", "+becomes))
	return lastResult(t, o.stdout).Stacks[1].Changes["create"]
}

// fluxWorks has the other team's Kustomization make again what it had made, without the
// variable that it has no value for.
func (a adopted) fluxWorks(t *testing.T) {
	t.Helper()
	a.ask(t, "-n", "theirs", "delete", "configmap", "from-git", "--ignore-not-found")
	now := time.Now().Format(time.RFC3339Nano)
	patch := `{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":"` + now + `"}}}`
	a.ask(t, "-n", "theirs", "patch", "kustomizations.kustomize.toolkit.fluxcd.io", "own", "--type=merge", "-p", patch)
	eventually(t, func() (bool, string) {
		color := a.ask(t, "-n", "theirs", "get", "configmap", "from-git", "--ignore-not-found", "-o", "jsonpath={.data.color}")
		return color == "dark blue", "the Kustomization of the other team has not made its ConfigMap: the color is " + color
	})
	a.ask(t, "-n", "theirs", "patch", "kustomizations.kustomize.toolkit.fluxcd.io", "own", "--type=json", "-p", `[{"op":"remove","path":"/metadata/annotations/reconcile.fluxcd.io~1requestedAt"}]`)
}

// engineIs says that Flux's controllers are of a version, and substitute as before.
func (a adopted) engineIs(t *testing.T, version string) {
	t.Helper()
	const path = "jsonpath={range .items[*]}{.metadata.name} {.metadata.labels.app\\.kubernetes\\.io/version} {end}"
	got := a.ask(t, "-n", "flux-system", "get", "deployments", "-o", path)
	assert.Equal(t, strings.TrimSpace(got), "helm-controller "+version+" kustomize-controller "+version+" notification-controller "+version+" source-controller "+version)
	args := a.ask(t, "-n", "flux-system", "get", "deployment", "kustomize-controller", "-o", "jsonpath={.spec.template.spec.containers[0].args}")
	assert.Check(t, is.Contains(args, "StrictPostBuildSubstitutions=false"))
}

// ask asks the cluster as the other team does.
func (a adopted) ask(t *testing.T, args ...string) string {
	t.Helper()
	return a.mustTool(t, "kubectl", append([]string{"--kubeconfig", "theirs/kubeconfig"}, args...)...)
}

// passing are kinds whose objects come and go, or change, by themselves.
var passing = []string{
	"events", "events.events.k8s.io", "leases.coordination.k8s.io", "endpoints", "endpointslices.discovery.k8s.io", "componentstatuses",
	// Kubernetes makes them of definitions, and Flux 2.9 has fewer versions than the one before.
	"apiservices.apiregistration.k8s.io",
}

// theirObjects are all objects of the cluster, without what changes by itself.
func (a adopted) theirObjects(t *testing.T) map[string]string {
	t.Helper()
	kinds := slices.DeleteFunc(strings.Fields(a.ask(t, "api-resources", "--verbs=list", "-o", "name")), func(kind string) bool { return slices.Contains(passing, kind) })
	var list struct{ Items []map[string]any }
	decode(t, a.ask(t, "get", strings.Join(kinds, ","), "--all-namespaces", "-o", "json"), &list)
	out := map[string]string{}
	for _, item := range list.Items {
		meta := item["metadata"].(map[string]any)
		labels, _ := meta["labels"].(map[string]any)
		if labels["app.kubernetes.io/part-of"] == "flux" && item["kind"] != "Namespace" {
			// They become another version's, and stay.
			item = map[string]any{"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": map[string]any{
				"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"],
			}}
			meta = item["metadata"].(map[string]any)
		}
		delete(item, "status")
		delete(meta, "resourceVersion")
		delete(meta, "managedFields")
		text, err := json.Marshal(item)
		assert.NilError(t, err)
		namespace, _ := meta["namespace"].(string)
		out[strings.Join([]string{item["apiVersion"].(string), item["kind"].(string), namespace, meta["name"].(string)}, " ")] = string(text)
	}
	return out
}

// writeOurs writes the cluster's file and its part of the platform tree.
func (a adopted) writeOurs(t *testing.T) {
	t.Helper()
	_, gitops, found := strings.Cut(a.read(t, "clusters/demo.yaml"), "\ngitops:")
	assert.Assert(t, found)
	file := testdata(t, "adopted.yaml")
	if a.of.parts != "" {
		file = files.WithParts(file, testdata(t, "azure/"+a.of.parts+".yaml"))
	}
	a.write(t, shopFile, file+"\ngitops:"+strings.ReplaceAll(gitops, "clusters/demo", "clusters/shop"))
	a.must(t, "init", "platform", "platform/flux", "shop")
	const overlay = "platform/flux/clusters/shop/kustomization.yaml"
	a.write(t, overlay, a.read(t, overlay)+"components:\n  - ../lab\n")
	a.must(t, "check", "platform/flux", "shop")
	a.write(t, "platform/flux/theirs/color.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-git, namespace: theirs}\ndata: {color: \"${shade} ${none}blue\"}\n")
}

// written has the file written from what AWS tells, and takes it away again. Its first
// preview creates only what is added.
func (a adopted) written(t *testing.T) {
	a.must(t, slices.Concat([]string{"init", "cluster", "written", "--like", "demo"}, a.of.named(theirName))...)
	a.onlyCreates(t, "written")
	assert.NilError(t, os.Remove(filepath.Join(a.dir, "clusters", "written.yaml")))
	a.run(t, slices.Concat([]string{"init", "cluster"}, a.of.named("nobody"))...).fails(t, "nobody", theirName)
}

// lacksProvider previews before the account has an identity provider for the cluster, which
// nobody has allowed to make.
func (a adopted) lacksProvider(t *testing.T) {
	a.run(t, "preview", "shop").fails(t, "look up the IAM OIDC provider of its issuer", "set kubernetes.existing.createOidcProvider: true")
	a.edit(t, shopFile, "name: "+theirName+"\n", "name: "+theirName+"\n    createOidcProvider: true\n")
}

// lacksWorkloadIdentity previews before the cluster's owner has turned it on, and lets the owner.
func (a adopted) lacksWorkloadIdentity(t *testing.T) {
	a.run(t, "preview", "shop").fails(t, "it has no OIDC issuer, which workload identity needs", "--enable-oidc-issuer --enable-workload-identity")
	main := a.read(t, "theirs/main.go")
	a.write(t, "theirs/main.go", strings.Replace(main, "		EnableRBAC: ", "		OidcIssuerProfile: containerservice.ManagedClusterOIDCIssuerProfileArgs{Enabled: pulumi.Bool(true)},\n"+
		"		SecurityProfile: containerservice.ManagedClusterSecurityProfileArgs{WorkloadIdentity: containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs{Enabled: pulumi.Bool(true)}},\n"+
		"		EnableRBAC: ", 1))
	a.mustTool(t, "pulumi", "--cwd", "theirs", "--non-interactive", "up", "--stack", "dev", "--yes", "--skip-preview")
	clear(a.cloud)
	maps.Copy(a.cloud, a.of.records(a.project, t))
	clear(a.objects)
	maps.Copy(a.objects, a.theirObjects(t))
}

func (a adopted) previewed(t *testing.T) { a.onlyCreates(t, "shop") }

// onlyCreates previews a cluster that is not there yet.
func (a adopted) onlyCreates(t *testing.T, cluster string) {
	t.Helper()
	r := lastResult(t, a.must(t, "preview", cluster, "--output", "json"))
	r.created(t)
	for _, s := range r.Stacks {
		for operation, n := range s.Changes {
			assert.Check(t, operation == "create" || n == 0, "%s: %d %s", s.Stack, n, operation)
		}
	}
	a.untouched(t)
}

func (a adopted) up(t *testing.T) {
	a.project.up(t, "shop").created(t)
	a.engineIs(t, ourFlux)
	a.must(t, "verify", "shop")
	a.of.madeInCloud(a, t)
	releases := a.ask(t, "get", "helmreleases.helm.toolkit.fluxcd.io", "--all-namespaces", "-o", "jsonpath={.items[*].metadata.name}")
	for _, addon := range a.of.addons {
		assert.Check(t, is.Contains(releases, addon))
	}
	// What is made in a namespace of ours goes with it.
	a.ask(t, "-n", "reports", "create", "service", "loadbalancer", "ours", "--tcp=80:80")
	a.balanced(t, "reports", "ours")
}

func (a adopted) madeInAWS(t *testing.T) {
	var ours []string
	for _, i := range a.inventory(t) {
		if _, theirs := a.cloud[cmp.Or(i.ID, i.Name)]; !theirs && strings.HasPrefix(i.Name+i.ID, "shop-") {
			ours = append(ours, i.Type)
		}
		for _, unwanted := range []string{"shop-cluster", "shop-node", "shop-secrets"} {
			assert.Check(t, i.Name != unwanted && i.ID != unwanted, "core made %s %s", i.Type, unwanted)
		}
	}
	assert.Check(t, slices.Contains(ours, "aws:iam/role:Role"), "the addon has no role: %v", ours)
	for _, token := range []string{"aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:ec2/vpc:Vpc"} {
		assert.Check(t, is.Len(a.made(t, token), 1), token)
	}
	values := a.ask(t, "-n", "kube-system", "get", "configmap", "aws-load-balancer-controller-values", "-o", "jsonpath={.data.values\\.yaml}")
	assert.Check(t, is.Contains(values, "clusterName: "+theirName))
}

// madeInAzure: the service has an identity, and the cluster is the only one.
func (a adopted) madeInAzure(t *testing.T) {
	identities := a.made(t, "azure-native:managedidentity/v20230131:UserAssignedIdentity")
	assert.Check(t, is.Len(slices.DeleteFunc(identities, func(i item) bool { return !strings.HasPrefix(i.Name, "shop-") }), 1))
	assert.Check(t, is.Len(a.made(t, aksCluster), 1))
	assert.Check(t, is.Len(a.made(t, "azure-native:network/v20190601:VirtualNetwork"), 0))
	values := a.ask(t, "-n", "reports", "get", "configmap", "reporter-values", "-o", `jsonpath={.data.values\.yaml}`)
	assert.Check(t, is.Contains(values, "azure.workload.identity/client-id"))
}

// balanced waits until a Service has a load balancer.
func (a adopted) balanced(t *testing.T, namespace, service string) {
	t.Helper()
	eventually(t, func() (bool, string) {
		return a.ask(t, "-n", namespace, "get", "service", service, "-o", "jsonpath={.status.loadBalancer.ingress}") != "",
			"the Service " + namespace + "/" + service + " has no load balancer"
	})
}

// untouched compares everything of the other team's with what it was.
func (a adopted) untouched(t *testing.T) {
	t.Helper()
	same(t, a.cloud, a.of.records(a.project, t))
	same(t, a.objects, a.theirObjects(t))
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			t.Errorf("%s was\n%s\nand is\n%s", name, before[name], cmp.Or(after[name], "gone"))
		}
	}
}

func (a adopted) settled(t *testing.T) {
	a.unchanged(t, "shop")
	a.must(t, "drift", "shop")
	a.must(t, "outputs", "shop")
	a.must(t, "doctor", "shop")
}

func (a adopted) refused(t *testing.T) {
	text := a.read(t, shopFile)
	defer a.write(t, shopFile, text)
	a.run(t, "upgrade", "shop", "--to", "1.35", "--yes").fails(t, "whose owner upgrades it")
	for _, change := range a.of.refused {
		a.edit(t, shopFile, change[0], change[1])
		a.run(t, "up", "shop", "--yes").fails(t, change[2])
		a.write(t, shopFile, text)
	}
	a.untouched(t)
}

// ofCharts says that an object is a definition of the load balancer controller's chart, or
// the API that Kubernetes makes of it: Helm deletes no definitions of a chart's crds folder.
// https://helm.sh/docs/chart_best_practices/custom_resource_definitions/
func ofCharts(name string) bool {
	return strings.HasSuffix(name, ".elbv2.k8s.aws") &&
		(strings.Contains(name, "CustomResourceDefinition") || strings.Contains(name, "APIService"))
}

// ofTheUpgrade says that an object came with the Flux that took over, which stays:
// notification-controller was not there before. Each Service has an IPAddress of
// Kubernetes's.
func ofTheUpgrade(name string) bool {
	for _, part := range []string{"notification-controller", "webhook-receiver", ".notification.toolkit.fluxcd.io", " IPAddress "} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func (a adopted) destroyed(t *testing.T) {
	said := a.run(t, "destroy", "shop", "--yes")
	said.ends(t, 0, "what is not Tombolo's stays: Ingress theirs/site, Service theirs/front", "the engine in the namespace flux-system was there before, and stays")
	a.untouched(t)
	a.engineIs(t, ourFlux)
	for name := range a.theirObjects(t) {
		assert.Check(t, a.objects[name] != "" || ofCharts(name) || ofTheUpgrade(name), "the cluster still has %s", name)
	}
	for name := range a.of.records(a.project, t) {
		assert.Check(t, a.cloud[name] != "", "the cloud still has %s", name)
	}
	a.fluxWorks(t)
}
