// Package argocd installs Argo CD and gives it the repository to follow.
//
// As with Flux, what is made is of two kinds. The distribution is applied and
// handed over: whatever Git does to it afterwards, a later up neither diffs nor
// reverts it, until a user asks for another one. Everything else stays with
// Pulumi, so that what the cluster file changes arrives: the AppProject and the
// root Application, the credentials, and the few settings of Argo CD that waves
// and spokes need. Those are fields of their own in the distribution's objects.
package argocd

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/components/distribution"
	"tombolo/components/object"
	"tombolo/internal/names"
)

const engineType = "tombolo:argocd:Engine"

const (
	// InCluster is the address of the cluster that Argo CD runs in.
	InCluster = "https://kubernetes.default.svc"
	// SecretTypeLabel tells Argo CD what one of its Secrets is.
	SecretTypeLabel = "argocd.argoproj.io/secret-type"
)

// Product is Argo CD, as a distribution.
func Product() distribution.Product {
	return distribution.Product{Name: "Argo CD", Namespace: names.ArgoCDNamespace, Release: "argocd", Reader: names.RepoServer, Environment: withoutFiles()}
}

// withoutFiles is the environment in which Git, also as kustomize starts it in the repo-server,
// fetches by the network alone. By a path it would read other teams' checkouts, and run what a
// reference names as the other end's program. Argo CD guards the build against the latter since
// 3.5.4, but not what it edits before. Sources:
// https://git-scm.com/docs/git#Documentation/git.txt-codeGITALLOWPROTOCOLcode and
// https://github.com/argoproj/argo-cd/blob/v3.5.7/util/kustomize/kustomize.go ("Build").
func withoutFiles() distribution.Environment {
	return distribution.Environment{
		Deployment: names.RepoServer, Containers: []string{"argocd-repo-server", "repo-server"}, // the manifest's, the chart's
		Variables: [][2]string{{"GIT_ALLOW_PROTOCOL", "git:http:https:ssh"}},
	}
}

// ServiceAccounts are those of Argo CD's components that talk to spokes.
func ServiceAccounts() []string {
	return []string{"argocd-application-controller", "argocd-applicationset-controller", "argocd-server"}
}

// EngineArgs are the arguments of an engine. The manifest is the plain one, the one
// for high availability, or what a chart became. KnownHosts join those that the
// distribution brings. Seconds of the interval count.
type EngineArgs struct {
	distribution.EngineArgs
	// RoleARN is the IAM role of the ServiceAccounts, by IRSA; nil for none.
	RoleARN pulumi.StringInput
	// SignIn of people; nil for Argo CD's own account alone.
	SignIn *SignIn
	// Webhook has Argo CD take events of pushes with the token of the Secret names.PlatformWebhook,
	// and no others.
	Webhook bool
}

