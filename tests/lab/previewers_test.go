//go:build lab

package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/tests/tier"
)

const accountFile = `version: 1
name: acme
protect: true
cloud: {provider: aws, region: eu-central-1, account: "111122223333"}
tags: {team: platform}
state: {bucketArn: "arn:aws:s3:::acme-state", keyArn: "KEY"}
pipelines:
  host: github
  repository: acme/clusters
  apply: {policyArns: ["arn:aws:iam::aws:policy/PowerUserAccess"]}
`

// TestPipelinesRoles goes the way of the guide to pipelines: the account's roles, a
// cluster that lets the reading one preview, previews by it, and what it may not do on
// the real API server.
func TestPipelinesRoles(t *testing.T) {
	tier.Long(t, "the roles of pipelines, and what the reading one may do on a real API server")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	p.write(t, "accounts/acme.yaml", strings.Replace(accountFile, "KEY", keyOfStates, 1))
	inOrder(t, p, []step[project]{
		{"make the account's roles", project.makeRoles},
		{"a cluster with a previewer", project.clusterWithPreviewer},
		{"a preview by the role shows what an admin's does", project.previewByRole},
		{"a member of the group writes by dry run only", project.writesOfPreviewers},
		{"destroy the account's roles", project.destroyRoles},
	})
}

// accountResult is the only stack of the last document of a command on an account.
func (p project) accountResult(t *testing.T, args ...string) map[string]int {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(p.must(t, append(args, "--output", "json")...)), "\n")
	var r result
	decode(t, lines[len(lines)-1], &r)
	if len(r.Stacks) != 1 || r.Stacks[0].Stack != "acme-pipelines" {
		t.Fatalf("not a result of the account's stack: %s", lines[len(lines)-1])
	}
	return r.Stacks[0].Changes
}

// makeAccount makes what the account has for pipelines, as a preview shows it: more than so many resources.
func (p project) makeAccount(t *testing.T, more int) {
	t.Helper()
	p.must(t, "pipelines", "validate", "acme")
	preview := p.accountResult(t, "pipelines", "preview", "acme")
	assert.Check(t, preview["create"] > more, "the preview would make %v", preview)
	p.nothingExists(t)
	made := p.accountResult(t, "pipelines", "up", "acme", "--yes")
	assert.Check(t, is.Equal(made["create"], preview["create"]), "made %v, previewed %v", made, preview)
	again := p.accountResult(t, "pipelines", "preview", "acme", "--refresh")
	assert.Check(t, len(again) == 1 && again["same"] > more, "a second preview would change %v", again)
}

func (p project) makeRoles(t *testing.T) {
	p.makeAccount(t, 5)
	assert.Check(t, is.Len(p.made(t, "aws:iam/role:Role"), 2))
	assert.Check(t, is.Len(p.made(t, "aws:iam/openIdConnectProvider:OpenIdConnectProvider"), 1))
	assert.Check(t, is.Equal(strings.TrimSpace(p.must(t, "pipelines", "outputs", "acme", "previewRoleArn")), previewRole))
	assert.Check(t, !strings.Contains(p.must(t, "list"), "acme"), "an account is listed as a cluster")
}

const previewRole = "arn:aws:iam::111122223333:role/acme-pipelines-preview"

func (p project) clusterWithPreviewer(t *testing.T) {
	p.edit(t, "clusters/demo.yaml", "\n  nodeGroups:\n", "\n  previewers:\n    - {name: pipelines, principalArn: \""+previewRole+"\"}\n  nodeGroups:\n")
	p.up(t, "demo").created(t)
	p.up(t, "demo").unchanged(t)
}

// as is the project of somebody with a session of a role.
func (p project) as(role string) project {
	p.env = append(slices.Clone(p.env), "TOMBOLO_LAB_ROLE="+role)
	return p
}

// previewedAlike returns the plan that an administrator and a job without secrets both see.
func previewedAlike(t *testing.T, admin, job project, cluster string) string {
	t.Helper()
	all := plansOf(t, admin.must(t, "preview", cluster, "--output", "json"))
	seen := plansOf(t, job.must(t, "preview", cluster, "--without-secrets", "--output", "json"))
	assert.DeepEqual(t, all, seen)
	return strings.Join(slices.Collect(maps.Values(seen)), "\n")
}

