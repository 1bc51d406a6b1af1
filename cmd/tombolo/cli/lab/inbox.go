package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/lab/control"
)

// InboxOptions are the options of lab inbox.
type InboxOptions struct {
	Options
	// Channel to show; all of them when it is empty.
	Channel string
	// Last messages to show; 0 for all.
	Last int
}

// NewCmdInbox returns the command lab inbox; runF, if not nil, runs in place of it.
func NewCmdInbox(f *Given, runF func(context.Context, *InboxOptions) error) *cobra.Command {
	opts := &InboxOptions{Options: f.options()}
	cmd := &cobra.Command{
		Use:   "inbox [<channel>]",
		Short: "Show what the channels of notifications were sent",
		Long: strings.TrimSpace(`
Show what was sent to the lab's channels, the oldest first. A
channel's address is http://inbox.lab.test/<channel>, for a Provider of the type
slack, msteams or generic. At http://inbox.lab.test/slack/<channel> and
http://inbox.lab.test/msteams/<channel> the lab refuses what Slack and Teams would.`),
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.Channel = args[0]
			}
			return factory.Run(cmd.Context(), opts, runF, inboxRun)
		},
	}
	cmd.Flags().IntVarP(&opts.Last, "lines", "n", 0, "print only the last `messages`; 0 prints all")
	return cmd
}

// inboxDocument is what --output json prints.
type inboxDocument struct {
	Type     string            `json:"type"`
	Messages []control.Message `json:"messages"`
}

func inboxRun(_ context.Context, o *InboxOptions) error {
	l, err := o.Lab()
	if err != nil {
		return err
	}
	messages, err := l.Inbox(o.Channel)
	if err != nil {
		return err
	}
	if o.Last > 0 && len(messages) > o.Last {
		messages = messages[len(messages)-o.Last:]
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, inboxDocument{Type: "inbox", Messages: messages})
	}
	if len(messages) == 0 {
		o.Status().Done("no message has arrived")
		return nil
	}
	for _, m := range messages {
		head := strings.Join(strings.Fields(strings.Join([]string{m.At.Format("15:04:05"), m.Channel, m.Severity, m.Object}, " ")), " ")
		if _, err := fmt.Fprintf(o.Out, "%s\n  %s\n", head, strings.ReplaceAll(strings.TrimSpace(m.Text), "\n", "\n  ")); err != nil {
			return err
		}
	}
	return nil
}
