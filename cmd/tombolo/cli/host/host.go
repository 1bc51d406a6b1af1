// Package host asks the API of a Git host, GitHub's, GitLab's or Azure DevOps's, for
// commands that run in its jobs.
package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tombolo/internal/debuglog"
)

// Client asks an API that takes and gives JSON.
type Client struct {
	// HTTP sends the requests. Default: one like http.DefaultClient. Its CheckRedirect is not
	// asked: see follow.
	HTTP *http.Client
	// Base is the URL of the API, without a slash at its end.
	Base string
	// Header of each request. It has the token, which goes to no other host than
	// Base's. Content-Type is that of a document that is sent; default:
	// application/json.
	Header http.Header
	// Query is what each address has, unless it says something else.
	Query url.Values
}

// GitHub is a client for GitHub's API; "" is github.com's.
func GitHub(base, token string) Client {
	return Client{Base: strings.TrimSuffix(cmp.Or(base, "https://api.github.com"), "/"), Header: http.Header{
		"Authorization": {"Bearer " + token}, "Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"},
	}}
}

// GitLab is a client for GitLab's API; "" is gitlab.com's.
func GitLab(base, token string) Client {
	return Client{Base: strings.TrimSuffix(cmp.Or(base, "https://gitlab.com/api/v4"), "/"), Header: http.Header{"Private-Token": {token}}}
}

const (
	// answerTimeout is the longest wait for one answer.
	answerTimeout = 30 * time.Second
	// signIn is the status with which Azure DevOps sends its page for signing in to
	// whom it does not know. Source: issue 5786 of Azure/azure-sdk-for-cpp at GitHub.
	signIn = http.StatusNonAuthoritativeInfo
	// mostAnswer bounds an answer, in bytes: a page of a hundred comments of the
	// largest size that GitHub takes is below it.
	mostAnswer = 64 << 20
)

// Error is an answer that is not the one that was asked for.
type Error struct {
	// Method and Path of the request.
	Method, Path string
	// Code is the status of the answer.
	Code int
	// Reason is what the host says of it; "" when it says nothing.
	Reason string
	// Limited says that there were too many requests, and After how long the host
	// asks to wait; 0 when it does not say.
	Limited bool
	After   time.Duration
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s: the host answers %d %s", e.Method, e.Path, e.Code, http.StatusText(e.Code))
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Call sends a document, unless it is nil, and reads one into receive, unless
// that is nil. The address is a path below Base, or a URL of the same host, such
// as that of the next page. It returns the answer's header; an answer other than
// a success is an *Error.
func (c Client) Call(ctx context.Context, method, address string, send, receive any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := c.request(ctx, method, address, send)
	if err != nil {
		return nil, err
	}
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.Transport = debuglog.Transport(client.Transport)
	client.CheckRedirect = c.follow
	response, err := client.Do(request)
	if away := new(awayError); errors.As(err, &away) {
		return nil, away // another attempt is of no use, as it would be after an *url.Error
	}
	if err != nil {
		return nil, fmt.Errorf("ask the host: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the host's answer: %w", err)
	}
	if response.StatusCode/100 != 2 || response.StatusCode == signIn {
		return nil, errorOf(request, response, text)
	}
	if receive != nil {
		if err := json.Unmarshal(text, receive); err != nil {
			return nil, fmt.Errorf("%s %s: the answer is not what the host's API promises: %w", method, request.URL.Path, err)
		}
	}
	return response.Header, nil
}

func (c Client) request(ctx context.Context, method, address string, send any) (*http.Request, error) {
	if strings.HasPrefix(address, "/") {
		address = c.Base + address
	}
	target, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read an address of the host's API: %w", err)
	}
	if err := c.stays(target); err != nil {
		return nil, err
	}
	var body io.Reader
	if send != nil {
		text, err := json.Marshal(send)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	query := target.Query()
	for name, values := range c.Query {
		if !query.Has(name) {
			query[name] = values
		}
	}
	if len(c.Query) > 0 {
		target.RawQuery = query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	request.Header = c.Header.Clone()
	if request.Header.Get("Content-Type") == "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("User-Agent", "tombolo")
	return request, nil
}

// awayError is an address of another host, or of another scheme or port of it.
type awayError struct{ to, base string }

func (e *awayError) Error() string {
	return fmt.Sprintf("the host redirects to %s, which is not at %s: the token is not sent there; correct the URL of its API", e.to, e.base)
}

// stays refuses an address that is not at Base's host.
func (c Client) stays(target *url.URL) error {
	base, err := url.Parse(c.Base)
	if err != nil {
		return fmt.Errorf("read the URL of the host's API: %w", err)
	}
	if target.Host != base.Host || target.Scheme != base.Scheme {
		return &awayError{to: target.Redacted(), base: c.Base}
	}
	return nil
}

// mostRedirects is how many a question may take: GitHub has one, for a repository that was
// renamed.
const mostRedirects = 3

// follow lets a question be asked again at the same host. Go takes Authorization away at
// another domain, and no other header, such as GitLab's. What changes something is not sent
// again: after 301, 302 and 303 it would be a question, whose answer looks like success.
func (c Client) follow(request *http.Request, via []*http.Request) error {
	if err := c.stays(request.URL); err != nil && via[0].Method == http.MethodGet {
		return err
	}
	if via[0].Method != http.MethodGet || len(via) > mostRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}

func errorOf(request *http.Request, response *http.Response, text []byte) *Error {
	e := &Error{Method: request.Method, Path: request.URL.Path, Code: response.StatusCode, Reason: reason(text)}
	after := response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil && seconds >= 0 {
		e.After = time.Duration(seconds) * time.Second
	}
	// GitHub refuses too many requests with either code, and says so in a header.
	e.Limited = e.Code == http.StatusTooManyRequests ||
		e.Code == http.StatusForbidden && (after != "" || response.Header.Get("X-RateLimit-Remaining") == "0")
	return e
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

// nextLink is how GitHub names the next page.
var nextLink = regexp.MustCompile(`<([^>]+)>;\s*rel="next"`)

// next is the URL of the page after the one with this header; "" after the last.
func next(header http.Header) string {
	if found := nextLink.FindStringSubmatch(header.Get("Link")); found != nil {
		return found[1]
	}
	return ""
}

// SameText compares texts as hosts keep them: with other line ends, and without the last one.
func SameText(a, b string) bool {
	clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return clean(a) == clean(b)
}

// Refused says whether the host has refused what the token may not do.
func Refused(err error) bool {
	e := new(Error)
	return errors.As(err, &e) && e.Code == http.StatusForbidden && !e.Limited
}

// Missing says whether the host does not have what was asked for.
func Missing(err error) bool {
	e := new(Error)
	return errors.As(err, &e) && e.Code == http.StatusNotFound
}