// previewByRole changes something that each stack makes, and something of which the
// role may not read what there is.
func (p project) previewByRole(t *testing.T) {
	pipeline := p.as(previewRole)
	assert.Check(t, !strings.Contains(previewedAlike(t, p, pipeline, "demo"), `"op":"update"`))
	file := "clusters/demo.yaml"
	text := p.read(t, file)
	defer p.write(t, file, text)
	p.edit(t, file, "  - name: reporting\n", "  - name: another\n  - name: reporting\n")
	p.edit(t, file, "  team: platform\n", "  team: operations\n")
	p.edit(t, file, "      owner: platform\n", "      owner: operations\n")
	changed := previewedAlike(t, p, pipeline, "demo")
	contains(t, changed, "another", "reporting", "aws:ec2/vpc:Vpc")
	// The role cannot do what it previews.
	pipeline.run(t, "up", "demo", "--yes").refuses(t, "no identity-based policy allows the kms:Decrypt action")
	p.write(t, file, text)
	p.up(t, "demo")
}

// plansOf are the plans of a preview, by stack.
func plansOf(t *testing.T, stdout string) map[string]string {
	t.Helper()
	plans := map[string]string{}
	for line := range strings.Lines(stdout) {
		var d struct {
			Type, Stack string
			Changes     json.RawMessage
			Steps       []json.RawMessage
		}
		decode(t, line, &d)
		if d.Type == "plan" {
			steps := make([]string, len(d.Steps))
			for i, s := range d.Steps {
				steps[i] = string(s)
			}
			slices.Sort(steps) // the engine takes what does not wait for each other in any order
			plans[d.Stack] = string(d.Changes) + "\n" + strings.Join(steps, "\n")
		}
	}
	assert.Assert(t, is.Len(plans, 2))
	return plans
}

func (p project) destroyRoles(t *testing.T) {
	p.must(t, "destroy", "demo", "--yes")
	p.run(t, "pipelines", "destroy", "acme", "--yes").ends(t, 2, "acme is protected")
	gone := p.accountResult(t, "pipelines", "destroy", "acme", "--yes-destroy", "acme", "--remove")
	assert.Check(t, gone["delete"] > 5, "deleted %v", gone)
	p.nothingExists(t)
}

// bearerOf is a token for the demo cluster of a session of the role, as an exec plugin
// gets it.
func (p project) bearerOf(t *testing.T, role string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(p.dir, ".lab", "bin", "aws"), "eks", "get-token", "--cluster-name", "demo")
	cmd.Env = os.Environ()
	for name, value := range p.as(role).labEnv(t) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	o := end(t, cmd)
	var credential struct{ Status struct{ Token string } }
	decode(t, o.stdout, &credential)
	return credential.Status.Token
}

// refusal is a part of what the policy says.
const refusal = "may write by dry run only"

// writer is somebody who writes on the demo cluster, and sees by what he is refused.
type writer struct {
	t *testing.T
	// whole is the name of the writer in messages.
	whole   string
	admin   dynamic.Interface
	own     dynamic.Interface
	typed   kubernetes.Interface
	refused map[string]int // by the words of the refusal
	// allowed are the writes by dry run that were, by resource.
	allowed map[string]bool
}

// writesOfPreviewers tries every kind of write on everything that the API server
// discovers, twice: with the role's own token, and as a member of the group who has
// all rights besides, so that only the policy is in the way.
func (p project) writesOfPreviewers(t *testing.T) {
	admin, err := clientcmd.BuildConfigFromFlags("", filepath.Join(p.dir, ".lab", "clusters", "demo", "admin.kubeconfig"))
	assert.NilError(t, err)
	admin.QPS, admin.Burst = 500, 500
	objects(t, admin)
	resources := discovered(t, admin)

	role := rest.AnonymousClientConfig(admin)
	role.BearerToken = p.bearerOf(t, previewRole)
	job := newWriter(t, "the role", admin, role)
	job.tryAll(resources)
	job.seesNoSecret()
	job.leavesPolicy()

	almighty := rest.CopyConfig(admin)
	almighty.Impersonate = rest.ImpersonationConfig{UserName: "job", Groups: []string{"tombolo:preview", "system:masters", "system:authenticated"}}
	member := newWriter(t, "a member with all rights", admin, almighty)
	member.tryAll(resources)
	t.Logf("the policy alone refused %d writes, other reasons %d", member.refused[refusal], member.refused[""])
	assert.Check(t, member.refused[refusal] > 150, "the policy alone refused %v", member.refused)

	for _, needed := range []string{
		"configmaps", "namespaces", "resourcequotas", "serviceaccounts", "services", "deployments", "networkpolicies",
		"customresourcedefinitions", "gitrepositories", "kustomizations",
	} {
		assert.Check(t, job.allowed[needed], "the role may not preview a change of %s; of %v it may", needed, job.allowed)
	}
}

