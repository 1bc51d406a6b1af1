//go:build lab

package lab

import (
	"cmp"
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

	"tombolo/config"
	"tombolo/stacks/handoff"
	"tombolo/tests/tier"
)

// TestExistingCluster adopts a cluster that another team's Pulumi program made, takes over
// the Flux that it has, gives it two addons, and takes these away again. Nothing of the other
// team's, in the cloud or on the cluster, is touched meanwhile, but for Flux's own objects.
// Its parts build on each other.
func TestExistingCluster(t *testing.T) {
	tier.Long(t, "another team's cluster and its Flux are adopted, which few users do")
	p := newProject(t)
	a := adopted{project: p}
	a.writeOurs(t) // the lab's repository has the tree as it is when the lab comes up
	p.must(t, "lab", "up", "--profile", "light-engine")
	a.makeTheirs(t)
	a.cloud, a.objects = p.records(t), a.theirObjects(t)
	inOrder(t, a, []step[adopted]{
		{"its file is written from AWS", adopted.written},
		{"what it lacks is refused", adopted.lacking},
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
	cloud, objects map[string]string
}

// makeTheirs runs the other team's program, and makes what it runs on the cluster.
func (a adopted) makeTheirs(t *testing.T) {
	t.Helper()
	root, err := filepath.Abs("../..")
	assert.NilError(t, err)
	for _, name := range []string{"go.mod", "go.sum"} {
		assert.NilError(t, copyAll(filepath.Join(a.dir, name), filepath.Join(root, name)))
	}
	for _, name := range []string{"Pulumi.yaml", "main.go"} {
		assert.NilError(t, copyAll(filepath.Join(a.dir, "theirs", name), filepath.Join("testdata", "theirs", name)))
	}
	for _, args := range [][]string{{"stack", "init", "dev"}, {"up", "--stack", "dev", "--yes", "--skip-preview"}} {
		a.mustTool(t, "pulumi", append([]string{"--cwd", "theirs", "--non-interactive"}, args...)...)
	}
	var outputs struct{ Endpoint, CA string }
	decode(t, a.mustTool(t, "pulumi", "--cwd", "theirs", "stack", "output", "--stack", "dev", "--json"), &outputs)
	kubeconfig, err := handoff.Kubeconfig("aws", theirName, "eu-central-1", outputs.Endpoint, outputs.CA, config.Cloud{})
	assert.NilError(t, err)
	a.write(t, "theirs/kubeconfig", string(kubeconfig))
	objects, err := os.ReadFile("testdata/theirs.yaml")
	assert.NilError(t, err)
	a.write(t, "theirs/objects.yaml", string(objects))
	a.ask(t, "apply", "-f", "theirs/objects.yaml")
	eventually(t, time.Minute, func() (bool, string) {
		return a.ask(t, "-n", "theirs", "get", "service", "front", "-o", "jsonpath={.status.loadBalancer.ingress[0].hostname}") != "",
			"the Service has no load balancer"
	})
}

// The Flux that the other team has, before and after it is taken over.
const (
	theirFlux = "v2.7.5"
	ourFlux   = "v2.9.3"
)

// haveFlux installs Flux as `flux install` does, with the other team's own source. A preview
// names it, and what to do.
func (a adopted) haveFlux(t *testing.T) {
	text, err := os.ReadFile("testdata/theirs-flux.yaml")
	assert.NilError(t, err)
	a.write(t, "theirs/own.yaml", strings.ReplaceAll(string(text), "${token}", a.labEnv(t)["TOMBOLO_GIT_TOKEN"]))
	a.write(t, "theirs/flux.yaml", a.read(t, ".tools/share/flux-install-before.yaml"))
	a.ask(t, "apply", "--server-side", "--field-manager=flux", "-f", "theirs/flux.yaml")
	a.ask(t, "apply", "-f", "theirs/own.yaml")
	a.fluxWorks(t)
	clear(a.objects)
	maps.Copy(a.objects, a.theirObjects(t))

	o := a.run(t, "preview", "shop")
	o.fails(t, "the existing cluster has Flux already", "nothing was made", "Set gitops.takeOver: true")
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
	eventually(t, 2*time.Minute, func() (bool, string) {
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
	text, err := os.ReadFile("testdata/adopted.yaml")
	assert.NilError(t, err)
	_, gitops, found := strings.Cut(a.read(t, "clusters/demo.yaml"), "\ngitops:")
	assert.Assert(t, found)
	a.write(t, shopFile, string(text)+"\ngitops:"+strings.ReplaceAll(gitops, "clusters/demo", "clusters/shop"))
	a.must(t, "init", "platform", "platform/flux", "shop")
	const overlay = "platform/flux/clusters/shop/kustomization.yaml"
	a.write(t, overlay, a.read(t, overlay)+"components:\n  - ../lab\n")
	a.must(t, "check", "platform/flux", "shop")
	a.write(t, "platform/flux/theirs/color.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-git, namespace: theirs}\ndata: {color: \"${shade} ${none}blue\"}\n")
}

// written has the file written from what AWS tells, and takes it away again. Its first
// preview creates only what is added.
func (a adopted) written(t *testing.T) {
	a.must(t, "init", "cluster", "written", "--from-aws", theirName, "--region", "eu-central-1", "--like", "demo")
	a.onlyCreates(t, "written")
	assert.NilError(t, os.Remove(filepath.Join(a.dir, "clusters", "written.yaml")))
	o := a.run(t, "init", "cluster", "--from-aws", "nobody", "--region", "eu-central-1")
	assert.Check(t, o.code != 0 && strings.Contains(o.stderr, "nobody") && strings.Contains(o.stderr, theirName), "exit code %d\n%s", o.code, o.stderr)
}

// lacking previews before the account has an identity provider for the cluster, which
// nobody has allowed to make.
func (a adopted) lacking(t *testing.T) {
	o := a.run(t, "preview", "shop")
	o.fails(t, "look up the IAM OIDC provider of its issuer", "set kubernetes.existing.createOidcProvider: true")
	a.edit(t, shopFile, "name: "+theirName+"\n", "name: "+theirName+"\n    createOidcProvider: true\n")
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
	releases := a.ask(t, "get", "helmreleases.helm.toolkit.fluxcd.io", "--all-namespaces", "-o", "jsonpath={.items[*].metadata.name}")
	for _, addon := range []string{"aws-load-balancer-controller", "reloader"} {
		assert.Check(t, is.Contains(releases, addon))
	}
	values := a.ask(t, "-n", "kube-system", "get", "configmap", "aws-load-balancer-controller-values", "-o", "jsonpath={.data.values\\.yaml}")
	assert.Check(t, is.Contains(values, "clusterName: "+theirName))
	// What is made in a namespace of ours goes with it.
	a.ask(t, "-n", "reports", "create", "service", "loadbalancer", "ours", "--tcp=80:80")
	eventually(t, time.Minute, func() (bool, string) {
		return a.ask(t, "-n", "reports", "get", "service", "ours", "-o", "jsonpath={.status.loadBalancer.ingress[0].hostname}") != "",
			"our Service has no load balancer"
	})
}

// untouched compares everything of the other team's with what it was.
func (a adopted) untouched(t *testing.T) {
	t.Helper()
	same(t, a.cloud, a.records(t))
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
	o := a.run(t, "upgrade", "shop", "--to", "1.35", "--yes")
	o.fails(t, "whose owner upgrades it")
	for change, want := range map[string][2]string{
		"another name":         {"name: " + theirName + "\n", "another cluster of the account is meant"},
		"without the provider": {"    createOidcProvider: true\n", "core has made the provider and would delete it"},
	} {
		a.edit(t, shopFile, want[0], map[string]string{"another name": "name: other\n"}[change])
		o := a.run(t, "up", "shop", "--yes")
		assert.Check(t, o.code != 0 && strings.Contains(o.stderr, want[1]), "%s: exit code %d\n%s", change, o.code, o.stderr)
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
	assert.Assert(t, said.code == 0, "%s\n%s", said.stdout, said.stderr)
	assert.Check(t, is.Contains(said.stderr, "what is not Tombolo's stays: Ingress theirs/site, Service theirs/front"))
	assert.Check(t, is.Contains(said.stderr, "the engine in the namespace flux-system was there before, and stays"))
	a.untouched(t)
	a.engineIs(t, ourFlux)
	for name := range a.theirObjects(t) {
		assert.Check(t, a.objects[name] != "" || ofCharts(name) || ofTheUpgrade(name), "the cluster still has %s", name)
	}
	for name := range a.records(t) {
		assert.Check(t, a.cloud[name] != "", "the cloud still has %s", name)
	}
	a.fluxWorks(t)
}