// NewEngine installs Argo CD and makes the root Application.
func NewEngine(ctx *pulumi.Context, name string, args *EngineArgs, opts ...pulumi.ResourceOption) (*distribution.Engine, error) {
	recipe, err := args.recipe(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	c, err := distribution.NewEngine(ctx, name, recipe, opts...)
	if err != nil {
		return nil, fmt.Errorf("argocd %s: %w", name, err)
	}
	return c, nil
}

func (a *EngineArgs) recipe(ctx *pulumi.Context, name string) (distribution.Recipe, error) {
	if err := errors.Join(append(a.Problems(), a.SignIn.problems()...)...); err != nil {
		return distribution.Recipe{}, err
	}
	objects, err := Product().Parse(a.Manifest)
	if err != nil {
		return distribution.Recipe{}, err
	}
	var hosts string // that the distribution brings, where they are ours to extend
	if a.Auth != nil && a.Auth.KnownHosts != "" {
		if hosts, err = takeKnownHosts(objects); err != nil {
			return distribution.Recipe{}, err
		}
	}
	return distribution.Recipe{
		Product: Product(), Type: engineType, Args: &a.EngineArgs, Objects: objects, Secret: authSecret(a),
		Configure: func(parent, after pulumi.ResourceOption) ([]pulumi.Resource, error) {
			return configure(ctx, name, a, hosts, parent, after)
		},
		Sync: []distribution.SyncObject{{Name: "project", Object: project()}, {Name: "root", Object: a.root(retriesLatest(objects))}},
	}, nil
}

// treePath is the path as Argo CD expects it: relative to the repository's root,
// "." for the root.
func treePath(path string) string {
	path = strings.Trim(strings.TrimPrefix(path, "./"), "/")
	if path == "" {
		return "."
	}
	return path
}

// What follows makes Argo CD's settings. Each is a patch: it owns its own fields of
// an object of the distribution and nothing else, so that Git may have the
// object, and set other fields in it.

// applicationHealth has a wave of Applications wait until each is synced and
// healthy. Argo CD itself has no opinion about the health of an Application.
//
//go:embed health.lua
var applicationHealth string

const (
	hostsObject = "argocd-ssh-known-hosts-cm"
	hostsKey    = "ssh_known_hosts"
)

// settings are the keys that we set in Argo CD's ConfigMaps, by object.
func (a *EngineArgs) settings(hosts string) map[string]map[string]string {
	out := map[string]map[string]string{
		"argocd-cm": {
			"application.resourceTrackingMethod":                     "annotation",
			"resource.customizations.health.argoproj.io_Application": applicationHealth,
			"timeout.reconciliation":                                 fmt.Sprintf("%ds", (a.Interval+time.Second-1)/time.Second),
		},
		// What the API server fills in or converts is no difference.
		"argocd-cmd-params-cm": {
			"controller.diff.server.side": "true",
			// A sync that waits in a wave for half an hour is given up, so that the
			// commit that repairs it is taken up.
			"controller.sync.timeout.seconds": "1800",
		},
	}
	if a.SignIn != nil {
		maps.Copy(out["argocd-cm"], a.SignIn.settings())
		out["argocd-rbac-cm"] = a.SignIn.policy()
	}
	if a.Auth != nil && a.Auth.KnownHosts != "" {
		out[hostsObject] = map[string]string{hostsKey: hosts + strings.TrimRight(a.Auth.KnownHosts, "\n") + "\n"}
	}
	return out
}

// configure patches the ConfigMaps, and the service accounts with their role.
func configure(ctx *pulumi.Context, name string, args *EngineArgs, hosts string, opts ...pulumi.ResourceOption) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for configMap, data := range args.settings(hosts) {
		settings := object.ConfigMap(metadata(configMap, nil), pulumi.ToStringMap(data))
		settings.Patch = true
		patch, err := object.New(ctx, name+"-"+configMap, settings, opts...)
		if err != nil {
			return nil, fmt.Errorf("settings in %s: %w", configMap, err)
		}
		made = append(made, patch)
	}
	if args.Webhook {
		patch, err := webhook(ctx, name, opts...)
		if err != nil {
			return nil, err
		}
		made = append(made, patch)
	}
	if args.RoleARN == nil {
		return made, nil
	}
	for _, account := range ServiceAccounts() {
		annotations := pulumi.StringMap{"eks.amazonaws.com/role-arn": args.RoleARN}
		patch, err := object.New(ctx, name+"-"+account, object.Args{
			APIVersion: "v1", Kind: "ServiceAccount", Meta: metadata(account, annotations), Patch: true,
		}, opts...)
		if err != nil {
			return nil, fmt.Errorf("role of service account %s: %w", account, err)
		}
		made = append(made, patch)
	}
	return made, nil
}

func metadata(name string, annotations pulumi.StringMap) object.Meta {
	all := pulumi.StringMap{distribution.PatchForce: pulumi.String("true")}
	for key, value := range annotations {
		all[key] = value
	}
	return object.Meta{Name: name, Namespace: names.ArgoCDNamespace, Annotations: all}
}

// webhookKeys are those of argocd-secret by which Argo CD checks the events of each kind of host. One that
// is not set takes events from anybody. Source: the table in
// https://argo-cd.readthedocs.io/en/stable/operator-manual/webhook/
func webhookKeys() []string {
	return []string{
		"webhook.azuredevops.password", "webhook.bitbucket.uuid", "webhook.bitbucketserver.secret",
		"webhook.github.secret", "webhook.gitlab.secret", "webhook.gogs.secret",
	}
}

// webhook has all kinds of hosts show the one token, which is named only, in Argo CD's own way. Argo CD
// writes the other keys of the Secret itself.
func webhook(ctx *pulumi.Context, name string, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	data := map[string]pulumi.StringInput{"webhook.azuredevops.username": pulumi.String(names.WebhookUser)}
	for _, key := range webhookKeys() {
		data[key] = pulumi.String("$" + names.PlatformWebhook + ":" + names.WebhookToken)
	}
	secret := object.Secret(metadata("argocd-secret", nil), "", data)
	secret.Patch = true
	patch, err := object.New(ctx, name+"-argocd-secret", secret, opts...)
	if err != nil {
		return nil, fmt.Errorf("webhook in argocd-secret: %w", err)
	}
	return patch, nil
}

