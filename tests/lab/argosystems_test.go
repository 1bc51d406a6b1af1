//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/lab"
)

// The systems of the hub and of a spoke, in the tree of Argo CD.
const (
	argocdTree = "platform/argocd"
	hubList    = argocdTree + "/clusters/mgmt/kustomization.yaml"
)

// addressesPatch gives the channels' addresses, which are nobody's outside of the lab.
const addressesPatch = `patches:
  - patch: |
      apiVersion: v1
      kind: Secret
      metadata: {name: argocd-notifications-secret, namespace: argocd}
      stringData:
        shop: http://inbox.lab.test/slack/shop
        hostile: http://inbox.lab.test/hostile
`

// argocdGroups are object ids, which clusters in both clouds take: an access entry of EKS gives any name.
var argocdGroups = map[string]string{"shop": entraGroups["sellers"], "hostile": entraGroups["strangers"]}

// initSystem adds a system as people do.
func (f *fleet) initSystem(t *testing.T, name, channel string, more ...string) {
	t.Helper()
	f.must(t, append([]string{
		"init", "system", name, "--team", "team-" + name, "--group", argocdGroups[name], "--host", name + ".lab.test",
		"--repository", "http://git.lab.test/" + name + ".git", "--path", "./deploy", "--channel", channel,
	}, more...)...)
}

func (f *fleet) systemsSetUp(t *testing.T) {
	f.initSystem(t, "shop", "slack", "--channel-severity", "info", hub, spokeA)
	f.initSystem(t, "hostile", "generic", hub)
	f.write(t, hubList, f.read(t, hubList)+addressesPatch)
	f.must(t, "check", argocdTree, hub, spokeA, spokeB)
	f.follow(t)
	for _, cluster := range []string{hub, spokeA} {
		f.shopRuns(t, cluster, "shop")
	}
	eventually(t, func() (bool, string) {
		left := f.untold(t, map[string][]string{"door": {"Service hostile/door: ", "spec.type must be ClusterIP"}})
		return left == "", left
	})
	for _, cluster := range []string{hub, spokeA} { // in Slack's form
		eventually(t, func() (bool, string) {
			all := f.inbox(t, "shop")
			return slices.ContainsFunc(all, func(m lab.Message) bool {
				return m.Severity == "info" && m.Object == "application/"+cluster+"-shop.argocd" && strings.Contains(m.Text, "was delivered, and is healthy")
			}), fmt.Sprintf("the channel of shop has not the delivery on %s: %+v", cluster, all)
		})
	}
	f.othersHearNothing(t)
	var o outcome
	eventually(t, func() (bool, string) {
		o = f.run(t, "status", hub, spokeA, "--systems")
		assert.Equal(t, o.code, 0, o.stderr)
		return strings.Contains(o.stderr, "mgmt, hostile of team team-hostile: Application argocd/mgmt-hostile: sync failed: Service hostile/door: "), o.stderr
	})
	assert.Check(t, is.Regexp(`(?m)^mgmt +shop +team-shop +main@[0-9a-f]{8} +ready$`, o.stdout))
	assert.Check(t, is.Regexp(`(?m)^spoke-a +shop +team-shop +main@[0-9a-f]{8} +ready$`, o.stdout))
	told := f.kubectl(t, spokeA, "-n", "shop", "get", "configmap", "platform", "-o", "jsonpath={.data.cluster_name} {.data.system}")
	assert.Equal(t, told, "spoke-a shop", "what the platform tells the systems")
}

// shopRuns waits until a system's pods do.
func (f *fleet) shopRuns(t *testing.T, cluster, system string) {
	t.Helper()
	f.becomes(t, cluster, "2", "-n", system, "get", "deployments", "web", "--ignore-not-found", "-o", "jsonpath={.status.readyReplicas}")
}

// deliverNow replaces the files of the hostile repository, and has Argo CD look at it now.
func (f *fleet) deliverNow(t *testing.T, files map[string]string) {
	t.Helper()
	f.push(t, "hostile", files)
	f.refresh(t, "mgmt-hostile")
}

