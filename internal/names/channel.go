package names

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

const (
	// ChannelSecret is the Secret with the address of the platform's channel, in each
	// namespace from which something writes to it.
	ChannelSecret = "channel"
	// ChannelAddress is the key of the address in it: Flux's Provider reads this one.
	ChannelAddress = "address"
	// ChannelType is the key of the infra ConfigMap with the type of the platform's channel,
	// which clusters with one have.
	ChannelType = "channel_type"
)

// retiredConnector ends the hosts of Microsoft's connectors, which are retired: they take
// another format than Workflows do, which Flux and Alertmanager send
// (https://devblogs.microsoft.com/microsoft365dev/retirement-of-office-365-connectors-within-microsoft-teams/).
const retiredConnector = ".webhook.office.com"

// RetiredConnector says whether the address of a channel is one that Microsoft has retired.
func RetiredConnector(address string) bool {
	return strings.HasSuffix(hostname(address), retiredConnector)
}

// Invented says whether an address is at a host of the domain test, which is nobody's
// (https://www.rfc-editor.org/rfc/rfc6761#section-6.2).
func Invented(address string) bool { return strings.HasSuffix(hostname(address), ".test") }

// CheckChannel says what is wrong with the address of a channel. No error holds any of it.
func CheckChannel(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || !slices.Contains([]string{"https", "http"}, u.Scheme):
		return errors.New("it is no address of a webhook; give it as https://host/path")
	case RetiredConnector(address):
		return errors.New("it is a connector at webhook.office.com, which Microsoft has retired; make a Workflow in the channel, and take its address")
	case u.Scheme == "http" && !Invented(address):
		return errors.New("it is http://, and who listens could write to the channel; use https://")
	}
	return nil
}

func hostname(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
