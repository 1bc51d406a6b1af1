//go:build lab

package lab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestArgoCD is the way of a hub and its two spokes, from an empty lab to an
// empty lab. Its parts build on each other. The hub and spoke-a are in AWS, spoke-b is in Azure.
//
// It and TestClouds take longest, and their files are the first and the last of the package, so that
// they begin first: see TestTheLongestBeginFirst in tools/choose.
func TestArgoCD(t *testing.T) {
	tier.Part(t, "a hub in AWS and its spokes in both clouds come and go; their changes, systems, rebuilds and hubs of others are left out")
	f := newFleet(t)
	f.edit(t, clusterFile(hub), "version: "+ourArgoCD, "version: "+earlierArgoCD)
	f.edit(t, clusterFile(hub), "argocd-install.yaml", "argocd-install-before.yaml")
	inOrder(t, f, []step[*fleet]{
		{"a spoke alone is refused", (*fleet).aloneIsRefused},
		{"one command, the hub first", (*fleet).up},
		{"verify", (*fleet).verify},
		{"each wave waited for the one before", (*fleet).wavesKept},
	})
	if testing.Short() {
		inOrder(t, f, []step[*fleet]{
			{"a hub is kept while it has spokes", (*fleet).hubIsKept},
			{"a spoke leaves", func(f *fleet, t *testing.T) { f.leaves(t, spokeA) }},
			{"destroy leaves an empty cloud", (*fleet).nothingIsLeft},
		})
		return
	}
	inOrder(t, f, []step[*fleet]{
		{"a change reaches the ring first", (*fleet).ringFirst},
		{"a hand edit is put back and told of", (*fleet).healed},
		{"the hub's Argo CD is upgraded", (*fleet).upgraded},
		{"an Application out of sync fires the alert", (*fleet).outOfSyncIsTold},
		{"collectors of logs reach the labelled cluster alone, Promtail by its name", (*fleet).collectorsByLabel},
		{"Promtail as a chart of one's own in Git", (*fleet).ownChart},
		{"a pull request has an environment as long as it is open", (*fleet).previewed},
		{"one label brings monitoring to the spoke in the other cloud, and takes it away", (*fleet).monitoredByLabel},
		{"an annotation changes in place", (*fleet).annotationInPlace},
		{"another token of the spoke in the other cloud", (*fleet).tokenRotates},
		{"a token in place of a role, and the role again", (*fleet).credentialsChange},
		{"another up changes nothing", (*fleet).settled},
		{"what Git says of bootstrap's namespace stays, and the namespace does when Git says nothing", (*fleet).labelled},
		{"no token anywhere", (*fleet).noToken},
		{"systems of teams, one of which is refused and holds nobody up", (*fleet).systemsSetUp},
		{"what a system may not do is refused and told", (*fleet).systemsAttacked},
		{"what it may do works", (*fleet).systemsAllowed},
		{"another up leaves what Git has changed of Argo CD", (*fleet).leftToGit},
		{"a list of systems moves to a repository of its own, and back", (*fleet).systemsElsewhere},
		{"systems are suspended and removed, with all that they had", (*fleet).systemsRemoved},
		{"a hub is kept while it has spokes", (*fleet).hubIsKept},
		{"a spoke is rebuilt: it leaves, and comes back as it was, with its data", (*fleet).spokeIsRebuilt},
		{"everything goes and comes back as it was", (*fleet).rebuilt},
		{"a dead spoke leaves", (*fleet).deadSpokeLeaves},
		{"a spoke of a hub that others run is refused without the rights", (*fleet).externalHubNeedsRights},
		{"with the guide's rights it registers, and what the owners want arrives", (*fleet).externalHubTakesIt},
		{"another token, in a refresh too", (*fleet).externalHubRotates},
		{"it leaves when the owners' Applications are gone", (*fleet).leavesExternalHub},
		{"destroy leaves an empty cloud", (*fleet).nothingIsLeft},
	})
}

const (
	hub    = "mgmt"
	spokeA = "spoke-a"
	spokeB = "spoke-b"
)

// The hub's Argo CD, before and after its upgrade.
const (
	earlierArgoCD = "v3.2.0"
	ourArgoCD     = "v3.5.7"
)

// fleet is a project with a hub and two spokes.
type fleet struct {
	project
	// waves are some addons of the hub's, with the wave of each.
	waves map[string]int
	// byToken are the spokes that the hub reaches by the token of a service account.
	byToken []string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{
		newProject(t),
		map[string]int{"external-dns": -2, "external-secrets": -2, "ingress-nginx": -1, "kube-prometheus-stack": 0, "aws-efs-csi-driver": 0},
		[]string{spokeB},
	}
	for _, name := range []string{hub, spokeA, spokeB} {
		f.write(t, clusterFile(name), testdata(t, "argocd/"+name+".yaml"))
	}
	f.write(t, "platform/argocd/others/greeting.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting, namespace: hello}\ndata: {from: the owners}\n")
	return f
}