// othersHearNothing: what the hostile system was refused is in no channel but its own.
func (f *fleet) othersHearNothing(t *testing.T) {
	t.Helper()
	for _, m := range f.inbox(t, "") {
		assert.Check(t, m.Channel == "hostile" || !strings.Contains(m.Object+m.Text, "hostile"), "%+v", m)
	}
}

// follow has the lab's repository follow the tree, and Argo CD look at the lists of systems
// now.
func (f *fleet) follow(t *testing.T) {
	t.Helper()
	f.must(t, "lab", "up")
	f.must(t, "verify", hub, spokeA)
	f.kubectl(t, hub, "-n", "argocd", "annotate", "applicationset", "systems", "--overwrite", "argocd.argoproj.io/application-set-refresh=true")
}

// untold are the attempts whose refusal the hostile team was not told yet: in a line of a
// message that has all its texts.
func (f *fleet) untold(t *testing.T, wanted map[string][]string) string {
	t.Helper()
	messages := f.inbox(t, "hostile")
	var out []string
	for name, texts := range wanted {
		if !slices.ContainsFunc(messages, func(m lab.Message) bool { return tellsOf(m, texts) }) {
			out = append(out, fmt.Sprintf("%s: %q", name, texts))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func tellsOf(m lab.Message, texts []string) bool {
	return m.Severity == "error" && m.Object == "application/mgmt-hostile.argocd" &&
		slices.ContainsFunc(strings.Split(m.Text, "\n"), func(line string) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) })
		})
}

// attackFile is one file of the list: the attempts of one commit, or a part of one that has
// a commit of its own, as what it does hides all others.
type attackFile struct{ commit, name, text string }

// systemsAttacked lets the hostile system try everything that is listed. The team is told of
// each refusal, in the words that the list has, and the clusters stay as they are.
func (f *fleet) systemsAttacked(t *testing.T) {
	list := attemptsOf(t, "attacks-argocd")
	alone := slices.IndexFunc(list, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "alone/") })
	list = slices.Insert(list, alone, attemptsOfBoth(t, "Argo CD")...)
	ran, here := f.commands(t)
	for kind, apiVersion := range map[string]string{
		"Probe": monitoringV1, "ScrapeConfig": monitoringAlpha, "AlertmanagerConfig": monitoringAlpha, "HTTPRoute": "gateway.networking.k8s.io/v1",
	} {
		f.defined(t, hub, apiVersion, kind)
	}
	before, tried := f.notTheirs(t), 0
	var order []string
	commits, wanted := map[string]map[string]string{}, map[string]map[string][]string{}
	for _, file := range list {
		a := attack(t, file)
		a.text = here(a.text)
		if commits[a.commit] == nil {
			order = append(order, a.commit)
			commits[a.commit], wanted[a.commit] = map[string]string{}, map[string][]string{}
		}
		commits[a.commit]["deploy/"+a.name] = a.text
		if texts := refusalsIn(t, a); texts != nil {
			wanted[a.commit][a.name] = texts
			tried++
		}
	}
	assert.Check(t, tried >= 25, "the list is short: %d", tried)
	for _, commit := range order {
		f.deliverNow(t, commits[commit])
		eventually(t, func() (bool, string) {
			left := f.untold(t, wanted[commit])
			return left == "", left
		})
		if strings.HasPrefix(commit, "alone/") {
			f.inStatus(t, wanted[commit])
		}
	}
	f.othersHearNothing(t)
	assert.Check(t, is.Equal(ran(), ""), "commands of the repository ran")
	assert.Equal(t, f.notTheirs(t), before)
	left := f.kubectl(t, hub, "-n", "hostile", "get", "services,pods,deployments,daemonsets,jobs,cronjobs,roles,networkpolicies", "-o", "jsonpath={.items[?(@.metadata.name!=\"system\")].metadata.name}")
	assert.Equal(t, left, "", "the hostile system has made something")
}