func newWriter(t *testing.T, whole string, admin, own *rest.Config) *writer {
	t.Helper()
	own.QPS, own.Burst = 500, 500
	w := &writer{t: t, whole: whole, refused: map[string]int{}, allowed: map[string]bool{}}
	var err error
	w.admin, err = dynamic.NewForConfig(admin)
	assert.NilError(t, err)
	w.own, err = dynamic.NewForConfig(own)
	assert.NilError(t, err)
	w.typed, err = kubernetes.NewForConfig(own)
	assert.NilError(t, err)
	return w
}

// objects are made so that writes on them have something to change.
func objects(t *testing.T, admin *rest.Config) {
	t.Helper()
	client, err := kubernetes.NewForConfig(admin)
	assert.NilError(t, err)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "target", Image: "example.com/target:1"}}},
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "target", Namespace: "default"}}
	// Nothing makes it in a light cluster.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "default"}}
	_, err = client.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{})
	assert.NilError(t, err)
}

// kind is a resource of the API server, with its subresources.
type kind struct {
	schema.GroupVersionResource
	metav1.APIResource
	subresources []string
}

// discovered is everything that the API server serves and that can be written, but
// reviews of one's own rights and tokens, which write nothing.
func discovered(t *testing.T, admin *rest.Config) []kind {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(admin)
	assert.NilError(t, err)
	lists, err := client.ServerPreferredResources()
	assert.NilError(t, err)
	_, all, err := client.ServerGroupsAndResources()
	assert.NilError(t, err)
	subresources := map[string][]string{}
	for _, list := range all {
		for _, r := range list.APIResources {
			if of, sub, ok := strings.Cut(r.Name, "/"); ok {
				subresources[list.GroupVersion+" "+of] = append(subresources[list.GroupVersion+" "+of], sub)
			}
		}
	}
	var out []kind
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		assert.NilError(t, err)
		for _, r := range list.APIResources {
			writes := slices.ContainsFunc(r.Verbs, func(v string) bool { return slices.Contains([]string{"create", "update", "patch", "delete"}, v) })
			if writes && !slices.Contains([]string{"authorization.k8s.io", "authentication.k8s.io"}, gv.Group) {
				out = append(out, kind{gv.WithResource(r.Name), r, subresources[list.GroupVersion+" "+r.Name]})
			}
		}
	}
	assert.Assert(t, len(out) > 50, "only %d resources are discovered", len(out))
	return out
}

func (w *writer) tryAll(resources []kind) {
	for _, k := range resources {
		// No policy is asked about policies: there only the lack of rights stands.
		if k.GroupVersionResource.Group == "admissionregistration.k8s.io" && w.whole != "the role" {
			continue
		}
		w.try(k)
	}
	w.connects()
}