func clusterFile(name string) string { return filepath.Join("clusters", name+".yaml") }

// upgraded takes the hub's Argo CD three minor versions on: its Applications stay the
// objects that they are, and nothing of the spokes changes.
func (f *fleet) upgraded(t *testing.T) {
	applications := func() string {
		return f.kubectl(t, hub, "get", "applications,applicationsets", "-A", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	before := applications()
	f.edit(t, clusterFile(hub), "version: "+earlierArgoCD, "version: "+ourArgoCD)
	f.edit(t, clusterFile(hub), "argocd-install-before.yaml", "argocd-install.yaml")
	r := f.project.up(t, hub)
	assert.Equal(t, r.Stacks[0].Changed, 0, "core changes %v", r.Stacks[0].Changes)
	assert.Check(t, r.Stacks[1].Changes["update"] > 0 && r.Stacks[1].Changes["replace"] == 0, "bootstrap changes %v", r.Stacks[1].Changes)
	f.must(t, "verify", hub, spokeA, spokeB)
	assert.Equal(t, applications(), before)
	images := f.kubectl(t, hub, "-n", "argocd", "get", "deployments,statefulsets", "-o", "jsonpath={.items[*].spec.template.spec.containers[*].image}")
	assert.Check(t, strings.Contains(images, "argocd:"+ourArgoCD) && !strings.Contains(images, earlierArgoCD), images)
}

func (f *fleet) aloneIsRefused(t *testing.T) {
	f.run(t, "up", spokeA, "--yes").ends(t, 4, "run `tombolo up mgmt spoke-a`, which makes the hub first")
	f.nothingExists(t)
}

// upAll brings all three up by one command, and returns them in the order in
// which they were made.
func (f *fleet) upAll(t *testing.T) []string {
	t.Helper()
	var order []string
	for line := range strings.Lines(f.must(t, "up", spokeB, spokeA, hub, "--yes", "--output", "json")) {
		var document struct{ Type, Cluster string }
		decode(t, line, &document)
		if document.Type == "result" {
			order = append(order, document.Cluster)
		}
	}
	return order
}

func (f *fleet) up(t *testing.T) {
	got := f.upAll(t)
	if len(got) != 3 || got[0] != hub || !slices.Contains(got, spokeA) || !slices.Contains(got, spokeB) {
		t.Errorf("the order was %v", got) // the spokes are made at the same time
	}
}

func (f *fleet) verify(t *testing.T) {
	f.must(t, "verify", hub, spokeA, spokeB)
	for cluster, want := range map[string]string{
		hub: "argocd/mgmt-apps", spokeA: "argocd/spoke-a-metrics-server", spokeB: "argocd/spoke-b-reloader",
	} {
		out := f.must(t, "verify", cluster)
		assert.Check(t, strings.Contains(out, want), "verify of %s does not list %s:\n%s", cluster, want, out)
		assert.Check(t, cluster == hub || !strings.Contains(out, "argocd/mgmt-"), "verify of %s lists the hub's:\n%s", cluster, out)
	}
}

// onHub is an object of Argo CD, as far as a test reads it.
type onHub struct {
	Metadata struct {
		Name, UID   string
		Labels      map[string]string
		Annotations map[string]string
	}
	Spec json.RawMessage
}

// applications are those of a cluster on the hub, by name; of all clusters for "".
func (f *fleet) applications(t *testing.T, cluster string) map[string]onHub {
	t.Helper()
	args := []string{"-n", "argocd", "get", "applications", "-o", "json"}
	if cluster != "" {
		args = append(args, "-l", "tombolo/cluster="+cluster)
	}
	var list struct{ Items []onHub }
	decode(t, f.kubectl(t, hub, args...), &list)
	out := map[string]onHub{}
	for _, a := range list.Items {
		out[a.Metadata.Name] = a
	}
	return out
}

// inWaves is an Application of the app of apps.
type inWaves struct {
	Metadata struct {
		Name              string
		Annotations       map[string]string
		CreationTimestamp time.Time
	}
	Status struct {
		Health struct {
			Status             string
			LastTransitionTime time.Time
		}
	}
}

// wavesKept compares when an Application of a wave was made with when those of
// the waves before became healthy.
func (f *fleet) wavesKept(t *testing.T) {
	var list struct{ Items []inWaves }
	decode(t, f.kubectl(t, hub, "-n", "argocd", "get", "applications", "-l", "tombolo/cluster="+hub, "-o", "json"), &list)
	byWave := map[int][]inWaves{}
	wave := map[string]int{}
	for _, a := range list.Items {
		text, ok := a.Metadata.Annotations["argocd.argoproj.io/sync-wave"]
		if !ok {
			continue // of an ApplicationSet
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is in wave %q", a.Metadata.Name, text)
		}
		byWave[n] = append(byWave[n], a)
		wave[strings.TrimPrefix(a.Metadata.Name, hub+"-")] = n
	}
	for addon, want := range f.waves {
		got, ok := wave[addon]
		assert.Check(t, ok && got == want, "%s is in wave %d (found: %t), want %d", addon, got, ok, want)
	}
	waves := slices.Sorted(maps.Keys(byWave))
	for i := 1; i < len(waves); i++ {
		for _, later := range byWave[waves[i]] {
			for _, earlier := range byWave[waves[i-1]] {
				healthy := earlier.Status.Health
				if healthy.Status != "Healthy" || later.Metadata.CreationTimestamp.Before(healthy.LastTransitionTime) {
					t.Errorf("%s of wave %d was made at %s; %s of wave %d is %s since %s", later.Metadata.Name, waves[i],
						later.Metadata.CreationTimestamp, earlier.Metadata.Name, waves[i-1], healthy.Status, healthy.LastTransitionTime)
				}
			}
		}
	}
}

// edition is what the change of the test is known by, on a cluster.
func (f *fleet) edition(t *testing.T, cluster string) string {
	t.Helper()
	return f.kubectl(t, cluster, "-n", "hello", "get", "configmap", "settings", "-o", "jsonpath={.metadata.labels.edition}")
}

// ringFirst gives the ring, which spoke-a is in by its label, a branch of its own. A change
// of that branch is on spoke-a alone until it is merged.
func (f *fleet) ringFirst(t *testing.T) {
	const settings = "apps/hello/settings.yaml"
	changed := f.read(t, "platform/argocd/"+settings) + "  labels: {edition: next}\n"
	dir := clone(t, f.bare("platform-argocd"), "main")
	files.Write(t, filepath.Join(dir, settings), changed)
	pushAll(t, dir, "next")

	const hello, revision = "platform/argocd/apps/hello.yaml", `revision: '{{ index .metadata.annotations "tombolo/revision" }}'`
	f.write(t, hello, strings.Replace(f.read(t, hello), revision, "revision: next", 1))
	f.bring(t, "platform")
	arrives := func(cluster string) {
		t.Helper()
		eventually(t, func() (bool, string) { return f.edition(t, cluster) == "next", cluster + " has not the change" })
	}
	arrives(spokeA)
	revisions := f.kubectl(t, hub, "-n", "argocd", "get", "applications", hub+"-hello", spokeA+"-hello", spokeB+"-hello",
		"-o", "jsonpath={.items[*].spec.source.targetRevision}")
	assert.Equal(t, revisions, "main next main")
	assert.Equal(t, f.edition(t, spokeB)+f.edition(t, hub), "", "a cluster outside of the ring has the change")

	f.write(t, "platform/argocd/"+settings, changed) // as a merge does
	f.bring(t, spokeB+"-hello", hub+"-hello")
	arrives(spokeB)
	arrives(hub)
}

// bring has the lab's repository follow the tree, and the hub look at the repository of Applications now: by itself
// it looks after ten seconds or more.
func (f *fleet) bring(t *testing.T, applications ...string) {
	t.Helper()
	f.must(t, "lab", "up")
	f.refresh(t, applications...)
}

// refresh has the hub look at the repository of Applications now.
func (f *fleet) refresh(t *testing.T, applications ...string) {
	t.Helper()
	f.kubectl(t, hub, slices.Concat([]string{"-n", "argocd", "annotate", "applications"}, applications,
		[]string{"--overwrite", "argocd.argoproj.io/refresh=normal"})...)
}

// healed: what somebody changes by hand on a spoke becomes what Git says, and the hub's
// events tell that it was something else.
func (f *fleet) healed(t *testing.T) {
	told := func() int {
		messages := f.kubectl(t, hub, "-n", "argocd", "get", "events", "--field-selector", "involvedObject.name="+spokeB+"-hello", "-o", `jsonpath={range .items[*]}{.message}{"\n"}{end}`)
		return strings.Count(messages, "Synced -> OutOfSync")
	}
	before := told()
	f.kubectl(t, spokeB, "-n", "hello", "patch", "configmap", "settings", "--type", "merge", "-p", `{"data": {"region": "nowhere"}}`)
	eventually(t, func() (bool, string) {
		if got := f.kubectl(t, spokeB, "-n", "hello", "get", "configmap", "settings", "-o", "jsonpath={.data.region}"); got != "germanywestcentral" {
			return false, "the region is " + got
		}
		return told() > before, "no event tells of it"
	})
}

// reached are the clusters that an addon's ApplicationSet reaches.
func (f *fleet) reached(t *testing.T, addon string) string {
	t.Helper()
	return f.kubectl(t, hub, "-n", "argocd", "get", "applications", "-l", "tombolo/addon="+addon,
		"--sort-by=.metadata.name", "-o", `jsonpath={range .items[*]}{.metadata.labels.tombolo/cluster} {end}`)
}

func (f *fleet) collectorsByLabel(t *testing.T) {
	for _, collector := range []string{"promtail", "alloy"} {
		assert.Check(t, is.Equal(f.reached(t, collector), "spoke-a "), collector)
	}
	values := f.kubectl(t, spokeA, "-n", "monitoring", "get", "configmap", "promtail-received", "-o", `jsonpath={.data.values\.yaml}`)
	// A published value has the name, too: this is the parameter's.
	var received struct {
		Config struct {
			Clients []struct {
				Labels map[string]string `json:"external_labels"`
			}
		}
	}
	assert.NilError(t, yaml.Unmarshal([]byte(values), &received))
	assert.Check(t, len(received.Config.Clients) == 1 && received.Config.Clients[0].Labels["cluster"] == spokeA, "Promtail did not get the cluster's name:\n%s", values)
}

// ofOwnChart releases a chart of the tree to the clusters with logs.
const ofOwnChart = `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: own-promtail}
spec:
  generators: [{clusters: {selector: {matchLabels: {logging: "on"}}}}]
  template:
    metadata: {name: "{{ .name }}-own-promtail", labels: {tombolo/cluster: "{{ .name }}"}}
    spec:
      destination: {server: "{{ .server }}", namespace: hello}
      source:
        repoURL: '{{ index .metadata.annotations "tombolo/repository" }}'
        targetRevision: '{{ index .metadata.annotations "tombolo/revision" }}'
        path: charts/own-promtail
        helm:
          releaseName: own-promtail
          valueFiles: [values.yaml]
          values: '{{ dict "promtail" (index .metadata.annotations "tombolo/values" | fromJson).addons.promtail | toJson }}'
          parameters: [{name: "promtail.config.clients[0].external_labels.cluster", value: "{{ .name }}"}]
`

// ownChart: the values of a chart in Git, which depends on that of Promtail, have an effect. check follows it.
func (f *fleet) ownChart(t *testing.T) {
	const dir = argocdTree + "/charts/own-promtail/"
	f.write(t, dir+"Chart.yaml", "apiVersion: v2\nname: own-promtail\nversion: 1.0.0\ndependencies:\n  - {name: promtail, version: 6.17.1, repository: http://charts.lab.test}\n")
	values := func(loki string) {
		f.write(t, dir+"values.yaml", "promtail:\n  config:\n    clients: [{url: "+loki+", external_labels: {cluster: none}}]\n")
	}
	values("http://loki.test/one")
	f.write(t, argocdTree+"/apps/own-promtail.yaml", ofOwnChart)
	const list = argocdTree + "/apps/kustomization.yaml"
	before := f.read(t, list)
	f.edit(t, list, "resources:\n", "resources:\n  - own-promtail.yaml\n")
	f.run(t, "check", argocdTree, hub, spokeA, spokeB).ends(t, 0, "charts/own-promtail/Chart.yaml: note: is followed without promtail, which Argo CD fetches")
	received := func(loki string) {
		t.Helper()
		eventually(t, func() (bool, string) {
			got := f.kubectl(t, spokeA, "-n", "hello", "get", "configmap", "own-promtail-received", "--ignore-not-found", "-o", `jsonpath={.data.values\.yaml}`)
			return strings.Contains(got, loki) && strings.Contains(got, "cluster: spoke-a"), got
		})
	}
	f.bring(t, "platform")
	received("http://loki.test/one")
	values("http://loki.test/two")
	f.bring(t, spokeA+"-own-promtail")
	received("http://loki.test/two")
	f.write(t, list, before)
	f.must(t, "lab", "up")
}

// previewed has an ApplicationSet as the guide shows it make an environment for a pull request, with a played API of
// GitHub. Its end takes all of it.
func (f *fleet) previewed(t *testing.T) {
	dir := clone(t, f.bare("platform-argocd"), "main")
	const settings = "apps/hello/settings.yaml"
	text, err := os.ReadFile(filepath.Join(dir, settings))
	assert.NilError(t, err)
	files.Write(t, filepath.Join(dir, settings), string(text)+"data: {of: the branch}\n")
	sha := pushAll(t, dir, "feature")
	var open atomic.Bool
	open.Store(true)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !open.Load() || !strings.HasSuffix(r.URL.Path, "/repos/acme/platform/pulls") {
			_, _ = io.WriteString(w, "[]")
			return
		}
		fmt.Fprintf(w, `[{"number": 7, "title": "a", "user": {"login": "ada"}, "head": {"ref": "feature", "sha": %q}, "base": {"ref": "main"}, "labels": [{"name": "preview"}]}]`, sha)
	}))
	defer host.Close()

	guide, err := os.ReadFile("../../docs/guide/argocd.md")
	assert.NilError(t, err)
	_, rest, found := strings.Cut(string(guide), "# apps/previews.yaml\n")
	example, _, ended := strings.Cut(rest, "```")
	assert.Assert(t, found && ended, "the guide has no example")
	example = strings.NewReplacer("https://api.github.com", host.URL, "requeueAfterSeconds: 60", "requeueAfterSeconds: 5", "                tokenRef: {secretName: previews, key: token}\n", "", `previews: "on"`, `logging: "on"`).Replace(example)
	f.write(t, argocdTree+"/apps/previews.yaml", example)
	const list = argocdTree + "/apps/kustomization.yaml"
	before := f.read(t, list)
	f.edit(t, list, "resources:\n", "resources:\n  - previews.yaml\n")
	f.bring(t, "platform")
	f.becomes(t, spokeA, "the branch", "-n", "hello-7", "get", "configmap", "settings", "--ignore-not-found", "-o", "jsonpath={.data.of}")
	open.Store(false)
	f.vanishes(t, spokeA, "get", "namespaces", "hello-7")
	f.kubectl(t, spokeA, "-n", "hello", "get", "configmap", "settings")
	f.write(t, list, before)
	f.must(t, "lab", "up")
}

