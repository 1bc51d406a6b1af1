package lab

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tombolo/internal/file"
	"tombolo/lab/azure"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/cloudmanager"
	"tombolo/lab/control"
	"tombolo/lab/entra"
	"tombolo/lab/people"
	"tombolo/lab/ports"
	"tombolo/lab/standin"
)

// What the lab has of Azure.
const (
	AzureSubscription = arm.Subscription
	AzureTenant       = arm.Tenant
	AzureRegion       = arm.Location
	// AzureAdmins is the group that the lab's credentials are a member of.
	AzureAdmins = arm.AdminGroup
)

// The tokens of a pipeline, which Entra takes for the application: the lab's credentials for
// Azure are one, as a job of a pipeline has it, and no secret.
const (
	pipelineIssuer  = "https://" + people.Host + "/application/o/pipeline/"
	pipelineSubject = "tombolo-lab"
	// pipelineLifetime is longer than any operation of a lab, at Azure's durations too.
	pipelineLifetime = 12 * time.Hour
)

// managerVariable says where Azure's Resource Manager is; it is package automation/cloud/azure's,
// which asks https://management.azure.com without it.
const managerVariable = "TOMBOLO_AZURE_MANAGER"

func managerURL(port int) string { return "http://" + loopback(port) }

// openAzure loads what the lab's subscription holds.
func (d *daemon) openAzure(faults *standin.Faults) (*standin.Cloud, error) {
	return azure.Open(d.lab.paths().azure(), standin.Options{
		Faults: faults, Clusters: d.clusters, Account: AzureSubscription, Region: AzureRegion, LatencyScale: latencyScale(),
	})
}

// openEntra opens the tenant of the lab.
func (d *daemon) openEntra() (*entra.Entra, error) {
	return entra.Open(entra.Options{
		KeyFile: d.authority.KeyFile("entra"), Tenant: AzureTenant, Identity: d.entraIdentity, KeyOf: d.keyOfIssuer,
	})
}

// entraIdentity finds an identity of the tenant: the application of the lab's credentials, or
// a managed identity.
func (d *daemon) entraIdentity(clientID string) (entra.Identity, bool) {
	if clientID == arm.ClientID {
		return entra.Identity{
			ClientID: arm.ClientID, ObjectID: arm.ClientObject, Groups: []string{AzureAdmins},
			Federations: []entra.Federation{{Issuer: pipelineIssuer, Subject: pipelineSubject, Audiences: []string{entra.ExchangeAudience}}},
		}, true
	}
	defer d.azure.Lock()()
	found := managedidentity.ByClient(d.azure, clientID)
	if found == nil {
		return entra.Identity{}, false
	}
	object := found.Outputs.Str("principalId")
	who := entra.Identity{ClientID: clientID, ObjectID: object, ResourceID: found.ID, Groups: d.groupsOf(object)}
	for _, f := range managedidentity.Federations(d.azure, found) {
		who.Federations = append(who.Federations, entra.Federation{Issuer: f.Issuer, Subject: f.Subject, Audiences: f.Audiences})
	}
	return who, true
}

// keyOfIssuer is what an issuer of the lab signs with: a cluster, for its service accounts,
// or the provider of people and pipelines. There are no others on the lab's internet.
func (d *daemon) keyOfIssuer(issuer string) (crypto.PublicKey, error) {
	if cluster := d.clusters.issuedBy(issuer); cluster != "" {
		return d.clusters.TokenKey(cluster)
	}
	if slices.Contains(jobIssuers(), issuer) {
		issuer = pipelineIssuer // whose key the tokens of jobs are signed by
	}
	return d.people.Key(issuer)
}

// federatedAnswer is a token of the pipeline.
type federatedAnswer struct {
	Token string `json:"token"`
}

// serveFederation answers requests for tokens of the pipeline.
func (d *daemon) serveFederation(mux *http.ServeMux) {
	handle(mux, "POST /federation", func(context.Context, struct{}) (federatedAnswer, error) {
		token, err := d.pipelineToken(pipelineIssuer, pipelineSubject)
		return federatedAnswer{token}, err
	})
}

