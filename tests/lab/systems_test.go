//go:build lab

package lab

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/health"
	"tombolo/lab"
	"tombolo/tests/files"
	"tombolo/tests/tier"
)

// TestSystems has three teams on one cluster, of which one tries what it may not. Its parts
// build on each other.
func TestSystems(t *testing.T) {
	tier.Long(t, "three teams on one cluster, of which one tries what it may not, and its rebuild")
	s := systems{newProject(t), systemsInAWS()}
	s.env = append(s.env, "TOMBOLO_LAB_LATENCY=0.02") // so that a rebuild can be killed while a control plane goes
	inOrder(t, s, []step[systems]{
		{"a system that is refused holds nobody up", systems.up},
		{"its team is told, and no other", systems.refusalIsTold},
		{"the platform's channel hears of the platform", systems.platformIsTold},
		{"what it may not do is refused and told", systems.attacked},
		{"nobody but the platform says whose identity it has in Azure", systems.identityIsThePlatforms},
		{"what it may do works", systems.allowed},
		{"a team is told in Slack of a commit that is refused, and a revert brings back what was", systems.reverted},
		{"a system is added in Git, with a sealed secret", systems.added},
		{"who is in the team's group looks at its system, and nobody else does", systems.members},
		{"a list of systems has a repository of its own", systems.listedElsewhere},
		{"it is suspended", systems.suspended},
		{"and removed, with all that it had", systems.removed},
		{"no key is in the state", systems.keyStaysSecret},
		{"rebuild with a newer Kubernetes, killed twice, brings all back, and what is sealed opens", systems.rebuilt},
		{"a system has its own secrets of Vault, and no others", systems.inVault},
		destroyStep[systems](teams),
	})
}

// TestSystemsInAzure has on a cluster of AKS what the cloud has a part in: secrets, identities and people. Of what a
// system may not do, it tries what names something of the cloud.
func TestSystemsInAzure(t *testing.T) {
	tier.Long(t, "the systems of TestSystems and their sealed secrets in Azure")
	s := systems{newProject(t), systemsInAzure()}
	s.env = append(s.env, "TOMBOLO_LAB_LATENCY=0.02") // roles count later
	s.inAzure(t, teams)
	inOrder(t, s, []step[systems]{
		{"a system that is refused holds nobody up", systems.up},
		{"its team is told, and no other", systems.refusalIsTold},
		{"what it may not do is refused and told", systems.attacked},
		{"nobody but the platform says whose identity it has in Azure", systems.identityIsThePlatforms},
		{"what it may do works", systems.allowed},
		{"a system is added in Git, with a sealed secret", systems.added},
		{"who is in the team's group looks at its system, and nobody else does", systems.members},
		{"no key is in the state", systems.keyStaysSecret},
	})
}

const teams = "teams"

type systems struct {
	project
	cloud systemsCloud
}

// systemsCloud is what the cluster of the teams is in a cloud.
type systemsCloud struct {
	// keeps puts a secret of the hostile team into the cloud's store.
	keeps func(s systems, t *testing.T)
	// words are the names of stores and secrets, for those of AWS.
	words *strings.Replacer
	// ownAttempts says that those attempts alone are made that have such words: TestSystems makes all.
	ownAttempts bool
	// signIn is in the cluster's file for people to sign in.
	signIn string
	// group is the name of a team's group in the cluster's API, and person somebody of the groups of teams.
	group  func(team string) string
	person func(s systems, t *testing.T, name string, teams ...string) asked
}

func systemsInAWS() systemsCloud {
	return systemsCloud{
		keeps: func(s systems, t *testing.T) {
			s.secretsManager(t, "create-secret", "--name", "teams/hostile/api", "--secret-string", `{"token":"fetched"}`)
		},
		words: strings.NewReplacer(), signIn: peopleLine,
		group: func(team string) string { return "oidc:" + team }, person: signedIn,
	}
}

func systemsInAzure() systemsCloud {
	return systemsCloud{
		ownAttempts: true,
		keeps: func(s systems, t *testing.T) {
			s.azureSecret(t, teams, "set", "--name", "teams--hostile--api", "--value", `{"token":"fetched"}`)
		},
		words: strings.NewReplacer("secrets-manager", "key-vault", "${cluster_name}/hostile/", "${cluster_name}--hostile--", "teams/hostile/", "teams--hostile--", "dev/hostile/", "dev--hostile--",
			"teams/shop/", "teams--shop--", "teams/authentik", "teams--authentik", "teams/hostile-takeover", "teams--hostile-takeover"),
		group: func(team string) string { return entraGroups[team] }, person: loggedIn,
	}
}