// event is what happened to an Application.
type event struct{ Kind, Name string }

// witness sees what happens to the hub's Applications until it is ended.
type witness struct {
	cmd    *exec.Cmd
	done   chan struct{}
	mu     sync.Mutex
	events []event
}

// watch begins to watch, and returns when the watch has begun.
func (f *fleet) watch(t *testing.T) *witness {
	t.Helper()
	kubeconfig := strings.TrimSpace(f.must(t, "kubeconfig", hub, "--file", filepath.Join(f.dir, ".lab", "watch.kubeconfig")))
	env := f.labEnv(t)
	w := &witness{done: make(chan struct{})}
	w.cmd = exec.CommandContext(t.Context(), filepath.Join(f.dir, ".tools", "bin", "kubectl"), "--kubeconfig", kubeconfig,
		"-n", "argocd", "get", "applications", "--watch", "--output-watch-events", "-o", "json")
	w.cmd.Env = os.Environ()
	for k, v := range env {
		w.cmd.Env = append(w.cmd.Env, k+"="+v)
	}
	out, err := w.cmd.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, w.cmd.Start())
	go w.read(json.NewDecoder(bufio.NewReader(out)))
	there := len(f.applications(t, ""))
	eventually(t, func() (bool, string) {
		n := len(w.seen())
		return n >= there, fmt.Sprintf("the watch has seen %d of %d Applications", n, there)
	})
	w.forget()
	return w
}