// inStatus: what the team was told of a repository that cannot be built is in the Application too.
func (f *fleet) inStatus(t *testing.T, wanted map[string][]string) {
	t.Helper()
	state := f.kubectl(t, hub, "-n", "argocd", "get", "application", "mgmt-hostile", "-o", "jsonpath={.status.conditions[*].message}")
	for _, texts := range wanted {
		assert.Check(t, is.Contains(state, texts[0]))
	}
}

// attack is a file of the list: together/<commit>/<attempt>, or alone/<attempt>/<file>.
func attack(t *testing.T, file txtar.File) attackFile {
	t.Helper()
	parts := strings.SplitN(file.Name, "/", 3)
	assert.Assert(t, len(parts) == 3, file.Name)
	a := attackFile{commit: parts[0] + "/" + parts[1], name: parts[2], text: string(file.Data)}
	if parts[0] == "together" {
		a.name += ".yaml"
	}
	return a
}

// refusalsIn is what the team is told of an attempt: the object, and the first line of the file.
// Of those that fail before there are objects, the first line of one file is all. It is nil
// for the other files.
func refusalsIn(t *testing.T, a attackFile) []string {
	t.Helper()
	first, _, _ := strings.Cut(a.text, "\n")
	reason, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return nil
	}
	if strings.HasPrefix(a.commit, "alone/") {
		return []string{reason}
	}
	var o struct {
		Kind     string
		Metadata struct{ Name, Namespace string }
	}
	assert.NilError(t, yaml.Unmarshal([]byte(a.text), &o), a.name)
	return []string{o.Kind + " " + o.Metadata.Namespace, "/" + o.Metadata.Name + ": ", reason}
}

// notTheirs is what the hostile system has no part in: objects of the hub, and those of
// others in it.
func (f *fleet) notTheirs(t *testing.T) string {
	t.Helper()
	own := f.kubectl(t, hub, "get", "namespaces,clusterroles,clusterrolebindings,customresourcedefinitions,persistentvolumes,"+
		"mutatingwebhookconfigurations,validatingadmissionpolicybindings", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.labels} {.metadata.finalizers}\n{end}")
	own += f.kubectl(t, hub, "-n", "argocd", "get", "applications,appprojects,applicationsets", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.spec}\n{end}")
	own += f.kubectl(t, hub, "-n", "argocd", "get", "configmaps,secrets", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.labels}\n{end}")
	return own + f.kubectl(t, hub, "-n", "shop", "get", "configmaps,roles,rolebindings,serviceaccounts,jobs", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid}\n{end}")
}

// systemsAllowed: what most teams have, rights of their own pods and a hook among it.
func (f *fleet) systemsAllowed(t *testing.T) {
	f.defined(t, hub, "gateway.networking.k8s.io/v1", "HTTPRoute")
	for _, text := range []string{entrance, route} { // without a gateway they would never be healthy
		f.kubectl(t, hub, "-n", "hostile", "--as", "system:serviceaccount:hostile:system", "apply", "--dry-run=server", "-f", asFile(t, text))
	}
	f.priorities(t, hub)
	f.deliverNow(t, map[string]string{
		"deploy/web.yaml":    ofPriority(f.read(t, "lab/systems/shop/deploy/web.yaml")),
		"deploy/rights.yaml": rightsOfPods, "deploy/monitor.yaml": monitorOfPods,
		// It would keep the system from being removed.
		"deploy/stay.yaml": `
apiVersion: batch/v1
kind: Job
metadata: {name: stay, annotations: {argocd.argoproj.io/hook: PreDelete}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: stay, image: registry.example.com/never:1.0.0}]}}}
`,
	})
	f.shopRuns(t, hub, "hostile")
	eventually(t, func() (bool, string) {
		o := f.run(t, "verify", hub)
		return strings.Contains(o.stderr, "2 systems, 0 not ready"), o.stderr
	})
	assert.Equal(t, f.kubectl(t, hub, "-n", "argocd", "get", "application", "mgmt-hostile", "-o", "jsonpath={.metadata.finalizers}"), "")
}

