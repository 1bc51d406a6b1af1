//go:build lab

package lab

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestOrderOfAddons: the first nodes have room for the engine and for Karpenter. In another order, the rest takes
// that room and Karpenter never runs; and the load balancer controller's webhook, whose controller finds no
// room, refuses every Service. In the tree's order neither happens. The parts build on each other, and the last
// cluster, in which nothing comes to its end, goes with its lab.
func TestOrderOfAddons(t *testing.T) {
	tier.Long(t, "why Karpenter and the load balancer controller come first: TestAddons holds the order itself")
	p := newProject(t)
	p.edit(t, demoFile, "      size: {min: 2, max: 4}\n", "      size: {min: 2, max: 2}\n      maxPods: 3\n")
	p.edit(t, demoFile, "  metrics-server: {}\n", "  metrics-server: {}\n  ingress-nginx: {}\n")
	p.edit(t, "platform/flux/clusters/demo/addons/kustomization.yaml", "  - ../../../addons/metrics-server\n", "  - ../../../addons/metrics-server\n  - ../../../addons/ingress-nginx\n")
	order := map[string]string{}
	for _, stage := range []string{"addons", "load-balancer-controller", "karpenter"} {
		order[stage] = p.read(t, stageFile(stage))
	}
	inOrder(t, p, []step[project]{
		{"in the order, all of it runs", project.inTheOrder},
		destroyStep[project]("demo"),
		{"the rest first: it takes the room, and Karpenter never comes", project.restFirst},
		{"a controller that finds no room has Services refused", project.servicesRefused},
		{"Karpenter finds no room that others have taken", func(p project, t *testing.T) {
			for stage, text := range order {
				p.write(t, stageFile(stage), text)
			}
			p.bring(t, "demo")
			p.unplaced(t, "kube-system/karpenter")
		}},
	})
}

func stageFile(stage string) string { return "platform/flux/clusters/base/" + stage + ".yaml" }

// dependsOn has a stage of the tree wait for another one.
func (p project) dependsOn(t *testing.T, stage, before, now string) {
	t.Helper()
	p.edit(t, stageFile(stage), "dependsOn:\n    - name: "+before+"\n", "dependsOn:\n    - name: "+now+"\n")
}

// unplaced waits until a pod of a Deployment finds no room on the nodes, and none of them is ready.
func (p project) unplaced(t *testing.T, deployment string) {
	t.Helper()
	namespace, name, _ := strings.Cut(deployment, "/")
	eventually(t, func() (bool, string) {
		var list struct {
			Items []struct {
				Status struct {
					Phase      string
					Conditions []struct{ Message string }
				}
			}
		}
		decode(t, p.kubectl(t, "demo", "-n", namespace, "get", "pods", "-l", "app.kubernetes.io/name="+name, "-o", "json"), &list)
		text, err := json.Marshal(list.Items)
		assert.NilError(t, err)
		for _, pod := range list.Items {
			if pod.Status.Phase != "Pending" {
				return false, string(text)
			}
		}
		return strings.Contains(string(text), "Too many pods"), string(text)
	})
}

func (p project) restFirst(t *testing.T) {
	p.dependsOn(t, "addons", "load-balancer-controller", "crds")
	p.dependsOn(t, "load-balancer-controller", "karpenter", "addons")
	p.dependsOn(t, "karpenter", "crds", "addons")
	p.must(t, "lab", "up") // which pushes them
	p.up(t, "demo")
	eventually(t, func() (bool, string) {
		pods := p.kubectl(t, "demo", "get", "pods", "-A", "--field-selector", "status.phase=Pending", "-o", "jsonpath={.items[*].status.conditions[*].message}")
		return strings.Contains(pods, "Too many pods"), pods
	})
	p.run(t, "verify", "demo", "--timeout", "20s").fails(t, "checks not passed after 20s")
	assert.Check(t, is.Equal(p.kubectl(t, "demo", "-n", "kube-system", "get", "deployments", "-o", "name"), "deployment.apps/metrics-server\n"))
	assert.Check(t, is.Len(p.made(t, "aws:ec2/instance:Instance"), 0), "a node came from nowhere")
}

func (p project) servicesRefused(t *testing.T) {
	p.dependsOn(t, "load-balancer-controller", "addons", "crds")
	p.bring(t, "demo")
	p.unplaced(t, "kube-system/aws-load-balancer-controller")
	o := p.tryKubectl(t, "demo", "-n", "default", "create", "service", "clusterip", "any", "--tcp=80:80")
	o.fails(t, `failed calling webhook "mservice.elbv2.k8s.aws"`, `no endpoints available for service "aws-load-balancer-webhook-service"`)
}

func (p project) inTheOrder(t *testing.T) {
	p.up(t, "demo")
	p.must(t, "verify", "demo", "--timeout", "10m")
	assert.Check(t, len(p.made(t, "aws:ec2/instance:Instance")) > 0, "Karpenter has made no node, and the first ones have no room")
	pending := p.kubectl(t, "demo", "get", "pods", "-A", "--field-selector", "status.phase=Pending", "-o", "name")
	assert.Check(t, is.Equal(pending, ""))
	refused := p.kubectl(t, "demo", "get", "events", "-A", "-o", "jsonpath={.items[*].message}")
	assert.Check(t, !strings.Contains(refused, "failed calling webhook"), refused)
	p.kubectl(t, "demo", "-n", "ingress-nginx", "get", "service", "ingress-nginx-controller")
	p.kubectl(t, "demo", "-n", "default", "create", "service", "clusterip", "any", "--tcp=80:80")
}
