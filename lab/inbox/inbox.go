// Package inbox is the channel that the lab's notifications arrive in: a web server that
// keeps what is posted to it, as a channel of Slack or Teams would show it.
package inbox

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"tombolo/lab/control"
)

// maxBody of a message, in bytes; Slack takes 40,000 characters.
const maxBody = 1 << 20

// Message is what a channel was sent.
type Message = control.Message

// Inbox keeps messages in a file, one in a line.
type Inbox struct {
	file string

	mu sync.Mutex
}

// Open returns the inbox in a file, which need not be there.
func Open(file string) *Inbox { return &Inbox{file: file} }

// ServeHTTP takes a message in a format of notification-controller's: its own (generic),
// Slack's or Teams'. At /slack/<channel> and /msteams/<channel> it takes what these take, and no
// more; at /<channel> any of the formats.
// https://fluxcd.io/flux/components/notification/providers/
func (i *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	of, checked, channel := split(strings.Trim(r.URL.Path, "/"))
	if r.Method != http.MethodPost || channel == "" {
		http.Error(w, "post a message to /<channel>", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if checked {
		err = of.check(r.Header.Get("Content-Type"), body)
	}
	var message Message
	if err == nil {
		message, err = read(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	message.Channel, message.At = channel, time.Now().UTC()
	if err := i.add(message); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(of.accepted)
	_, _ = io.WriteString(w, of.text)
}

func (i *Inbox) add(m Message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	f, err := os.OpenFile(i.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep a message: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// Messages are those that a channel was sent, the oldest first; of all channels when it
// is "".
func (i *Inbox) Messages(channel string) ([]Message, error) {
	f, err := os.Open(i.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	defer f.Close()
	var all []Message
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 2*maxBody)
	for lines.Scan() {
		var m Message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("read the inbox: %w", err)
		}
		if channel == "" || m.Channel == channel {
			all = append(all, m)
		}
	}
	return all, lines.Err()
}

// The severities, of Flux's events: https://fluxcd.io/flux/components/notification/alerts/#event-severity
const (
	severityError = "error"
	severityInfo  = "info"
)

// payload is a message in any of the formats: each fills its own part.
type payload struct {
	// notification-controller's own.
	InvolvedObject struct{ Kind, Namespace, Name string }
	Severity       string
	Message        string
	// Text of a message for Slack without attachments.
	Text string
	// Those of Slack, and of Teams, where the content is an Adaptive Card.
	Attachments []struct {
		Author string `json:"author_name"`
		Text   string
		Color  string

		Content struct {
			Body []struct {
				Items   []struct{ Text, Color string }
				Inlines []struct{ Text string }
			}
		}
	}
}

// read is the message in a body. What the formats say is from
// https://github.com/fluxcd/notification-controller/tree/v1.9.2/internal/notifier
func read(body []byte) (Message, error) {
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return Message{}, fmt.Errorf("the message is not JSON: %w", err)
	}
	m := Message{Severity: p.Severity, Text: cmp.Or(p.Message, p.Text)}
	if o := p.InvolvedObject; o.Kind != "" {
		m.Object = fmt.Sprintf("%s/%s.%s", strings.ToLower(o.Kind), o.Name, o.Namespace)
	}
	for _, a := range p.Attachments {
		m.Object, m.Text, m.Severity = a.Author, a.Text, severityInfo
		if a.Color == "danger" {
			m.Severity = severityError
		}
		for _, block := range a.Content.Body {
			for _, run := range block.Inlines {
				m.Text += run.Text
			}
			for n, item := range block.Items {
				switch n {
				case 0:
					m.Object = item.Text
				case 1:
					m.Text = item.Text
				}
				if item.Color == "attention" {
					m.Severity = severityError
				}
			}
		}
	}
	if m.Text == "" {
		return Message{}, errors.New("the message has no text where notification-controller puts it")
	}
	return m, nil
}