// systemsElsewhere moves the systems' files to another repository. Nothing is made anew, and what changes there arrives.
func (f *fleet) systemsElsewhere(t *testing.T) {
	const list = "lab/systems/list/"
	uids := func() string {
		return f.kubectl(t, hub, "-n", "argocd", "get", "applications", "-l", "tombolo/system=shop", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	before, overlay := uids(), f.read(t, hubList)
	for _, name := range []string{"clusters/" + hub + "/systems.yaml", "clusters/" + spokeA + "/systems.yaml"} {
		f.write(t, list+name, f.read(t, argocdTree+"/"+name))
	}
	from := filepath.Join(f.dir, argocdTree, "systems")
	for _, name := range []string{"Chart.yaml", "templates", "channels", "shop.yaml", "hostile.yaml"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(f.dir, list, "systems"), 0o755))
		f.mustTool(t, "/usr/bin/env", "cp", "-r", filepath.Join(from, name), filepath.Join(f.dir, list, "systems"))
	}
	for _, cluster := range []string{hub, spokeA, spokeB} {
		f.edit(t, clusterFile(cluster), "\nvalues:\n", "\nvalues:\n  systems_repository: http://git.lab.test/list.git\n")
	}
	f.must(t, "up", hub, spokeA, spokeB, "--yes")
	f.edit(t, hubList, "  - ../lab\n", "  - ../lab\n  - ../../systems/repository\n")
	f.run(t, "check", argocdTree, hub, spokeA, spokeB).ends(t, 0, "ApplicationSet argocd/systems: its generator matrix is not followed")
	suspended := func(want string) {
		t.Helper()
		f.follow(t)
		f.refresh(t, "mgmt-shop.setup")
		eventually(t, func() (bool, string) {
			o := f.run(t, "status", hub, "--systems")
			return regexp.MustCompile(`(?m)^mgmt +shop +team-shop +\S+ +` + want + `$`).MatchString(o.stdout), o.stdout + o.stderr
		})
		assert.Equal(t, uids(), before, "Applications were made anew")
	}
	suspended("ready")
	sources := f.kubectl(t, hub, "-n", "argocd", "get", "application", "mgmt-shop.setup", "-o", "jsonpath={.spec.sources[*].repoURL}")
	assert.Check(t, is.Contains(sources, "/list.git"))
	shop := f.read(t, list+"systems/shop.yaml")
	f.write(t, list+"systems/shop.yaml", shop+"suspend: true\n")
	suspended("suspended")
	f.write(t, list+"systems/shop.yaml", shop)
	suspended("ready")
	f.write(t, hubList, overlay)
	suspended("ready")
}

func (f *fleet) systemsRemoved(t *testing.T) {
	f.write(t, argocdTree+"/systems/shop.yaml", f.read(t, argocdTree+"/systems/shop.yaml")+"suspend: true\n")
	f.edit(t, argocdTree+"/clusters/mgmt/systems.yaml", "- system: hostile\n", "")
	f.follow(t)
	f.vanishes(t, hub, "get", "namespaces", "hostile")
	f.vanishes(t, hub, "-n", "argocd", "get", "applications,appprojects", "-l", "tombolo/system=hostile")
	eventually(t, func() (bool, string) {
		o := f.run(t, "status", hub, "--systems")
		return strings.Contains(o.stdout, "suspended") && !strings.Contains(o.stdout, "hostile"), o.stdout + o.stderr
	})
	f.shopRuns(t, hub, "shop") // what is there stays
	for _, cluster := range []string{hub, spokeA} {
		f.write(t, argocdTree+"/clusters/"+cluster+"/systems.yaml", "[]\n")
	}
	f.follow(t)
	for _, cluster := range []string{hub, spokeA} {
		f.vanishes(t, cluster, "get", "namespaces", "shop")
	}
	f.write(t, hubList, strings.Replace(strings.Replace(f.read(t, hubList), addressesPatch, "", 1), "  - ../../systems/hub\n", "", 1))
	f.must(t, "lab", "up")
	f.must(t, "verify", hub, spokeA)
}