// takeKnownHosts takes the hosts' keys out of the distribution: they are one
// text, which only one can own.
func takeKnownHosts(objects []distribution.Object) (string, error) {
	for _, o := range objects {
		if !o.Is("ConfigMap", hostsObject) {
			continue
		}
		data, _ := o["data"].(map[string]any)
		hosts, _ := data[hostsKey].(string)
		delete(data, hostsKey)
		if hosts != "" && !strings.HasSuffix(hosts, "\n") {
			hosts += "\n"
		}
		return hosts, nil
	}
	return "", errors.New("the distribution has no ConfigMap " + hostsObject + "; private keys need it")
}

// SignIn is how people sign in to Argo CD by an OpenID Connect provider, and what their
// groups may do.
type SignIn struct {
	// URL under which people reach Argo CD.
	URL string
	// IssuerURL of the provider, and ClientID of Argo CD there.
	IssuerURL, ClientID string
	// Secret is the name of a Secret in Argo CD's namespace, with the key ClientSecretKey and
	// the label app.kubernetes.io/part-of: argocd. It need not be there: until it is, nobody
	// signs in by the provider.
	Secret string
	// Scopes to ask for; none for those that Argo CD asks for by itself.
	Scopes []string
	// AdminGroups may do everything, ReaderGroups see everything. They are the provider's
	// names, without commas and quotes.
	AdminGroups, ReaderGroups []string
}

// ClientSecretKey is the key of the client's secret in its Secret.
const ClientSecretKey = "clientSecret"

func (s *SignIn) problems() []error {
	if s == nil {
		return nil
	}
	var out []error
	if s.URL == "" || s.IssuerURL == "" || s.ClientID == "" || s.Secret == "" {
		out = append(out, errors.New("a sign-in needs URL, issuer, client and Secret"))
	}
	for _, group := range append(append([]string{}, s.AdminGroups...), s.ReaderGroups...) {
		if group == "" || strings.ContainsAny(group, ",\"\n") || strings.HasPrefix(group, "role:") || strings.HasPrefix(group, "proj:") {
			out = append(out, errors.New("a group of the sign-in is empty, no text of a policy, or the name of a role"))
		}
	}
	return out
}

// settings are those of argocd-cm. The client's secret is named only, in Argo CD's own way:
// https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/#alternative.
// It reads YAML, of which JSON is a part.
func (s *SignIn) settings() map[string]string {
	config := map[string]any{
		"name": "OIDC", "issuer": s.IssuerURL, "clientID": s.ClientID, "clientSecret": "$" + s.Secret + ":" + ClientSecretKey,
	}
	if len(s.Scopes) > 0 {
		config["requestedScopes"] = s.Scopes
	}
	text, _ := json.Marshal(config) // texts alone
	return map[string]string{"url": s.URL, "oidc.config": string(text)}
}

// policy is a key of its own in argocd-rbac-cm, which Argo CD adds to policy.csv: that one and
// policy.default stay Git's, and without them who is in no group sees nothing.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/#policy-csv-composition
func (s *SignIn) policy() map[string]string {
	var lines strings.Builder
	for _, of := range []struct {
		role   string
		groups []string
	}{{"role:admin", s.AdminGroups}, {"role:readonly", s.ReaderGroups}} {
		for _, group := range of.groups {
			lines.WriteString("g, " + group + ", " + of.role + "\n")
		}
	}
	return map[string]string{"policy.tombolo.csv": lines.String()}
}

// ResourcesFinalizer on an Application has Argo CD remove what the Application
// has made before it goes.
const ResourcesFinalizer = "resources-finalizer.argocd.argoproj.io"

// syncRetries is how often Argo CD tries a failed sync again, with growing
// pauses: about twenty minutes in all.
const syncRetries = 10

// project is the AppProject of the platform. It allows every source: charts are
// in many repositories, and which of them are used is reviewed where they are
// named, in Git. It allows every registered cluster and namespace, since the
// platform is what every cluster gets. Teams get projects of their own.
func project() distribution.Object {
	everything := map[string]any{"group": "*", "kind": "*"}
	return distribution.Object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
		"metadata": map[string]any{"name": names.Platform, "namespace": names.ArgoCDNamespace},
		"spec": map[string]any{
			"description":                "What every cluster gets, made by Tombolo",
			"sourceRepos":                []any{"*"},
			"destinations":               []any{map[string]any{"server": "*", "namespace": "*"}},
			"clusterResourceWhitelist":   []any{everything},
			"namespaceResourceWhitelist": []any{everything},
		},
	}
}

