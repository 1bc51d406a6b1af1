//go:build lab

package lab

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// azureAccountFile is a subscription whose state is with the network team, in another one.
const azureAccountFile = `version: 1
name: acme
protect: true
cloud: {provider: azure, region: germanywestcentral, account: 00000000-0000-4000-8000-000000000001, tenant: 00000000-0000-4000-8000-00000000000a}
tags: {team: platform}
state: {container: /subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/network-team/providers/Microsoft.Storage/storageAccounts/acmestate/blobServices/default/containers/state}
pipelines:
  host: github
  repository: acme/clusters
`

// The groups of Entra in the cluster file.
const (
	adminsGroup     = "00000000-0000-4000-8000-0000000000a1"
	previewersGroup = "00000000-0000-4000-8000-0000000000a2"
)

// azureJobs is a project with the identities of its pipelines, by the names of their outputs.
type azureJobs struct {
	project
	outputs map[string]string
}

// TestPipelinesInAzure goes the way of the guide to pipelines: the identities, their groups, a cluster
// that the job with the one makes, a preview of the other, and what neither may do.
func TestPipelinesInAzure(t *testing.T) {
	tier.Long(t, "the identities of pipelines, with which jobs make and preview a cluster in Azure")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	p.write(t, "accounts/acme.yaml", azureAccountFile)
	// The zone is the network team's, who would have to let the job assign a role there.
	before, _, _ := strings.Cut(p.read(t, clusterFile("aks")), "  external-dns:\n")
	_, after, _ := strings.Cut(p.read(t, clusterFile("aks")), "name: aks.lab.test\n")
	p.write(t, clusterFile("aks"), strings.Replace(before+after, "\n  nodeGroups:\n", "\n  previewers:\n    - {name: pipelines, group: "+previewersGroup+"}\n  nodeGroups:\n", 1))
	jobs := azureJobs{p, map[string]string{}}
	inOrder(t, jobs, []step[azureJobs]{
		{"make the identities", azureJobs.make},
		{"a job of another environment does not get the identity that applies", azureJobs.trusted},
		{"a job makes a cluster", azureJobs.applied},
		{"a preview by a job shows what an admin's does, and the job changes nothing", azureJobs.previewed},
		{"a job gives the roles that the account file names, and no others", azureJobs.given},
		{"destroy the cluster and the identities", azureJobs.destroyed},
	})
}

func (j azureJobs) make(t *testing.T) {
	j.makeAccount(t, 13)
	var document struct{ Outputs map[string]string }
	decode(t, j.must(t, "pipelines", "outputs", "acme", "--output", "json"), &document)
	maps.Copy(j.outputs, document.Outputs)
	assert.DeepEqual(t, slices.Sorted(maps.Keys(j.outputs)), []string{"applyClientId", "applyPrincipalId", "previewClientId", "previewPrincipalId", "subscriptionId", "tenantId"})
	j.must(t, "lab", "az", "ad", "group", "member", "add", "--group", adminsGroup, "--member-id", j.outputs["applyPrincipalId"])
	j.must(t, "lab", "az", "ad", "group", "member", "add", "--group", previewersGroup, "--member-id", j.outputs["previewPrincipalId"])
}

// job is the project of a job of an environment, which signs in as an identity.
func (j azureJobs) job(identity, environment string) project {
	p := j.project
	p.env = append(slices.Clone(p.env), "TOMBOLO_LAB_JOB="+j.outputs[identity+"ClientId"]+" https://token.actions.githubusercontent.com repo:acme/clusters:environment:"+environment)
	return p
}

func (j azureJobs) trusted(t *testing.T) {
	for _, environment := range []string{"preview", "plan", "apply2"} {
		j.job("apply", environment).run(t, "up", "aks", "--yes").refuses(t, "AADSTS700213")
	}
}

func (j azureJobs) applied(t *testing.T) {
	j.job("apply", "apply").up(t, "aks").created(t)
	j.job("apply", "apply").up(t, "aks").unchanged(t)
}

func (j azureJobs) previewed(t *testing.T) {
	job, file := j.job("preview", "preview"), clusterFile("aks")
	assert.Check(t, !strings.Contains(previewedAlike(t, j.project, job, "aks"), `"op":"update"`))
	text := j.read(t, file)
	j.edit(t, file, "  team: platform\n", "  team: operations\n")
	j.edit(t, file, "  tier: demo\n", "  tier: other\n")
	assert.Check(t, is.Contains(previewedAlike(t, j.project, job, "aks"), "azure-native:containerservice/v20240901:ManagedCluster"))
	j.job("preview", "drift").must(t, "drift", "aks", "--without-secrets")
	job.run(t, "up", "aks", "--yes").refuses(t, "does not have authorization to perform action")
	j.write(t, file, text)
	j.job("apply", "apply").up(t, "aks").unchanged(t)
}

// given: core's own roles were given to the cluster's identities; another one takes a line in the
// account file.
func (j azureJobs) given(t *testing.T) {
	job := j.job("apply", "apply")
	j.write(t, clusterFile("aks"), j.read(t, clusterFile("aks"))+`
namespaces:
  - name: orders
services:
  - name: orders
    namespace: orders
    identity:
      roles:
        - {role: Monitoring Metrics Publisher, scope: /subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/aks}
`)
	job.run(t, "up", "aks", "--yes").refuses(t, "ABAC condition that is not fulfilled")
	j.edit(t, "accounts/acme.yaml", "  repository: acme/clusters\n", "  repository: acme/clusters\n  apply: {roles: [Monitoring Metrics Publisher]}\n")
	// The job itself cannot widen what it may give.
	job.run(t, "pipelines", "up", "acme", "--yes").refuses(t, "ABAC condition that is not fulfilled")
	j.must(t, "pipelines", "up", "acme", "--yes")
	job.must(t, "up", "aks", "--yes")
	job.up(t, "aks").unchanged(t)
}

func (j azureJobs) destroyed(t *testing.T) {
	j.job("apply", "apply").must(t, "destroy", "aks", "--yes", "--leftovers", "delete")
	j.must(t, "pipelines", "destroy", "acme", "--yes-destroy", "acme", "--remove")
	j.nothingExists(t)
}