// try makes the writes of one resource, on an object of it where there is one.
func (w *writer) try(k kind) {
	ctx := w.t.Context()
	object := w.one(k)
	namespace := ""
	if k.Namespaced {
		namespace = cmp.Or(object.GetNamespace(), "default")
	}
	at := func(i dynamic.Interface) dynamic.ResourceInterface {
		if k.Namespaced {
			return i.Resource(k.GroupVersionResource).Namespace(namespace)
		}
		return i.Resource(k.GroupVersionResource)
	}
	patch := []byte(`{"metadata":{"annotations":{"tried":"by-a-previewer"}}}`)
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": k.GroupVersionResource.GroupVersion().String(), "kind": k.Kind,
		"metadata": map[string]any{"name": object.GetName(), "annotations": map[string]any{"tried": "by-a-previewer"}},
	}}
	changed := object.DeepCopy()
	changed.SetAnnotations(map[string]string{"tried": "by-a-previewer"})
	fresh := object.DeepCopy()
	fresh.SetName("tried-by-a-previewer")
	fresh.SetResourceVersion("")
	fresh.SetUID("")
	name := object.GetName()
	for verb, write := range map[string]func(dryRun []string) error{
		"create": func(dry []string) error {
			_, err := at(w.own).Create(ctx, fresh, metav1.CreateOptions{DryRun: dry})
			return err
		},
		"update": func(dry []string) error {
			_, err := at(w.own).Update(ctx, changed, metav1.UpdateOptions{DryRun: dry})
			return err
		},
		"patch": func(dry []string) error {
			_, err := at(w.own).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: dry})
			return err
		},
		"apply": func(dry []string) error {
			_, err := at(w.own).Apply(ctx, name, applied, metav1.ApplyOptions{DryRun: dry, FieldManager: "previewer", Force: true})
			return err
		},
		"delete": func(dry []string) error { return at(w.own).Delete(ctx, name, metav1.DeleteOptions{DryRun: dry}) },
		"deletecollection": func(dry []string) error {
			return at(w.own).DeleteCollection(ctx, metav1.DeleteOptions{DryRun: dry}, metav1.ListOptions{})
		},
	} {
		// Each object that a collection has is judged: one without any has nothing to refuse.
		empty := verb == "deletecollection" && object.GetUID() == ""
		if verbOf(verb, k) && !empty {
			w.mustFail(k.Resource+" "+verb, write(nil))
		}
		if verb == "patch" && verbOf(verb, k) && object.GetUID() != "" {
			w.allowed[k.Resource] = write([]string{metav1.DryRunAll}) == nil
		}
	}
	for _, sub := range k.subresources {
		_, err := at(w.own).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, sub)
		w.mustFail(k.Resource+"/"+sub+" patch", err)
		body := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{"name": name}}}
		_, err = at(w.own).Create(ctx, body, metav1.CreateOptions{}, sub)
		w.mustFail(k.Resource+"/"+sub+" create", err)
	}
	w.unharmed(k, at(w.admin), object)
}

// verbOf says that a resource has a verb; apply is a patch.
func verbOf(verb string, k kind) bool {
	return slices.Contains(k.Verbs, verb) || verb == "apply" && slices.Contains(k.Verbs, "patch")
}

// one is an object of a resource, or what is not one.
func (w *writer) one(k kind) *unstructured.Unstructured {
	if slices.Contains(k.Verbs, "list") {
		found, err := w.admin.Resource(k.GroupVersionResource).List(w.t.Context(), metav1.ListOptions{})
		assert.NilError(w.t, err)
		if len(found.Items) > 0 {
			return &found.Items[0]
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": k.GroupVersionResource.GroupVersion().String(), "kind": k.Kind, "metadata": map[string]any{"name": "nothing"},
	}}
}

// mustFail takes any refusal, and counts those of the policy.
func (w *writer) mustFail(what string, err error) {
	w.t.Helper()
	switch {
	case err == nil:
		w.t.Errorf("%s: %s works without dry run", w.whole, what)
	case strings.Contains(err.Error(), refusal):
		w.refused[refusal]++
	default:
		w.refused[""]++
		if apierrors.IsUnauthorized(err) {
			w.t.Errorf("%s: %s was not judged: %v", w.whole, what, err)
		}
	}
}

// unharmed says that an object that was there is as it was.
func (w *writer) unharmed(k kind, at dynamic.ResourceInterface, object *unstructured.Unstructured) {
	if object.GetUID() == "" {
		return
	}
	now, err := at.Get(w.t.Context(), object.GetName(), metav1.GetOptions{})
	if err != nil {
		w.t.Errorf("%s: %s %s: %v", w.whole, k.Resource, object.GetName(), err)
	} else if now.GetUID() != object.GetUID() || now.GetAnnotations()["tried"] != "" {
		w.t.Errorf("%s has changed %s %s", w.whole, k.Resource, object.GetName())
	}
}