func (s systems) up(t *testing.T) {
	s.edit(t, clusterFile(teams), `version: "1.36"`, `version: "1.35"`)
	s.edit(t, clusterFile(teams), "\n  nodeGroups:\n", "\n"+s.cloud.signIn+"  nodeGroups:\n")
	for system, team := range map[string]string{"shop": "sellers", "blog": "editors", "hostile": "strangers"} {
		s.edit(t, "platform/flux/systems/"+system+".yaml", "group: "+team, "group: "+s.cloud.group(team))
	}
	// What is sealed before the cluster is there opens with the key that its file names.
	s.must(t, "lab", "up")
	s.seal(t, "shop", "database", "password", "sealed for shop")
	s.edit(t, systemsList, "  - channels.yaml\n", "  - channels.yaml\n  - shop-database.yaml\n")
	s.must(t, "lab", "up")
	o := s.run(t, "up", teams, "--yes", "--verify")
	assert.Assert(t, o.code == 0, "%s\n%s", o.stdout, o.stderr)
	s.runs(t, "shop")
	s.opened(t, "shop", "database", "password", "sealed for shop")
	// No verification waits for a system, so the first one may see the others at work.
	eventually(t, func() (bool, string) {
		o = s.run(t, "verify", teams)
		assert.Equal(t, o.code, 0, o.stderr)
		return strings.Contains(o.stderr, "  3 systems, 1 not ready:\n    hostile of team strangers: Kustomization hostile/system: ") &&
			strings.Contains(o.stderr, "spec.type must be ClusterIP"), o.stderr
	})
}

// runs waits until a system's pods do.
func (s systems) runs(t *testing.T, system string) {
	t.Helper()
	s.becomes(t, teams, "2", "-n", system, "get", "deployments", "web", "--ignore-not-found", "-o", "jsonpath={.status.readyReplicas}")
}

// inbox is what a channel was sent.
func (p project) inbox(t *testing.T, channel string) []lab.Message {
	t.Helper()
	var document struct{ Messages []lab.Message }
	decode(t, p.must(t, "lab", "inbox", channel, "--output", "json"), &document)
	return document.Messages
}

func (s systems) refusalIsTold(t *testing.T) {
	eventually(t, func() (bool, string) {
		for _, m := range s.inbox(t, "hostile") {
			if m.Severity == "error" && m.Object == "kustomization/system.hostile" && strings.Contains(m.Text, "spec.type must be ClusterIP") {
				return true, ""
			}
		}
		return false, "the channel of hostile has not the refusal"
	})
	// The Workflow of the one that chose the severity info has a card of what was delivered.
	eventually(t, func() (bool, string) {
		return slices.ContainsFunc(s.inbox(t, "blog"), func(m lab.Message) bool { return m.Severity == "info" && strings.HasSuffix(m.Object, ".blog") }), "the channel of blog has nothing"
	})
	s.othersHearNothing(t)
	o := s.run(t, "status", teams, "--systems")
	o.ends(t, 0, teams+", hostile of team strangers: Kustomization hostile/system: ReconciliationFailed: ", "spec.type must be ClusterIP")
	assert.Check(t, is.Regexp(`(?m)^teams +shop +sellers +main@[0-9a-f]{8} +ready$`, o.stdout))
}

func (s systems) othersHearNothing(t *testing.T) {
	t.Helper()
	for _, m := range s.inbox(t, "") {
		ofPlatform := m.Channel == "platform" && !strings.HasSuffix(m.Object, ".hostile")
		asked := m.Channel == "blog" && m.Severity == "info" && strings.HasSuffix(m.Object, ".blog")
		assert.Check(t, m.Channel == "hostile" || ofPlatform || asked, "%s of %s: %s", m.Channel, m.Object, m.Text)
	}
}

// commit replaces the files of a system's repository, and has Flux look at it now.
func (s systems) commit(t *testing.T, system string, files map[string]string) {
	t.Helper()
	s.push(t, system, files)
	s.look(t, teams, system, "gitrepository", "system")
}

