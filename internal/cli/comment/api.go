package comment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// api calls a host's API.
type api struct {
	client *http.Client
	base   string
	token  string
	// authorize puts the token where the host looks for it.
	authorize func(*http.Request)
}

// statusError is an answer that is none of what was asked for.
type statusError struct {
	method, url string
	code        int
	text        string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: the host answers %d %s", e.method, e.url, e.code, e.text)
}

// mostAnswer bounds an answer, in bytes: a page of a hundred comments of the
// largest size that GitHub takes is below it.
const mostAnswer = 64 << 20

// call sends a document, if any, and reads one, if any is wanted.
func (a api) call(ctx context.Context, method, url string, send, receive any) (http.Header, error) {
	var body io.Reader
	if send != nil {
		text, err := json.Marshal(send)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "tombolo")
	a.authorize(request)
	response, err := a.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the host: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the host's answer: %w", err)
	}
	if response.StatusCode/100 != 2 {
		return nil, &statusError{method: method, url: url, code: response.StatusCode, text: reason(text)}
	}
	if receive != nil {
		if err := json.Unmarshal(text, receive); err != nil {
			return nil, fmt.Errorf("%s %s: the answer is not what the host's API promises: %w", method, url, err)
		}
	}
	return response.Header, nil
}

// reason is what the host says of an error.
func reason(text []byte) string {
	var said struct {
		Message any `json:"message"`
		Error   any `json:"error"`
	}
	if json.Unmarshal(text, &said) != nil {
		return ""
	}
	for _, m := range []any{said.Message, said.Error} {
		if m != nil {
			return fmt.Sprint(m)
		}
	}
	return ""
}