// retriesLatest says whether the distribution's Argo CD can try a failed sync again with the latest commit. Without
// it, a commit that corrects another one waits until the last retry of that one.
func retriesLatest(objects []distribution.Object) bool {
	const field = "spec.properties.syncPolicy.properties.retry.properties.refresh"
	for _, o := range objects {
		definition := unstructured.Unstructured{Object: o}
		if definition.GetKind() != "CustomResourceDefinition" || definition.GetName() != "applications.argoproj.io" {
			continue
		}
		versions, _, _ := unstructured.NestedFieldNoCopy(o, "spec", "versions")
		all, _ := versions.([]any)
		for _, v := range all {
			version, _ := v.(map[string]any)
			path := append([]string{"schema", "openAPIV3Schema", "properties"}, strings.Split(field, ".")...)
			if _, ok, _ := unstructured.NestedFieldNoCopy(version, path...); ok {
				return true
			}
		}
	}
	return false
}

// root is the Application that everything else comes from. latest says that a retry takes the latest commit.
func (a *EngineArgs) root(latest bool) distribution.Object {
	o := a.application(names.Platform, treePath(a.Path), latest)
	o["metadata"].(map[string]any)["finalizers"] = []any{ResourcesFinalizer}
	return o
}

// application follows a path of the repository, on the cluster that Argo CD runs in.
func (a *EngineArgs) application(name, path string, latest bool) distribution.Object {
	retry := map[string]any{
		"limit":   syncRetries,
		"backoff": map[string]any{"duration": "5s", "factor": 2, "maxDuration": "3m"},
	}
	if latest {
		retry["refresh"] = true
	}
	return distribution.Object{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": names.ArgoCDNamespace},
		"spec": map[string]any{
			"project":     names.Platform,
			"source":      map[string]any{"repoURL": a.URL, "targetRevision": a.Branch, "path": path},
			"destination": map[string]any{"server": InCluster, "namespace": names.ArgoCDNamespace},
			"syncPolicy": map[string]any{
				"automated":   map[string]any{"prune": true, "selfHeal": true},
				"syncOptions": []any{"ServerSideApply=true"},
				"retry":       retry,
			},
		},
	}
}

// authSecret is a repository of Argo CD's, by the label; empty without credentials.
func authSecret(args *EngineArgs) object.Args {
	if args.Auth == nil {
		return object.Args{}
	}
	meta := object.Meta{
		Name: names.PlatformAuth, Namespace: names.ArgoCDNamespace,
		Labels: pulumi.StringMap{SecretTypeLabel: pulumi.String("repository")},
	}
	data := map[string]pulumi.StringInput{"type": pulumi.String("git"), "url": pulumi.String(args.URL)}
	switch {
	case args.Auth.App != nil:
		maps.Copy(data, appData(args.Auth))
	case args.Auth.ClientID != nil: // https://github.com/argoproj/argo-cd/blob/v3.5.7/docs/user-guide/private-repositories.md#azure-container-registryazure-repos-using-azure-workload-identity
		data["useAzureWorkloadIdentity"] = pulumi.String("true")
	default:
		maps.Copy(data, map[string]pulumi.StringInput{
			"username": args.Auth.Username, "password": args.Auth.Password, "sshPrivateKey": args.Auth.PrivateKey,
		})
	}
	return object.Secret(meta, "Opaque", data)
}

// appData is what the repo-server reads of a GitHub App.
// https://github.com/argoproj/argo-cd/blob/v3.5.7/docs/operator-manual/declarative-setup.md#github-app-repositories
func appData(auth *distribution.Auth) map[string]pulumi.StringInput {
	data := map[string]pulumi.StringInput{
		"githubAppID": pulumi.String(strconv.Itoa(auth.App.ID)), "githubAppInstallationID": pulumi.String(strconv.Itoa(auth.App.InstallationID)),
		"githubAppPrivateKey": auth.PrivateKey,
	}
	if auth.App.API != "" {
		data["githubAppEnterpriseBaseUrl"] = pulumi.String(auth.App.API)
	}
	return data
}
