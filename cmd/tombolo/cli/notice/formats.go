package notice

import (
	"encoding/json"
	"fmt"
	"strings"

	"tombolo/config"
)

// body is the message in the format of a channel's type.
func (m message) body(of config.ChannelType) ([]byte, error) {
	var document any
	switch of {
	case config.SlackChannel:
		document = m.slack()
	case config.TeamsChannel:
		document = m.teams()
	default:
		document = m.generic()
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("write the notice as JSON: %w", err)
	}
	return text, nil
}

type object = map[string]any

// slack is a message for an incoming webhook: blocks, and a text for notifications.
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
func (m message) slack() object {
	text := func(kind, s string) object { return object{"type": kind, "text": s} }
	section := func(s string) object { return object{"type": "section", "text": text("mrkdwn", s)} }
	blocks := []object{section("*" + m.symbol() + " " + escaped(m.title) + "*")}
	for _, l := range m.lines {
		// Plain text is shown as it is: a cause that others have written is no link and calls nobody.
		blocks = append(blocks, object{"type": "section", "text": text("plain_text", l.symbol()+" "+l.cluster+": "+l.text)})
	}
	if m.more != "" {
		blocks = append(blocks, section(escaped(m.more)))
	}
	var facts []string
	for _, f := range m.facts {
		facts = append(facts, f[0]+": "+f[1])
	}
	context := []object{text("plain_text", strings.Join(facts, ", "))}
	if m.link != "" {
		context = append(context, text("mrkdwn", "<"+strings.ReplaceAll(escaped(m.link), "|", "%7C")+"|the run>"))
	}
	return object{"text": escaped(m.title), "blocks": append(blocks, object{"type": "context", "elements": context})}
}

// escaped is a text in which Slack reads no markup of links and people:
// https://docs.slack.dev/messaging/formatting-message-text
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// teams is a message for a Workflow that is started by a webhook: an Adaptive Card as an attachment.
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook
// A run of a RichTextBlock is shown as it is, where a TextBlock takes Markdown:
// https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features
func (m message) teams() object {
	rich := func(runs ...object) object { return object{"type": "RichTextBlock", "inlines": runs} }
	run := func(s string) object { return object{"type": "TextRun", "text": s} }
	color := "good"
	if m.failed {
		color = "attention"
	}
	head := run(m.symbol() + " " + m.title)
	head["weight"], head["size"], head["color"] = "bolder", "medium", color
	body := []object{rich(head)}
	for _, l := range m.lines {
		name := run(l.symbol() + " " + l.cluster + ": ")
		name["weight"] = "bolder"
		body = append(body, rich(name, run(l.text)))
	}
	if m.more != "" {
		body = append(body, rich(run(m.more)))
	}
	for _, f := range m.facts {
		body = append(body, rich(run(f[0]+": "+f[1])))
	}
	card := object{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"msteams": object{"width": "Full"}, "body": body,
	}
	if m.link != "" {
		card["actions"] = []object{{"type": "Action.OpenUrl", "title": "The run", "url": m.link}}
	}
	return object{"type": "message", "attachments": []object{
		{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card},
	}}
}

// generic is a form of our own, for what is neither.
func (m message) generic() object {
	clusters := make([]object, 0, len(m.lines))
	for _, l := range m.lines {
		clusters = append(clusters, object{"cluster": l.cluster, "succeeded": l.good, "message": l.text})
	}
	severity := "info"
	if m.failed {
		severity = "error"
	}
	out := object{"reportingController": "tombolo", "severity": severity, "message": m.title, "clusters": clusters}
	for _, f := range m.facts {
		out[strings.ToLower(f[0])] = f[1]
	}
	if m.more != "" {
		out["more"] = m.more
	}
	if m.link != "" {
		out["link"] = m.link
	}
	return out
}

func (m message) symbol() string { return symbol(!m.failed) }

func (l line) symbol() string { return symbol(l.good) }

func symbol(good bool) string {
	if good {
		return "✅"
	}
	return "❌"
}
