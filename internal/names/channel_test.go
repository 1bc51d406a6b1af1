package names

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestCheckChannel(t *testing.T) {
	for address, want := range map[string]string{
		"https://hooks.slack.com/services/T0/B0/x":       "",
		"http://inbox.lab.test/platform":                 "",
		"https://prod.westeurope.logic.azure.com/x?s=1":  "",
		"https://contoso.webhook.office.com/webhookb2/x": "it is a connector at webhook.office.com, which Microsoft has retired; make a Workflow in the channel, and take its address",
		"http://hooks.example.com/s3cret":                "it is http://, and who listens could write to the channel; use https://",
		"hooks.example.com/s3cret":                       "it is no address of a webhook; give it as https://host/path",
		"":                                               "it is no address of a webhook; give it as https://host/path",
	} {
		got := ""
		if err := CheckChannel(address); err != nil {
			got = err.Error()
		}
		assert.Check(t, is.Equal(got, want), address)
	}
}
