//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/addon"
	"tombolo/tests/tier"
)

// TestAddons is the way of a cluster with every addon of the catalogue, and of
// an addon that is turned off. Its parts build on each other.
func TestAddons(t *testing.T) {
	tier.Long(t, "every addon of the catalogue on one cluster: TestDemo has five of them")
	p := newProject(t)
	p.env = append(p.env, "TOMBOLO_LAB_TAG_KEYS=team") // as an organisation wants it
	inOrder(t, p, []step[project]{
		{"up", func(p project, t *testing.T) { p.up(t, full) }},
		{"verify", func(p project, t *testing.T) { p.must(t, "verify", full, "--timeout", "10m") }},
		{"every addon's release is there", project.everyRelease},
		{"each stage waited for the one before", project.stagesInOrder},
		{"what the cloud made reached the charts", project.cloudReachesCharts},
		{"secrets arrive with the cluster's role", project.secretsArrive},
		{"what controllers make has the tags that the organisation wants", project.tagsOfControllers},
		{"the mesh's issuer is Linkerd's alone", project.meshIssuer},
		{"a second up changes nothing", func(p project, t *testing.T) { p.unchanged(t, full) }},
		{"another address of Loki is one line in the tree", project.lokiElsewhere},
		{"an addon's needs outlive its release", project.turnOff},
		{"what is left is green and settled", func(p project, t *testing.T) {
			p.must(t, "verify", full)
			p.unchanged(t, full)
		}},
		{"destroy leaves an empty cloud", func(p project, t *testing.T) {
			p.must(t, "destroy", full, "--yes")
			p.onlyTheZone(t)
		}},
	})
}

// full is the sample cluster with every addon on.
const full = "full"

func (p project) unchanged(t *testing.T, cluster string) {
	t.Helper()
	p.up(t, cluster).unchanged(t)
}

// object is what a test reads of a Kubernetes object.
type object struct {
	Metadata struct {
		Name, Namespace   string
		Labels            map[string]string
		CreationTimestamp time.Time
	}
	Status struct {
		Conditions []struct {
			Type, Status       string
			LastTransitionTime time.Time
		}
	}
}

func (o object) ready() time.Time {
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return c.LastTransitionTime
		}
	}
	return time.Time{}
}

// releases are the HelmReleases by the stage that made them.
func (p project) releases(t *testing.T) map[string][]object {
	t.Helper()
	var list struct{ Items []object }
	decode(t, p.kubectl(t, full, "get", "helmreleases", "-A", "-o", "json"), &list)
	byStage := map[string][]object{}
	for _, r := range list.Items {
		stage := r.Metadata.Labels["kustomize.toolkit.fluxcd.io/name"]
		byStage[stage] = append(byStage[stage], r)
	}
	return byStage
}

func (p project) everyRelease(t *testing.T) {
	released := map[string]bool{}
	for stage, all := range p.releases(t) {
		for _, r := range all {
			name := r.Metadata.Labels["tombolo/addon"]
			released[name] = true
			a := addon.Find(name)
			if a == nil || stage != "crds" && stage != string(a.Stage) {
				t.Errorf("release %s of the addon %q is in the stage %q", r.Metadata.Name, name, stage)
			}
		}
	}
	for _, a := range addon.All() {
		if _, not := a.NotOn[addon.AWS]; !not && a.Name != "certificate" && !released[a.Name] {
			t.Errorf("the addon %s has no release", a.Name)
		}
	}
}

// stagesInOrder compares when the last release of a stage became ready with
// when the first of the next was made.
func (p project) stagesInOrder(t *testing.T) {
	byStage := p.releases(t)
	stages := []string{"crds", "karpenter", "load-balancer-controller", "addons"}
	for i := 1; i < len(stages); i++ {
		before, after := byStage[stages[i-1]], byStage[stages[i]]
		if len(before) == 0 || len(after) == 0 {
			t.Fatalf("%s has %d releases and %s has %d", stages[i-1], len(before), stages[i], len(after))
		}
		last := slices.MaxFunc(before, func(a, b object) int { return a.ready().Compare(b.ready()) })
		first := slices.MinFunc(after, func(a, b object) int {
			return a.Metadata.CreationTimestamp.Compare(b.Metadata.CreationTimestamp)
		})
		if last.ready().IsZero() || first.Metadata.CreationTimestamp.Before(last.ready()) {
			t.Errorf("%s of the stage %s was made at %s, before %s of the stage %s was ready at %s",
				first.Metadata.Name, stages[i], first.Metadata.CreationTimestamp, last.Metadata.Name, stages[i-1], last.ready())
		}
	}
}