// reverted: what was before two commits, of which one is refused, is there again when Git has
// it again.
func (s systems) reverted(t *testing.T) {
	dir := clone(t, s.bare("shop"), "main")
	replicas := func(want string) {
		t.Helper()
		files.Git(t, dir, "push", "-q", "origin", "HEAD:main")
		s.look(t, teams, "shop", "gitrepository", "system")
		s.becomes(t, teams, want, "-n", "shop", "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}")
	}
	file := filepath.Join(dir, "deploy", "web.yaml")
	change := func(old, wanted string) {
		t.Helper()
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), old))
		files.Write(t, file, strings.Replace(string(text), old, wanted, 1))
		files.Git(t, dir, "commit", "-q", "-a", "-m", "change")
	}
	change("replicas: 2", "replicas: 3")
	replicas("3")
	change("selector: {app: web}\n  ports", "type: LoadBalancer\n  selector: {app: web}\n  ports")
	replicas("3")
	eventually(t, func() (bool, string) {
		all := s.inbox(t, "shop")
		return slices.ContainsFunc(all, func(m lab.Message) bool {
			return m.Severity == "error" && m.Object == "kustomization/system.shop" && strings.Contains(m.Text, "spec.type must be ClusterIP")
		}), fmt.Sprintf("the channel of shop has not the refusal: %+v", all)
	})
	files.Git(t, dir, "revert", "--no-edit", "HEAD", "HEAD~1")
	replicas("2")
	s.runs(t, "shop")
}

// linked begins what a file has that is a symbolic link.
const linked = "-> "

// push replaces the files of a system's repository.
func (p project) push(t *testing.T, system string, texts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files.Git(t, dir, "init", "-q", "-b", "main")
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if target, ok := strings.CutPrefix(text, linked); ok {
			assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			assert.NilError(t, os.Symlink(strings.TrimSpace(target), path))
			continue
		}
		files.Write(t, path, text)
	}
	files.Git(t, dir, "add", "--all")
	files.Git(t, dir, "commit", "-q", "-m", "change")
	files.Git(t, dir, "push", "-q", "--force", p.bare(system), "main")
}

// attempt is a Kustomization of a system that applies one directory of its repository.
const attempt = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: try-%[1]s}
spec:
  serviceAccountName: system
  interval: 1h
  retryInterval: 1m # one that failed does not take the place of another
  timeout: 20s
  path: ./attacks/%[1]s
  prune: true
  sourceRef: {kind: GitRepository, name: system}
`

// hostileChart makes a ConfigMap, and a hook where its values say.
const hostileChart = `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}, namespace: hostile}
{{- with .Values.hookNamespace }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: hook, namespace: {{ . }}, annotations: {helm.sh/hook: pre-install}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: registry.example.com/a:1}]}}}
{{- end }}
`

// farRights is a manifest that no repository has.
const farRights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: hostile-from-elsewhere}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: system, namespace: hostile}]
`

// withoutGit is what kustomize says of a reference that it would have Git fetch.
const withoutGit = "no 'git' program on path"

// commands are those that attempts try to run by references to Git, which this machine has:
// each would make a file below RAN. It returns what ran, and the text of an attempt with the
// places of this lab in it: GIT is where its repositories are.
func (p project) commands(t *testing.T) (ran func() string, here func(string) string) {
	t.Helper()
	_, err := exec.LookPath("git")
	assert.NilError(t, err)
	dir := filepath.Join(p.dir, "ran")
	assert.NilError(t, os.MkdirAll(dir, 0o700))
	ran = func() string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		assert.NilError(t, err)
		return strings.Join(found, " ")
	}
	return ran, strings.NewReplacer("RAN/", dir+"/", "GIT/", filepath.Join(p.dir, ".lab", "git")+"/").Replace
}

// attemptsOf are those of a list of attempts.
func attemptsOf(t *testing.T, list string) []txtar.File {
	t.Helper()
	return txtar.Parse([]byte(testdata(t, "systems/"+list+".txtar"))).Files
}

