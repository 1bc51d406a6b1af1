package bootstrap

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/config/addon"
)

// TestPreflightOfTheChannel: an address that cannot be right is refused before anything is
// made, and no error shows any of it.
func TestPreflightOfTheChannel(t *testing.T) {
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt", Channel: &config.Channel{
		Type: config.TeamsChannel, Address: &config.SecretRef{Env: "TOMBOLO_CHANNEL"},
	}}}
	for address, want := range map[string]string{
		"https://prod.westeurope.logic.azure.com/hunter2": "",
		"": "gitops.channel.address: the environment variable TOMBOLO_CHANNEL is not set",
		"https://contoso.webhook.office.com/hunter2": "gitops.channel.address: it is a connector at webhook.office.com, " +
			"which Microsoft has retired; make a Workflow in the channel, and take its address",
		"http://hooks.example.com/hunter2": "gitops.channel.address: it is http://, and who listens could write to the channel; use https://",
		"hunter2":                          "gitops.channel.address: it is no address of a webhook; give it as https://host/path",
	} {
		got := ""
		if err := Preflight(t.Context(), c, map[string]string{"TOMBOLO_CHANNEL": address}); err != nil {
			got = err.Error()
		}
		assert.Check(t, is.Equal(got, want))
	}
	c.GitOps.Channel.Address = &config.SecretRef{Config: "channel"}
	assert.Check(t, Preflight(t.Context(), c, nil), "Pulumi keeps the address")
}

func TestWhoWritesToTheChannel(t *testing.T) {
	flux := &config.Cluster{GitOps: config.GitOps{Engine: config.Flux}}
	assert.DeepEqual(t, channelNamespaces(flux), []string{"flux-system"})
	flux.Addons = addon.Selection{config.PrometheusAddon: nil}
	assert.DeepEqual(t, channelNamespaces(flux), []string{"flux-system", "monitoring"})
	flux.GitOps.Engine = config.ArgoCD
	assert.DeepEqual(t, channelNamespaces(flux), []string{"monitoring"})
	flux.Addons = nil
	assert.Check(t, is.Len(channelNamespaces(flux), 0), "only notices of tombolo go there")
}