func (w *witness) read(d *json.Decoder) {
	defer close(w.done)
	for {
		var e struct {
			Type   string
			Object struct{ Metadata struct{ Name string } }
		}
		if d.Decode(&e) != nil {
			return // it was ended
		}
		w.mu.Lock()
		w.events = append(w.events, event{e.Type, e.Object.Metadata.Name})
		w.mu.Unlock()
	}
}

func (w *witness) seen() []event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = nil
}

// end stops watching, and returns the names that events of a kind were about.
func (w *witness) end(t *testing.T) map[string][]string {
	t.Helper()
	assert.Check(t, w.cmd.Process.Signal(os.Interrupt), "the watch had ended before")
	<-w.done
	_ = w.cmd.Wait()
	out := map[string][]string{}
	for _, e := range w.seen() {
		out[e.Kind] = append(out[e.Kind], e.Name)
	}
	return out
}

func (f *fleet) registration(t *testing.T, cluster string) onHub {
	t.Helper()
	var secret onHub
	decode(t, f.kubectl(t, hub, "-n", "argocd", "get", "secret", "cluster-"+cluster, "-o", "json"), &secret)
	return secret
}

func (f *fleet) annotationInPlace(t *testing.T) {
	before, applications := f.registration(t, spokeA), f.applications(t, "")
	w := f.watch(t)
	f.edit(t, clusterFile(spokeA), "\naddons:\n", "\nannotations:\n  example.com/team: payments\n\naddons:\n")
	f.must(t, "up", spokeA, "--yes", "--verify")
	events := w.end(t)
	after := f.registration(t, spokeA)
	if after.Metadata.UID != before.Metadata.UID || after.Metadata.Annotations["example.com/team"] != "payments" {
		t.Errorf("the registration %s became %s, with %v", before.Metadata.UID, after.Metadata.UID, slices.Sorted(maps.Keys(after.Metadata.Annotations)))
	}
	assert.Check(t, len(events["DELETED"])+len(events["ADDED"]) == 0, "meanwhile were deleted %v and added %v", events["DELETED"], events["ADDED"])
	sameObjects(t, applications, f.applications(t, ""))
}