// attemptsOfBoth are those that both engines refuse, each with the words of one of the engines.
func attemptsOfBoth(t *testing.T, engine string) []txtar.File {
	t.Helper()
	of := regexp.MustCompile(`(?m)^# (Flux|Argo CD): (.*)\n`)
	list := attemptsOf(t, "attacks-both")
	for i := range list {
		list[i].Data = of.ReplaceAllFunc(list[i].Data, func(line []byte) []byte {
			words, ours := bytes.CutPrefix(line, []byte("# "+engine+": "))
			if !ours {
				return nil
			}
			return append([]byte("# "), words...)
		})
	}
	return list
}

// attacked lets the hostile system try everything that is listed, at once. The team is told
// of each refusal, in the words that the list begins it with, and the cluster stays as it
// is.
func (s systems) attacked(t *testing.T) {
	list := attemptsOf(t, "attacks")
	for _, both := range attemptsOfBoth(t, "Flux") {
		both.Name = path.Base(both.Name)
		list = append(list, both)
	}
	if s.cloud.ownAttempts {
		list = slices.DeleteFunc(list, func(f txtar.File) bool { return s.cloud.words.Replace(string(f.Data)) == string(f.Data) })
	}
	for kind, apiVersion := range map[string]string{
		"HTTPRoute": "gateway.networking.k8s.io/v1", "ScaledObject": "keda.sh/v1alpha1", "StorageAccount": "storage.azure.com/v1",
		"ServiceMonitor": monitoringV1, "PodMonitor": monitoringV1, "Probe": monitoringV1,
		"ScrapeConfig": monitoringAlpha, "AlertmanagerConfig": monitoringAlpha,
	} {
		s.defined(t, teams, apiVersion, kind)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, farRights)
	}))
	defer elsewhere.Close()
	before := s.clusterWide(t)
	files := map[string]string{
		"chart/Chart.yaml": "{apiVersion: v2, name: chart, version: 1.0.0}\n", "chart/templates/all.yaml": hostileChart,
		"app/settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\n",
	}
	ran, here := s.commands(t)
	wanted := map[string]string{}
	for _, f := range list {
		content := s.cloud.words.Replace(here(string(f.Data)))
		name := f.Name
		if strings.Contains(name, "/") {
			files["attacks/"+f.Name] = content
			continue
		}
		reason, _, found := strings.Cut(strings.TrimPrefix(content, "# "), "\n")
		assert.Assert(t, found && reason != "", f.Name)
		wanted[name] = reason
		file := "attack.yaml"
		if strings.Contains(content, "kustomize.config.k8s.io") {
			file = "kustomization.yaml"
		}
		files["attacks/"+name+"/"+file] = strings.ReplaceAll(content, "http://elsewhere.example.com", elsewhere.URL)
		files["deploy/"+name+".yaml"] = fmt.Sprintf(attempt, name)
	}
	assert.Check(t, len(wanted) >= 25 || s.cloud.ownAttempts && len(wanted) >= 7, "the list is short: %d", len(wanted))
	s.commit(t, "hostile", files)

	// A message that was not delivered, as on a busy machine, is sent again after five minutes:
	// https://fluxcd.io/flux/components/notification/options/ (--rate-limit-interval).
	eventually(t, func() (bool, string) {
		messages := s.inbox(t, "hostile")
		var untold []string
		for name, reason := range wanted {
			if !slices.ContainsFunc(messages, func(m lab.Message) bool { return tells(m, name, reason) }) {
				untold = append(untold, name+": "+reason)
			}
		}
		slices.Sort(untold)
		left := strings.Join(untold, "\n")
		return left == "", left
	})
	s.othersHearNothing(t)
	assert.Check(t, is.Equal(ran(), ""), "commands of the repository ran")
	eventually(t, func() (bool, string) { // each is tried again now and then
		states := s.kubectl(t, teams, "-n", "hostile", "get", "kustomizations.kustomize.toolkit.fluxcd.io", "-o", "jsonpath={range .items[*]}{.status.conditions[?(@.type==\"Ready\")].message}\n{end}")
		return strings.Count(states, withoutGit) >= 6 || s.cloud.ownAttempts, states
	})
	assert.Equal(t, s.clusterWide(t), before)
	left := s.kubectl(t, teams, "-n", "hostile", "get", "services,pods,deployments,daemonsets,jobs,cronjobs,roles,ocirepositories,providers,receivers", "-o", "jsonpath={.items[?(@.kind!=\"Provider\")].metadata.name}")
	assert.Equal(t, left, "", "the hostile system has made something")
}