// received are the values that a stand-in chart was rendered with.
func (p project) received(t *testing.T, namespace, release string) string {
	t.Helper()
	return p.kubectl(t, full, "-n", namespace, "get", "configmap", release+"-received", "-o", `jsonpath={.data.values\.yaml}`)
}

func (p project) cloudReachesCharts(t *testing.T) {
	made := map[string]string{}
	for _, i := range p.inventory(t) {
		made[i.Type+" "+i.Name] = i.ID
	}
	for what, want := range map[string]string{
		"aws:sqs/queue:Queue full-karpenter": "interruptionQueue: full-karpenter",
		"aws:iam/role:Role full-karpenter":   "eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/full-karpenter",
	} {
		assert.Check(t, made[what] != "", "the stand-in has no %s; it has %v", what, made)
		assert.Check(t, is.Contains(p.received(t, "kube-system", "karpenter"), want))
	}
	front := p.kubectl(t, full, "-n", "ingress-nginx", "get", "service", "ingress-nginx-controller", "-o", "jsonpath={.status.loadBalancer.ingress[0].hostname}")
	assert.Check(t, strings.HasPrefix(front, "k8s-ingressn-"), "ingress-nginx is at %q, and not at a load balancer of the controller", front)
	gateway := p.kubectl(t, full, "-n", "istio-system", "get", "gateway", "public", "-o",
		`jsonpath={.spec.listeners[?(@.name=="https")].protocol} {.spec.infrastructure.annotations.service\.beta\.kubernetes\.io/aws-load-balancer-ssl-cert}`)
	assert.Check(t, strings.HasPrefix(gateway, "HTTP arn:aws:acm:"), "behind the load balancer's TLS the Gateway has %q", gateway)
	files := p.kubectl(t, full, "get", "storageclass", "efs", "-o", "jsonpath={.parameters.fileSystemId}")
	assert.Check(t, strings.HasPrefix(files, "fs-"), "the storage class efs has the file system %q", files)
}

// workload needs a load balancer, a volume and a node, which controllers make.
const workload = `
apiVersion: v1
kind: Service
metadata: {name: tagged, namespace: default}
spec: {type: LoadBalancer, loadBalancerClass: service.k8s.aws/nlb, selector: {app: tagged}, ports: [{port: 80}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: tagged, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: tagged, namespace: default, labels: {app: tagged}}
spec:
  nodeSelector: {karpenter.sh/nodepool: default}
  containers: [{name: app, image: registry.example.com/app:1, volumeMounts: [{name: data, mountPath: /data}]}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: tagged}}]
`

// tagsOfControllers: the stand-in denies what has no tag team, so that what is there has it.
func (p project) tagsOfControllers(t *testing.T) {
	objects := asFile(t, workload)
	p.kubectl(t, full, "apply", "-f", objects)
	for _, token := range []string{"aws:lb/loadBalancer:LoadBalancer", "aws:ebs/volume:Volume", "aws:ec2/instance:Instance"} {
		eventually(t, func() (bool, string) {
			return len(p.made(t, token)) > 0, "there is no " + token
		})
	}
	for _, text := range p.records(t) {
		var r record
		assert.NilError(t, json.Unmarshal([]byte(text), &r))
		if r.Type == "aws:lb/loadBalancer:LoadBalancer" || r.Type == "aws:ebs/volume:Volume" || r.Type == "aws:ec2/instance:Instance" {
			tags, _ := r.Outputs["tags"].(map[string]any)
			assert.Equal(t, tags["team"], "platform", "%s has the tags %v", r.Type, tags)
		}
	}
	p.kubectl(t, full, "delete", "-f", objects)
}

// meshCertificate asks for a certificate of the mesh's issuer.
const meshCertificate = `
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: impostor}
spec:
  secretName: impostor
  dnsNames: [payments.shop.serviceaccount.identity.linkerd.cluster.local]
  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: linkerd-identity-issuer}
---
apiVersion: cert-manager.io/v1
kind: CertificateRequest
metadata: {name: impostor}
spec:
  request: LS0tLS1CRUdJTg==
  issuerRef: {kind: ClusterIssuer, name: linkerd-identity-issuer}
`