// sameObjects finds each Application again as the object that it was.
func sameObjects(t *testing.T, before, after map[string]onHub) {
	t.Helper()
	for name, a := range before {
		assert.Check(t, after[name].Metadata.UID == a.Metadata.UID, "%s was %s and is %q", name, a.Metadata.UID, after[name].Metadata.UID)
	}
}

// sameSpecs finds the same Applications with the same content again.
func sameSpecs(t *testing.T, before, after map[string]onHub) {
	t.Helper()
	if was, is := slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)); !slices.Equal(was, is) {
		t.Fatalf("there were %v, and are %v", was, is)
	}
	for name := range before {
		if was, is := lasting(before[name].Spec), lasting(after[name].Spec); was != is {
			t.Errorf("%s was\n%s\nand is\n%s", name, was, is)
		}
	}
}

// made are what the cloud names anew each time, and the identity of a cluster.
var made = regexp.MustCompile(`(vpc|subnet|sg|fs|eni|igw|nat)-[0-9a-f]+|https://[^"\\]*:\d+|[0-9A-F]{32}|\b[a-z2-7]{26}\b`)

func lasting(spec json.RawMessage) string { return made.ReplaceAllString(string(spec), "$1-…") }

// credentials are what the hub reaches a cluster with.
func (f *fleet) credentials(t *testing.T, cluster string) (config struct {
	BearerToken   string
	AWSAuthConfig *struct{ RoleARN string }
},
) {
	t.Helper()
	text := f.kubectl(t, hub, "-n", "argocd", "get", "secret", "cluster-"+cluster, "-o",
		"go-template={{if .data.config}}{{.data.config | base64decode}}{{else}}{}{{end}}")
	decode(t, text, &config)
	return config
}