// identityIsThePlatforms: what writes Secrets for a team by rights of its own, and a person who
// may do all, write no credential of Azure Service Operator.
func (s systems) identityIsThePlatforms(t *testing.T) {
	file := filepath.Join(s.dir, ".lab", teams+".kubeconfig")
	write := func(user string) outcome {
		return s.tool(t, "kubectl", "--kubeconfig", file, "-n", "shop", "--as", user, "--as-group", "system:masters", "create", "secret", "generic",
			"aso-credential", "--from-literal", "AZURE_CLIENT_ID=another", "--dry-run=server")
	}
	for _, user := range []string{
		"system:serviceaccount:shop:system", "system:serviceaccount:kube-system:sealed-secrets", "system:serviceaccount:external-secrets:external-secrets",
		"system:serviceaccount:azureserviceoperator-system:azureserviceoperator-default", "somebody",
	} {
		o := write(user)
		assert.Check(t, o.code != 0 && strings.Contains(o.stderr, "the Secret aso-credential is the platform's"), "%s: %s%s", user, o.stdout, o.stderr)
	}
	o := write("system:serviceaccount:flux-system:helm-controller")
	assert.Check(t, is.Equal(o.code, 0), o.stderr)
}

// The versions of the Prometheus Operator's kinds.
const (
	monitoringV1    = "monitoring.coreos.com/v1"
	monitoringAlpha = "monitoring.coreos.com/v1alpha1"
)

// defined gives a cluster a kind without the addon that it comes with: the API server holds
// the policies, whether anybody works with the objects or not.
func (p project) defined(t *testing.T, cluster, apiVersion, kind string) {
	t.Helper()
	group, version, _ := strings.Cut(apiVersion, "/")
	singular := strings.ToLower(kind)
	p.write(t, ".lab/definition.yaml", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]ss.%[1]s, annotations: {api-approved.kubernetes.io: "unapproved, a stand-in"}}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[4]s, plural: %[3]ss, singular: %[3]s}
  versions:
    - name: %[2]s
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, group, version, singular, kind))
	p.kubectl(t, cluster, "apply", "-f", filepath.Join(p.dir, ".lab", "definition.yaml"))
	p.meets(t, cluster, "condition=Established", "customresourcedefinition/"+singular+"s."+group)
}

// tells says that a message is about an attempt: from the Kustomization that applies it, or
// from what that has made.
func tells(m lab.Message, attempt, reason string) bool {
	return strings.Contains(m.Text, reason) &&
		(m.Object == "kustomization/try-"+attempt+".hostile" || !strings.HasPrefix(m.Object, "kustomization/try-"))
}

// clusterWide is what a system has no part in: objects of the cluster, and those of others.
func (s systems) clusterWide(t *testing.T) string {
	t.Helper()
	own := s.kubectl(t, teams, "get", "namespaces,clusterroles,clusterrolebindings,customresourcedefinitions,"+
		"mutatingwebhookconfigurations,validatingadmissionpolicybindings", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.labels} {.metadata.finalizers}\n{end}")
	for _, namespace := range []string{"shop", "blog", "flux-system"} {
		own += s.kubectl(t, teams, "-n", namespace, "get", "configmaps,roles,rolebindings,serviceaccounts,jobs", "-o", "jsonpath={range .items[*]}{.kind} {.metadata.namespace} {.metadata.name} {.metadata.uid}\n{end}")
	}
	return own
}