// azureEnv is the part of Env for Azure: workload identity, with a token that is made anew, and the
// port of the provider that acts as who has it. It is the application's, or that of a job.
func (l *Lab) azureEnv(ctx context.Context, port int) (map[string]string, int, error) {
	j, err := jobOf(os.Getenv(JobVariable))
	if err != nil {
		return nil, 0, err
	}
	client, a := arm.ClientID, jobAnswer{Port: port}
	if j != nil {
		client, err = j.Client, l.daemon().Ask(ctx, http.MethodPost, "/job", j, &a)
	} else {
		err = l.daemon().Ask(ctx, http.MethodPost, "/federation", struct{}{}, &a)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("get credentials of the lab's subscription: %w", err)
	}
	p := l.paths()
	token := p.azureToken(client)
	if err := file.Replace(token, []byte(a.Token), 0o600); err != nil {
		return nil, 0, fmt.Errorf("keep credentials of the lab's subscription: %w", err)
	}
	login := "workloadidentity"
	if os.Getenv(control.PersonVariable) != "" {
		login = "azurecli"
	}
	return map[string]string{
		"ARM_USE_OIDC": "true", "ARM_CLIENT_ID": client, "ARM_TENANT_ID": AzureTenant,
		"ARM_SUBSCRIPTION_ID": AzureSubscription, "ARM_OIDC_TOKEN_FILE_PATH": token,
		"AZURE_CLIENT_ID": client, "AZURE_TENANT_ID": AzureTenant, "AZURE_SUBSCRIPTION_ID": AzureSubscription,
		"AZURE_FEDERATED_TOKEN_FILE": token, "AZURE_AUTHORITY_HOST": "https://" + entra.LoginHost + "/",
		"AAD_LOGIN_METHOD": login,
		// Nothing of the user's own may be used.
		"AZURE_CONFIG_DIR": p.in("azure-config"), "ARM_CLIENT_SECRET": "", "AZURE_CLIENT_SECRET": "", "ARM_USE_MSI": "false",
	}, a.Port, nil
}

// writeKubelogin puts a `kubelogin` command in front of PATH that is the real one behind the
// lab's proxy, which knows Entra's hosts, and believes the lab's authority. The tool may be built
// later, while the lab runs: tools.Built.AKS says when it is missing.
func (l *Lab) writeKubelogin() error {
	p := l.paths()
	tool := filepath.Join(p.tools(), "kubelogin")
	proxy, err := l.ownProxy()
	if err != nil {
		return err
	}
	// It has the proxy's token, and is nobody else's.
	// Its cache of tokens is in the user's directory for caches otherwise, and has those of
	// other labs.
	script := fmt.Sprintf("#!/bin/sh\nexport HTTPS_PROXY=%s SSL_CERT_FILE=%s XDG_CACHE_HOME=%s\nunset NO_PROXY no_proxy https_proxy\nexec %s \"$@\"\n",
		quote(proxy), quote(filepath.Join(p.pki(), "ca.crt")), quote(p.in("cache")), quote(tool))
	if err := replace(filepath.Join(p.bin(), "kubelogin"), script, 0o700); err != nil {
		return fmt.Errorf("write the lab's kubelogin command: %w", err)
	}
	return nil
}

// ownProxy is the URL of the lab's proxy, with its token: it is nobody else's.
func (l *Lab) ownProxy() (string, error) {
	book, err := ports.Open(l.paths().ports())
	if err != nil {
		return "", err
	}
	var port int
	if err := book.Fill(map[string]*int{"proxy": &port}); err != nil {
		return "", err
	}
	token, err := secret(l.paths().token())
	return proxyFor(port, token), err
}

// cloudOf is the account of a cluster, as the controllers have it that make things for the
// cluster there.
func (d *daemon) cloudOf(cluster standin.ClusterSpec) cloudmanager.Cloud {
	if cluster.Tenant != "" {
		return containerservice.AsCluster(d.azure, cluster.ID)
	}
	return d.accounts.sts().Of(cluster.ID).Client(cluster.Region)
}

// azureAs is the subscription as an identity has it, for a token that it trusts.
func (d *daemon) azureAs(client, assertion string) (cloudmanager.Cloud, error) {
	token, err := d.entra.Token(entra.Federated(client, assertion, "https://management.azure.com"))
	if err != nil {
		return nil, err
	}
	who, err := d.entra.Holder(token)
	if err != nil {
		return nil, err
	}
	return d.azure.Client("").As(who.ObjectID), nil
}

// readsDevOps says that a token is for Azure DevOps, and of a user of the lab's organisation there: any
// identity, or those whose client ids are in the file, where there is one.
func (d *daemon) readsDevOps(token string) bool {
	who, err := d.entra.Holder(token)
	if err != nil || who.Audience != entra.DevOpsID {
		return false
	}
	users, err := os.ReadFile(d.lab.paths().devOpsUsers())
	return errors.Is(err, fs.ErrNotExist) || slices.Contains(strings.Fields(string(users)), who.ClientID)
}