// tokenRotates makes the token anew by which the hub reaches the spoke in Azure. It happens in
// place, and the spoke stays in reach.
func (f *fleet) tokenRotates(t *testing.T) {
	before, applications, first := f.registration(t, spokeB), f.applications(t, ""), f.credentials(t, spokeB)
	const role = "\n  hub: mgmt\n"
	f.edit(t, clusterFile(spokeB), role, role+"  argocd:\n    rotation: 2\n")
	f.must(t, "up", spokeB, "--yes", "--verify")
	second := f.credentials(t, spokeB)
	if first.BearerToken == "" || first.AWSAuthConfig != nil || second.BearerToken == "" || first.BearerToken == second.BearerToken {
		t.Errorf("the token did not come, or did not change: %t, %t, %t", first.BearerToken != "", second.BearerToken != "",
			first.BearerToken == second.BearerToken)
	}
	assert.Check(t, is.Equal(f.registration(t, spokeB).Metadata.UID, before.Metadata.UID))
	sameObjects(t, applications, f.applications(t, ""))
	assert.Check(t, is.Equal(strings.Count(f.tokensOf(t, spokeB), "secret/"), 1), "the last alone is left")
}

// tokensOf are the tokens of service accounts on a spoke, by the names of their Secrets.
func (f *fleet) tokensOf(t *testing.T, spoke string) string {
	t.Helper()
	return f.kubectl(t, spoke, "-n", "tombolo", "get", "secrets", "--field-selector", "type=kubernetes.io/service-account-token", "-o", "name")
}

// credentialsChange has the hub reach a spoke by a service account's token, and by its role
// again. Both happen in place, and the spoke stays in reach.
func (f *fleet) credentialsChange(t *testing.T) {
	before, applications := f.registration(t, spokeA), f.applications(t, "")
	const role = "\n  hub: mgmt\n"
	const account = role + "  argocd:\n    credentials: service-account\n"
	for _, change := range []struct {
		from, to string
		token    bool
	}{{role, account, true}, {account, role, false}} {
		f.edit(t, clusterFile(spokeA), change.from, change.to)
		f.must(t, "up", spokeA, "--yes", "--verify")
		has := f.credentials(t, spokeA)
		assert.Check(t, (has.BearerToken != "") == change.token && (has.AWSAuthConfig == nil) == change.token, "with a token: %t", change.token)
	}
	assert.Check(t, is.Equal(f.registration(t, spokeA).Metadata.UID, before.Metadata.UID))
	sameObjects(t, applications, f.applications(t, ""))
	assert.Check(t, is.Equal(f.tokensOf(t, spokeA), ""))
}