// rightsOfPods are what a team may give its own pods.
const rightsOfPods = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web}]
`

// monitorOfPods is how a team has Prometheus read its pods: with a secret of its own, and labels
// that its pods have.
const monitorOfPods = `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {matchNames: [hostile]}
  endpoints:
    - port: http
      scheme: https
      interval: 30s
      params: {format: [prometheus]}
      bearerTokenSecret: {name: api, key: token}
      tlsConfig: {insecureSkipVerify: true, serverName: web}
      relabelings:
        - {sourceLabels: [__meta_kubernetes_pod_label_version], targetLabel: version}
        - {action: labelmap, regex: __meta_kubernetes_pod_label_(.+)}
        - {sourceLabels: [__meta_kubernetes_pod_name], regex: canary-.*, action: drop}
      metricRelabelings: [{sourceLabels: [__name__], regex: go_.*, action: drop}]
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  podMetricsEndpoints: [{port: http, authorization: {credentials: {name: api, key: token}}}]
`

// priorities gives a cluster a priority for systems, and one that pods have which name none.
func (p project) priorities(t *testing.T, cluster string) {
	t.Helper()
	p.kubectl(t, cluster, "create", "priorityclass", "systems-batch", "--value", "-10", "--preemption-policy", "Never")
	p.kubectl(t, cluster, "create", "priorityclass", "everybody", "--value", "5", "--global-default")
}

// ofPriority is a Deployment whose pods have the priority of systems.
func ofPriority(deployment string) string {
	return strings.Replace(deployment, "      containers:\n", "      priorityClassName: systems-batch\n      containers:\n", 1)
}

// entrance is how a team's pods are reached: by a host of its own, with a certificate for it.
const entrance = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations:
    cert-manager.io/cluster-issuer: public
    nginx.ingress.kubernetes.io/proxy-body-size: 8m
    note: of the team
spec:
  ingressClassName: nginx
  tls: [{secretName: web-tls, hosts: [hostile.lab.test]}]
  rules:
    - host: hostile.lab.test
      http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`

// route is the same by a Gateway.
const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  hostnames: [hostile.lab.test]
  parentRefs: [{name: public, namespace: istio-system}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
`

// allowed: what most teams have, rights of their own pods and a secret of their own among it.
func (s systems) allowed(t *testing.T) {
	s.cloud.keeps(s, t)
	s.priorities(t, teams)
	s.commit(t, "hostile", map[string]string{
		"deploy/web.yaml":    ofPriority(s.read(t, "lab/systems/shop/deploy/web.yaml")),
		"deploy/rights.yaml": rightsOfPods,
		"deploy/secret.yaml": s.cloud.words.Replace(`
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: api}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: secrets-manager}
  data: [{secretKey: token, remoteRef: {key: "${cluster_name}/hostile/api", property: token}}]