// connects tries what is no write of an object, and changes things all the same. A dry
// run is no excuse.
func (w *writer) connects() {
	client := w.typed.CoreV1().RESTClient()
	for _, path := range []string{
		"namespaces/default/pods/target/exec?command=id&stdout=true", "namespaces/default/pods/target/attach", "namespaces/default/pods/target/portforward",
		"namespaces/default/pods/target/proxy/x", "namespaces/default/services/kubernetes/proxy/x", "nodes/target/proxy/run/x",
	} {
		for _, verb := range []string{http.MethodPost, http.MethodGet} {
			err := client.Verb(verb).RequestURI("/api/v1/" + path).Do(w.t.Context()).Error()
			w.mustFail(verb+" "+path, err)
			if !apierrors.IsForbidden(err) {
				w.t.Errorf("%s: %s %s is not forbidden, but: %v", w.whole, verb, path, err)
			}
		}
	}
	w.subresources(w.t.Context())
}

// subresources makes writes that are valid as they are: nothing but rights and the
// policy can refuse them.
func (w *writer) subresources(ctx context.Context) {
	forbidden := func(what string, err error) {
		w.mustFail(what, err)
		if !apierrors.IsForbidden(err) {
			w.t.Errorf("%s: %s is not forbidden, but: %v", w.whole, what, err)
		}
	}
	core := w.typed.CoreV1().RESTClient()
	post := func(path, body string) error {
		return core.Post().RequestURI(path).SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error()
	}
	forbidden("create an eviction", post("/api/v1/namespaces/default/pods/target/eviction",
		`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"target","namespace":"default"}}`))
	forbidden("create a binding", post("/api/v1/namespaces/default/pods/target/binding",
		`{"apiVersion":"v1","kind":"Binding","metadata":{"name":"target"},"target":{"kind":"Node","name":"nowhere"}}`))
	forbidden("create a token", post("/api/v1/namespaces/default/serviceaccounts/default/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`))
	_, err := w.typed.AppsV1().Deployments("flux-system").Patch(ctx, "source-controller", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}, "scale")
	forbidden("scale a deployment", err)
	_, err = w.typed.AppsV1().Deployments("flux-system").Patch(ctx, "source-controller", types.MergePatchType, []byte(`{"status":{"replicas":7}}`), metav1.PatchOptions{}, "status")
	forbidden("patch a status", err)
	_, err = w.typed.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "valid"}}, metav1.CreateOptions{})
	forbidden("create a valid ConfigMap", err)
	_, err = w.typed.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "valid"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	assert.Check(w.t, err, "%s may not create a ConfigMap by dry run", w.whole)
}

// seesNoSecret: no namespace shows one to the role, not even its names.
func (w *writer) seesNoSecret() {
	ctx := w.t.Context()
	for _, namespace := range []string{"", "default", "kube-system", "flux-system"} {
		_, err := w.typed.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
		assert.Check(w.t, apierrors.IsForbidden(err), "the role lists Secrets of %q: %v", namespace, err)
	}
	_, err := w.typed.CoreV1().Secrets("default").Get(ctx, "target", metav1.GetOptions{})
	assert.Check(w.t, apierrors.IsForbidden(err), "the role reads a Secret: %v", err)
}

// leavesPolicy: the role may neither take away what holds it nor what gives it rights,
// and may not change them by dry run either, where policies are concerned.
func (w *writer) leavesPolicy() {
	ctx, patch := w.t.Context(), []byte(`{"metadata":{"labels":{"tried":"yes"}}}`)
	for _, of := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"} {
		at := w.own.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: of})
		_, err := at.Get(ctx, "tombolo-preview", metav1.GetOptions{})
		assert.Check(w.t, err, "a preview reads %s", of)
		for _, dry := range [][]string{nil, {metav1.DryRunAll}} {
			_, err = at.Patch(ctx, "tombolo-preview", types.MergePatchType, patch, metav1.PatchOptions{DryRun: dry})
			assert.Check(w.t, apierrors.IsForbidden(err), "the role patches %s: %v", of, err)
			err = at.Delete(ctx, "tombolo-preview", metav1.DeleteOptions{DryRun: dry})
			assert.Check(w.t, apierrors.IsForbidden(err), "the role deletes %s: %v", of, err)
		}
	}
	for _, of := range []string{"clusterroles", "clusterrolebindings"} {
		at := w.own.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: of})
		err := at.Delete(ctx, "tombolo:preview", metav1.DeleteOptions{})
		assert.Check(w.t, err != nil && strings.Contains(fmt.Sprint(err), refusal), "the role deletes %s: %v", of, err)
	}
}