func (f *fleet) settled(t *testing.T) {
	for _, cluster := range []string{hub, spokeA, spokeB} {
		f.unchanged(t, cluster)
	}
}

// refreshed runs up against what the hub has, which must have nothing to do.
func (f *fleet) refreshed(t *testing.T) {
	t.Helper()
	lastResult(t, f.must(t, "up", hub, "--yes", "--force", "--refresh", "--output", "json")).unchanged(t)
}

// labelled has Git give a label to a namespace that the cluster files make, and leave the namespace out afterwards.
func (f *fleet) labelled(t *testing.T) {
	const namespace, list = argocdTree + "/apps/hello/namespace.yaml", argocdTree + "/apps/hello/kustomization.yaml"
	hello := func(cluster, path string) string {
		t.Helper()
		return f.kubectl(t, cluster, "get", "namespace", "hello", "-o", "jsonpath={.metadata."+path+"}")
	}
	all := []string{hub, spokeB} // the other spoke follows the ring's branch
	uids := map[string]string{}
	for _, cluster := range all {
		uids[cluster] = hello(cluster, "uid")
	}
	f.edit(t, namespace, "  name: hello\n", "  name: hello\n  labels: {mesh: strict}\n")
	f.must(t, "lab", "up")
	f.must(t, append([]string{"verify"}, all...)...)
	labels := func() string {
		return hello(hub, "labels.mesh") + hello(spokeB, "labels.mesh")
	}
	eventually(t, func() (bool, string) { return labels() == "strictstrict", labels() })
	f.refreshed(t)
	assert.Equal(t, labels(), "strictstrict")
	f.edit(t, list, "  - namespace.yaml\n", "")
	f.must(t, "lab", "up")
	f.must(t, append([]string{"verify"}, all...)...)
	for _, cluster := range all {
		assert.Equal(t, hello(cluster, "uid")+hello(cluster, "deletionTimestamp"), uids[cluster], "Argo CD has deleted the namespace of %s's bootstrap", cluster)
	}
	f.unchanged(t, hub)
	f.edit(t, list, "resources:\n", "resources:\n  - namespace.yaml\n")
}

// leftToGit: the systems' part of the tree has fields of two objects that bootstrap has installed.
func (f *fleet) leftToGit(t *testing.T) {
	f.refreshed(t)
	for object, want := range map[string]string{
		`configmap argocd-cm -o jsonpath={.data.application\.sync\.impersonation\.enabled}`:                        "true",
		`configmap argocd-notifications-cm -o jsonpath={.data.service\.webhook\.shop}`:                             "url: $shop",
		`secret argocd-notifications-secret -o jsonpath={.metadata.annotations.sealedsecrets\.bitnami\.com/patch}`: "true",
	} {
		assert.Check(t, is.Contains(f.kubectl(t, hub, append([]string{"-n", "argocd", "get"}, strings.Fields(object)...)...), want), object)
	}
}

// token matches credentials in the form of a registration's too. The word alone
// is in Argo CD's own definitions.
var token = regexp.MustCompile(credential.String() + `|bearerToken\\*":\s*\\*"|eyJhbGciOi`)

func (f *fleet) noToken(t *testing.T) {
	for _, cluster := range []string{hub, spokeA, spokeB} {
		for _, kind := range []string{"core", "bootstrap"} {
			state := f.state(t, cluster+"-"+kind)
			assert.Assert(t, strings.Contains(state, `"urn:pulumi:`), "%s-%s: the export holds no resources", cluster, kind)
			assert.Check(t, is.Equal(token.FindString(state), ""), "%v %v", cluster, kind)
		}
		if out := f.must(t, "outputs", cluster, "--output", "json"); token.MatchString(out) {
			t.Errorf("%s: the outputs hold %q", cluster, token.FindString(out))
		}
		assert.Check(t, is.Equal(f.credentials(t, cluster).BearerToken != "", slices.Contains(f.byToken, cluster)), cluster)
	}
	logs, err := filepath.Glob(filepath.Join(f.dir, ".lab", "logs", "*argocd*"))
	assert.Assert(t, err == nil && len(logs) > 0, "Argo CD has no logs: %v", err)
	for _, file := range logs {
		content, err := os.ReadFile(file)
		assert.NilError(t, err)
		if found := token.Find(content); found != nil {
			t.Errorf("%s holds %q", filepath.Base(file), found)
		}
	}
}

func (f *fleet) hubIsKept(t *testing.T) {
	f.run(t, "destroy", hub, "--yes").ends(t, 4, "it is the hub of spoke-a, spoke-b")
	f.must(t, "verify", hub)
}