`),
		"deploy/monitor.yaml":  monitorOfPods,
		"deploy/entrance.yaml": entrance, "deploy/route.yaml": route,
	})
	s.runs(t, "hostile")
	s.opened(t, "hostile", "api", "token", "fetched")
	eventually(t, func() (bool, string) {
		o := s.run(t, "verify", teams)
		return strings.Contains(o.stderr, "3 systems, 0 not ready"), o.stderr
	})
	cluster := s.kubectl(t, teams, "-n", "hostile", "get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].env[0].value}")
	assert.Equal(t, cluster, teams, "what the platform tells the systems")
	priority := s.kubectl(t, teams, "-n", "hostile", "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.priorityClassName}")
	assert.Equal(t, priority, "systems-batch systems-batch", "a priority for systems")
	host := s.kubectl(t, teams, "-n", "hostile", "get", "ingress", "web", "-o", "jsonpath={.spec.rules[0].host}")
	assert.Equal(t, host, "hostile.lab.test", "a host of its own")
	old := s.kubectl(t, teams, "-n", "hostile", "get", "kustomizations", "-o", "jsonpath={.items[*].metadata.name}")
	assert.Equal(t, old, "system", "the attempts are pruned")
}

const systemsList = "platform/flux/clusters/teams/systems/kustomization.yaml"

// deliver has the lab's repository follow the tree, and waits for the platform.
func (s systems) deliver(t *testing.T) {
	t.Helper()
	s.must(t, "lab", "up")
	s.must(t, "verify", teams)
}

func (s systems) added(t *testing.T) { // its pods have the priority that the cluster gives pods without one
	file := strings.ReplaceAll(s.read(t, "platform/flux/systems/shop.yaml"), "shop", "news")
	s.write(t, "platform/flux/systems/news.yaml", strings.ReplaceAll(file, "news.git", "shop.git"))
	s.seal(t, "news", "channel", "address", "http://inbox.lab.test/news")
	s.edit(t, systemsList, "  - ../../../systems/shop.yaml\n", "  - ../../../systems/shop.yaml\n  - ../../../systems/news.yaml\n  - news-channel.yaml\n")
	s.must(t, "check", "platform/flux", teams)
	s.deliver(t)
	s.runs(t, "news")
	s.opened(t, "news", "channel", "address", "http://inbox.lab.test/news")
}

// listedElsewhere adds a system by the file of another repository, and takes it away there.
func (s systems) listedElsewhere(t *testing.T) {
	const list = "lab/systems/list/" + teams + "/kustomization.yaml"
	file := strings.ReplaceAll(s.read(t, "platform/flux/systems/blog.yaml"), "blog", "wiki")
	s.write(t, "lab/systems/list/wiki.yaml", strings.NewReplacer("wiki.git", "blog.git", "    channel:\n      type: msteams\n      secret: channel\n      severity: info # this team hears of its deliveries, too\n", "").Replace(file))
	const labels = "labels: [{pairs: {tombolo/stage: systems}}]\n" // a kustomization file with nothing in it is refused
	s.write(t, list, labels+"resources: [../wiki.yaml]\n")
	s.edit(t, "platform/flux/clusters/teams/kustomization.yaml", "  - ../base/systems.yaml\n", "  - ../base/systems.yaml\n  - ../base/systems-repository.yaml\n")
	s.edit(t, clusterFile(teams), "\nvalues:\n", "\nvalues:\n  systems_repository: http://git.lab.test/list.git\n")
	s.run(t, "check", "platform/flux", teams).ends(t, 0, "Kustomization flux-system/systems-list is not followed: its path is in GitRepository flux-system/systems, not in this tree")
	s.project.up(t, teams) // the variable, before the tree has it
	s.deliver(t)
	s.runs(t, "wiki")
	level := s.kubectl(t, teams, "get", "namespace", "wiki", "-o", `jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`)
	assert.Equal(t, level, "restricted", "what all systems have in common")
	eventually(t, func() (bool, string) {
		o := s.run(t, "status", teams, "--systems")
		return regexp.MustCompile(`(?m)^teams +wiki +editors +main@[0-9a-f]{8} +ready$`).MatchString(o.stdout), o.stdout + o.stderr
	})
	s.write(t, list, labels+"resources: []\n")
	s.must(t, "lab", "up")
	s.look(t, teams, "flux-system", "gitrepository", "systems")
	s.vanishes(t, teams, "get", "namespaces", "wiki")
	s.runs(t, "shop")
	assert.Equal(t, s.kubectl(t, teams, "-n", "systems", "get", "helmreleases", "-o", "jsonpath={.items[*].metadata.name}"), "blog hostile news shop")
}

// seal writes a secret of a system into the tree.
func (s systems) seal(t *testing.T, system, name, key, value string) {
	t.Helper()
	s.write(t, filepath.Join("platform/flux/clusters/teams/systems", system+"-"+name+".yaml"), s.sealed(t, system, name, key, value))
}

// sealed is a SealedSecret as people make it: with the certificate, and no cluster.
func (p project) sealed(t *testing.T, namespace, name, key, value string) string {
	t.Helper()
	text := fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: %s}\nstringData: {%s: %q}\n", name, namespace, key, value)
	sealed := p.mustTool(t, "kubeseal", "--cert", ".lab/sealing/tls.crt", "--secret-file", asFile(t, text), "--format", "yaml")
	assert.Check(t, !strings.Contains(sealed, value))
	return sealed
}

// opened waits until a system has what was sealed, or fetched.
func (s systems) opened(t *testing.T, system, name, key, value string) {
	t.Helper()
	s.project.opened(t, teams, system, name, key, value)
}

// opened waits until a Secret of a cluster has a value.
func (p project) opened(t *testing.T, cluster, namespace, name, key, value string) {
	t.Helper()
	want := base64.StdEncoding.EncodeToString([]byte(value))
	p.becomes(t, cluster, want, "-n", namespace, "get", "secret", name, "--ignore-not-found", "-o", "jsonpath={.data."+key+"}")
}

// keyStaysSecret: what opens the secrets is on the cluster, and encrypted in the state.
func (s systems) keyStaysSecret(t *testing.T) {
	env := s.labEnv(t)
	key, channel := env["TOMBOLO_SEALING_KEY"], env["TOMBOLO_CHANNEL"]
	assert.Check(t, channel != "")
	lines := strings.Split(key, "\n")
	assert.Assert(t, len(lines) > 10 && len(lines[3]) > 40)
	for _, stack := range []string{"teams-core", "teams-bootstrap"} {
		state := s.state(t, stack)
		hides(t, stack, state, channel)
		hides(t, stack, state, key)
		assert.Check(t, !strings.Contains(state, lines[3]), stack)
		assert.Check(t, is.Equal(credential.FindString(state), ""), stack)
	}
	on := s.kubectl(t, teams, "-n", "sealed-secrets", "get", "secrets", "-l", "sealedsecrets.bitnami.com/sealed-secrets-key=active", "-o", "jsonpath={.items[*].metadata.name}")
	assert.Equal(t, on, "sealing-key", "the controller made a key")
}

// rebuilt is killed in the destruction, and again when the new cluster is being made: the
// same command goes on, each time.
func (s systems) rebuilt(t *testing.T) {
	before, had := s.identity(t, teams), s.count(t)
	const groups, network = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/vpc:Vpc"
	s.killedWhen(t, "1.35", func() bool { return len(s.made(t, groups)) == 0 }, "rebuild", teams, "--version", "1.36", "--yes")
	old := s.idsOf(t, network)
	assert.Assert(t, is.Len(old, 1), "the destruction was over")
	s.killedWhen(t, "1.36", func() bool {
		now := s.idsOf(t, network)
		return len(now) == 1 && now[0] != old[0]
	}, "rebuild", teams, "--yes")

	s.run(t, "rebuild", teams, "--yes").ends(t, 0, "teams: it was destroyed, and is made again with Kubernetes 1.36")
	assert.Check(t, before != s.identity(t, teams), "it is the same cluster")
	assert.Equal(t, s.only(t, "aws:eks/cluster:Cluster").Outputs["version"], "1.36")
	assert.DeepEqual(t, s.count(t), had)
	s.unchanged(t, teams)
	s.runs(t, "shop")
	s.opened(t, "shop", "database", "password", "sealed for shop")
}

// identity is by what a cluster is known from another one of its name.
func (p project) identity(t *testing.T, cluster string) string {
	t.Helper()
	return p.kubectl(t, cluster, "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
}

// count is how many of each type the stand-in has.
func (p project) count(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, i := range p.inventory(t) {
		out[i.Type]++
	}
	return out
}

// killedWhen starts a command and kills it at a moment. The cluster's file says the version
// then.
func (s systems) killedWhen(t *testing.T, version string, moment func() bool, args ...string) {
	t.Helper()
	cmd, out := s.start(t, args...)
	eventually(t, func() (bool, string) {
		return moment(), "the moment for a kill has not come:\n" + out.String()
	})
	killAll(t, cmd, s.project)
	assert.Check(t, is.Contains(s.read(t, clusterFile(teams)), fmt.Sprintf("version: %q", version)), out.String())
}

func (s systems) suspended(t *testing.T) {
	s.edit(t, "platform/flux/systems/news.yaml", "    team: sellers\n", "    team: sellers\n    suspend: true\n")
	s.deliver(t)
	var v struct{ Systems []health.System }
	out := strings.Split(strings.TrimSpace(s.must(t, "verify", teams, "--output", "json")), "\n")
	decode(t, out[len(out)-1], &v)
	i := slices.IndexFunc(v.Systems, func(found health.System) bool { return found.Name == "news" })
	assert.Check(t, i >= 0 && v.Systems[i].Suspended, "%+v", v.Systems)
	s.runs(t, "news") // what is there stays
}

func (s systems) removed(t *testing.T) {
	s.edit(t, systemsList, "  - ../../../systems/news.yaml\n", "")
	s.edit(t, systemsList, "  - news-channel.yaml\n", "")
	s.edit(t, systemsList, "  - ../../../systems/hostile.yaml\n", "")
	const channels = "platform/flux/clusters/teams/systems/channels.yaml"
	var kept []string
	for _, document := range strings.Split(s.read(t, channels), "---\n") {
		if !strings.Contains(document, "namespace: hostile") {
			kept = append(kept, document)
		}
	}
	s.write(t, channels, strings.Join(kept, "---\n"))
	s.deliver(t)
	s.vanishes(t, teams, "get", "namespaces", "hostile", "news")
	s.runs(t, "shop")
	assert.Equal(t, s.kubectl(t, teams, "-n", "systems", "get", "helmreleases", "-o", "jsonpath={.items[*].metadata.name}"), "blog shop")
}
