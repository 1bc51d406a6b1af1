package inbox

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

//go:embed slack.schema.json
var slackSchema string

//go:embed msteams.schema.json
var teamsSchema string

// form is how a receiver reads what it is sent, and how it answers.
type form struct {
	schema func() *jsonschema.Schema
	// largest message in bytes.
	largest int
	// accepted is the code and the text of its answer.
	accepted int
	text     string
	// refusal is the text with which it refuses a message of another form; "" is to say what is wrong.
	refusal string
}

// forms are the receivers that check what they are sent, by the first part of the path.
//
// Slack answers ok, or invalid_payload: https://api.slack.com/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks.
// A Workflow answers 202 to all that is JSON, and does not post what has another form; here it is
// refused, so that the sender's log has it. 28 KB are the most that it posts:
// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
var forms = map[string]form{
	"slack":   {compiled("slack", slackSchema), maxBody, http.StatusOK, "ok", "invalid_payload"},
	"msteams": {compiled("msteams", teamsSchema), 28 << 10, http.StatusAccepted, "", ""},
}

func compiled(name, text string) func() *jsonschema.Schema {
	return sync.OnceValue(func() *jsonschema.Schema { return jsonschema.MustCompileString(name+".schema.json", text) })
}

// errNoText is Slack's answer to a message that would show nothing.
var errNoText = errors.New("no_text")

// check returns why the receiver would not show a message.
func (f form) check(contentType string, body []byte) error {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/json" {
		return f.refuse(fmt.Errorf("its content type is %q; send application/json", contentType))
	}
	if len(body) > f.largest {
		return f.refuse(fmt.Errorf("it has %d bytes; send %d at most", len(body), f.largest))
	}
	var document any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return f.refuse(err)
	}
	cause := new(jsonschema.ValidationError)
	if err := f.schema().Validate(document); errors.As(err, &cause) {
		for len(cause.Causes) > 0 {
			cause = cause.Causes[0]
		}
		return f.refuse(fmt.Errorf("%s: %s", cmp.Or(cause.InstanceLocation, "/"), cause.Message))
	}
	if m, ok := document.(map[string]any); ok && f.accepted == http.StatusOK && m["text"] == nil && m["attachments"] == nil && m["blocks"] == nil {
		return errNoText
	}
	return nil
}

func (f form) refuse(why error) error {
	if f.refusal != "" {
		return errors.New(f.refusal)
	}
	return why
}

// split is the receiver of a path, and the channel.
func split(path string) (of form, checked bool, channel string) {
	first, rest, _ := strings.Cut(path, "/")
	if of, checked = forms[first]; checked && rest != "" {
		return of, true, rest
	}
	return form{accepted: http.StatusOK}, false, path
}
