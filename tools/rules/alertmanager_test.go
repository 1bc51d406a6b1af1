package main

import (
	"strings"
	"testing"

	"github.com/prometheus/alertmanager/config"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAlertmanagerTakesTheConfiguration loads what the catalogue publishes with Alertmanager's
// own code. Every receiver has its address in a file, and no address is in the text.
func TestAlertmanagerTakesTheConfiguration(t *testing.T) {
	const file = "/etc/alertmanager/secrets/channel/address"
	for channel, address := range map[string]func(config.Receiver) string{
		"slack":   func(r config.Receiver) string { return r.SlackConfigs[0].APIURLFile },
		"msteams": func(r config.Receiver) string { return r.MSTeamsV2Configs[0].WebhookURLFile },
		"generic": func(r config.Receiver) string { return r.WebhookConfigs[0].URLFile },
	} {
		text := string(read(t, "../../config/addon/testdata/alertmanager/"+channel+".yaml"))
		loaded, err := config.Load(text)
		assert.NilError(t, err, channel)
		assert.Check(t, !strings.Contains(text, "http"), channel)
		assert.Check(t, is.Equal(loaded.Route.Receiver, "channel"))
		assert.Check(t, is.Equal(loaded.Receivers[1].Name, "channel"))
		assert.Check(t, is.Equal(address(loaded.Receivers[1]), file), channel)
		quiet := loaded.Route.Routes[0]
		assert.Check(t, is.Equal(quiet.Receiver, "null"))
		assert.Check(t, quiet.Matchers[0].Matches("Watchdog") && !quiet.Matchers[0].Matches("FluxDeliveryNotReady"))
	}
}
