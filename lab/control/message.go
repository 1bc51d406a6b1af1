package control

import "time"

// Message is what a channel was sent.
type Message struct {
	// Channel is the path that the message was posted to, without what names the form, slack/ or msteams/.
	Channel string `json:"channel"`
	// At is when it arrived.
	At time.Time `json:"at"`
	// Severity is info or error, where the format has it.
	Severity string `json:"severity,omitempty"`
	// Object that it is about, such as kustomization/system.shop, where the format has it.
	Object string `json:"object,omitempty"`
	// Text that people read.
	Text string `json:"text"`
}