// meshIssuer: who gets a certificate of it passes for any pod of the mesh, so no other namespace
// may ask for one, and Linkerd may.
func (p project) meshIssuer(t *testing.T) {
	ask := func(namespace string) outcome {
		return p.tryKubectl(t, full, "-n", namespace, "create", "--dry-run=server", "-f", asFile(t, meshCertificate))
	}
	refused := ask("default")
	assert.Check(t, refused.code != 0)
	assert.Check(t, strings.Count(refused.stderr, "is for the namespace linkerd alone") == 2, refused.stderr)
	granted := ask("linkerd")
	assert.Check(t, granted.code == 0, granted.stderr)
}

// lokiElsewhere sends the logs to a Loki of another place. The labels stay those
// that bootstrap publishes.
func (p project) lokiElsewhere(t *testing.T) {
	const address = "http://loki-gateway.loki.svc.cluster.local/loki/api/v1/push"
	for _, collector := range []string{"alloy", "promtail"} {
		p.edit(t, "platform/flux/addons/"+collector+"/release.yaml", address, "https://loki.example.com/push")
	}
	p.must(t, "check", "platform/flux", full)
	p.bring(t, full)
	for _, collector := range []string{"alloy", "promtail"} {
		eventually(t, func() (bool, string) {
			values := p.received(t, "monitoring", collector)
			for _, want := range []string{"url: https://loki.example.com/push", "cluster: full"} {
				if !strings.Contains(values, want) {
					return false, fmt.Sprintf("%s's values lack %q:\n%s", collector, want, values)
				}
			}
			return true, ""
		})
	}
}

// turnOff takes external-dns out of the cluster file first and out of the tree
// afterwards: in between, up waits and takes nothing away.
func (p project) turnOff(t *testing.T) {
	const file, list = "clusters/full.yaml", "platform/flux/clusters/full/addons/kustomization.yaml"
	p.write(t, file, without(t, p.read(t, file), "  external-dns:"))
	cmd, out := p.start(t, "up", full, "--yes")
	awaitOutput(t, cmd, out, "Flux still has HelmRelease external-dns/external-dns")
	if got := p.dnsRole(t); got == "" {
		t.Error("the role is gone while the release is there")
	}
	p.kubectl(t, full, "-n", "external-dns", "get", "configmap", "external-dns-values")

	p.write(t, list, without(t, p.read(t, list), "  - ../../../addons/external-dns"))
	p.bring(t, full)
	assert.NilError(t, cmd.Wait(), out.String())
	assert.Check(t, is.Equal(p.dnsRole(t), ""))
	assert.Check(t, is.Equal(p.kubectl(t, full, "get", "namespace,helmrelease", "-A", "-o", "name", "--field-selector", "metadata.name=external-dns"), ""))
}

func (p project) dnsRole(t *testing.T) string {
	t.Helper()
	for _, i := range p.made(t, "aws:iam/role:Role") {
		if i.Name == "full-external-dns" {
			return i.ID
		}
	}
	return ""
}

// awaitOutput waits until a running command has said something.
func awaitOutput(t *testing.T, cmd *exec.Cmd, out fmt.Stringer, want string) {
	t.Helper()
	eventually(t, func() (bool, string) {
		return strings.Contains(out.String(), want), fmt.Sprintf("%s has not said %q:\n%s", strings.Join(cmd.Args, " "), want, out)
	})
}

// without removes a line of a YAML text, and what is indented below it.
func without(t *testing.T, text, line string) string {
	t.Helper()
	indent := len(line) - len(strings.TrimLeft(line, " "))
	var kept []string
	inside, found := false, false
	for l := range strings.Lines(text) {
		trimmed := strings.TrimRight(l, "\n")
		if inside && (strings.TrimSpace(trimmed) == "" || len(trimmed)-len(strings.TrimLeft(trimmed, " ")) > indent) {
			continue
		}
		if inside = strings.HasPrefix(trimmed, line); inside {
			found = true
			continue
		}
		kept = append(kept, l)
	}
	assert.Assert(t, found, "there is no line %q in:\n%s", line, text)
	return strings.Join(kept, "")
}

// onlyTheZone finds records by which certificates are validated, and nothing
// else: they stay, for another certificate of the name renews by them too
// (components/certificate).
func (p project) onlyTheZone(t *testing.T) {
	t.Helper()
	for _, i := range p.inventory(t) {
		assert.Check(t, i.Type == "aws:route53/record:Record", "the stand-in still holds %s %s", i.Type, i.ID)
	}
}
