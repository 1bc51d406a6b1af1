package lab

import "tombolo/lab/inbox"

// Message is what a channel of notifications was sent.
type Message = inbox.Message

// Inbox is what channels of notifications were sent at http://inbox.lab.test/<channel>, and at
// /slack/<channel> and /msteams/<channel> there, the oldest first; what all were sent when the channel is "".
func (l *Lab) Inbox(channel string) ([]Message, error) {
	return inbox.Open(l.paths().inbox()).Messages(channel)
}