// leaves destroys a spoke while the hub is watched: its Applications go, and
// none is made again; the others stay as they are.
func (f *fleet) leaves(t *testing.T, spoke string, flags ...string) outcome {
	t.Helper()
	all, theirs := f.applications(t, ""), f.applications(t, spoke)
	assert.Assert(t, len(theirs) > 0, "%s has no Applications", spoke)
	for name := range theirs {
		delete(all, name)
	}
	w := f.watch(t)
	o := f.run(t, append([]string{"destroy", spoke, "--yes"}, flags...)...)
	events := w.end(t)
	o.ends(t, 0)
	deleted := events["DELETED"]
	slices.Sort(deleted)
	want := slices.Sorted(maps.Keys(theirs))
	assert.Check(t, slices.Equal(deleted, want) && len(events["ADDED"]) == 0, "deleted were %v, want %v; added %v", deleted, want, events["ADDED"])
	sameObjects(t, all, f.applications(t, ""))
	assert.Check(t, is.Equal(f.kubectl(t, hub, "-n", "argocd", "get", "secret", "cluster-"+spoke, "--ignore-not-found", "-o", "name"), ""))
	return o
}

// spokeIsRebuilt: its Applications go once and come once, those of others stay, and its
// logs are where they were.
func (f *fleet) spokeIsRebuilt(t *testing.T) {
	before, bucket := f.registration(t, spokeA), f.bucketOf(t, spokeA)
	others, theirs := f.applications(t, ""), f.applications(t, spokeA)
	maps.DeleteFunc(others, func(name string, _ onHub) bool { _, isTheirs := theirs[name]; return isTheirs })
	w := f.watch(t)
	f.must(t, "rebuild", spokeA, "--keep-data", "--yes")
	events := w.end(t)
	for _, kind := range []string{"DELETED", "ADDED"} {
		slices.Sort(events[kind])
		assert.Check(t, is.DeepEqual(events[kind], slices.Sorted(maps.Keys(theirs))), kind)
	}
	sameObjects(t, others, f.applications(t, ""))
	sameSpecs(t, theirs, f.applications(t, spokeA))
	after := f.registration(t, spokeA)
	assert.Check(t, after.Metadata.UID != before.Metadata.UID, "the spoke has not left its hub")
	assert.Check(t, is.DeepEqual(after.Metadata.Labels, before.Metadata.Labels))
	assert.Check(t, is.Equal(f.bucketOf(t, spokeA), bucket), "its bucket is another one")
	assert.Check(t, is.Equal(f.reached(t, "promtail"), "spoke-a "))
	f.must(t, "verify", hub, spokeB)
}

// bucketOf is the bucket of a cluster, which is known again by when it was made.
func (f *fleet) bucketOf(t *testing.T, cluster string) item {
	t.Helper()
	found := slices.DeleteFunc(f.made(t, "aws:s3/bucketV2:BucketV2"), func(i item) bool { return !strings.HasPrefix(i.ID, cluster+"-") })
	assert.Assert(t, is.Len(found, 1))
	return found[0]
}

func (f *fleet) rebuilt(t *testing.T) {
	before := f.applications(t, "")
	f.must(t, "destroy", hub, spokeA, spokeB, "--yes")
	f.onlyTheZone(t)
	f.upAll(t)
	f.must(t, "verify", hub, spokeA, spokeB)
	sameSpecs(t, before, f.applications(t, ""))
}

// deadSpokeLeaves stops the API of a spoke: connections to it are accepted,
// and get no answer.
func (f *fleet) deadSpokeLeaves(t *testing.T) {
	running, stopped := processes(t, f.project), 0
	for _, p := range running {
		if p.Name == spokeA+"-kube-apiserver" {
			stopped = p.PID
		}
	}
	assert.Assert(t, stopped != 0, "there is no API server of %s among %v", spokeA, running)
	assert.NilError(t, syscall.Kill(stopped, syscall.SIGSTOP))
	f.run(t, "destroy", spokeA, "--yes").ends(t, 4, "--unreachable")
	start := time.Now()
	o := f.leaves(t, spokeA, "--unreachable")
	took := time.Since(start)
	assert.Check(t, took <= 5*time.Minute, "it took %s", took)
	contains(t, o.stderr, "what is on the cluster is given up with it", "Application argocd/spoke-a-metrics-server is released")
	f.must(t, "verify", hub, spokeB)
}

func (f *fleet) nothingIsLeft(t *testing.T) {
	f.must(t, "destroy", spokeB, hub, "--yes")
	f.onlyTheZone(t)
	assert.Check(t, is.Len(f.locks(t), 0))
}
