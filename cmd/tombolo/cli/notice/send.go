package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tombolo/config"
	"tombolo/internal/sleep"
	"tombolo/internal/wording"
)

const (
	// answerTimeout is the longest wait for one answer of a channel, and sendTimeout that for all
	// channels, with the second attempts: a run has ended, and people wait for the prompt.
	answerTimeout = 10 * time.Second
	sendTimeout   = 30 * time.Second
	// shortestPause is that before the second attempt, and longestPause the longest that a channel may ask
	// for. Slack takes a message a second:
	// https://docs.slack.dev/apis/web-api/rate-limits
	shortestPause = time.Second
	longestPause  = 15 * time.Second
	// readAtOnce is how many addresses are read at a time: for one in a stack's config the Pulumi CLI
	// is run.
	readAtOnce = 4
)

// Sender tells channels how one run has ended. Address and Warn are required. A nil Sender sends
// nothing.
type Sender struct {
	// Address reads the address of the channel of a cluster, of several at a time. No error of it holds
	// the address.
	Address func(context.Context, *config.Cluster) (string, error)
	// Warn is called with what was not delivered, and why, from several goroutines.
	Warn func(error)
	// Who has run the command, and Link, the page of its run. Default: neither is told.
	Who, Link string
	// Proxy is that for a URL; nil for none. Default: no proxy.
	Proxy func(*url.URL) (*url.URL, error)
	// Pause waits before a second attempt. Default sleep.For.
	Pause func(context.Context, time.Duration) error

	// known addresses, by the clusters' names.
	known map[string]known
}

// known is the address of a cluster's channel.
type known struct {
	address string
	err     error
}

// Prepare reads the addresses of the clusters' channels ahead, for a command that may take away
// where they are kept.
func (s *Sender) Prepare(ctx context.Context, all []*config.Cluster) {
	if s == nil {
		return
	}
	var unread []*config.Cluster
	for _, c := range all {
		if _, ok := s.known[c.Name]; !ok && c.GitOps.Channel.HasNotices() {
			unread = append(unread, c)
		}
	}
	read := make([]known, len(unread))
	var work errgroup.Group
	work.SetLimit(readAtOnce)
	for i, c := range unread {
		work.Go(func() error {
			read[i].address, read[i].err = s.Address(ctx, c)
			return nil // people are told when the address is needed
		})
	}
	_ = work.Wait()
	if s.known == nil {
		s.known = map[string]known{}
	}
	for i, c := range unread {
		s.known[c.Name] = read[i]
	}
}

// channel is one channel with the clusters that name it.
type channel struct {
	kind    config.ChannelType
	address string
	of      []Cluster
}

// Send tells each channel of the clusters that name it, in one message. What people have asked to
// end is told too, so the end of the context does not keep it back.
func (s *Sender) Send(ctx context.Context, r Run) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	var work sync.WaitGroup
	for _, ch := range s.channels(ctx, r) {
		work.Go(func() {
			if err := s.tell(ctx, r, ch); err != nil {
				s.Warn(fmt.Errorf("the channel of %s is not told how the %s ended: %w", names(ch.of), r.Command, err))
			}
		})
	}
	work.Wait()
}

// channels are those that are told something. When there is none, no address is read.
func (s *Sender) channels(ctx context.Context, r Run) []*channel {
	if !slices.ContainsFunc(r.Clusters, Cluster.wanted) {
		return nil
	}
	s.Prepare(ctx, r.all())
	var out []*channel
	for _, c := range r.Clusters {
		k, ok := s.known[c.Name]
		switch {
		case !ok:
			continue
		case k.err == nil:
			out = join(out, c, k.address)
		case c.wanted():
			s.Warn(fmt.Errorf("the channel of %s is not told how the %s ended: %w", c.Name, r.Command, k.err))
		}
	}
	return slices.DeleteFunc(out, func(ch *channel) bool { return !slices.ContainsFunc(ch.of, Cluster.wanted) })
}

// join puts a cluster to the others of its channel.
func join(all []*channel, c Cluster, address string) []*channel {
	kind := c.GitOps.Channel.Type
	for _, ch := range all {
		if ch.kind == kind && ch.address == address {
			ch.of = append(ch.of, c)
			return all
		}
	}
	return append(all, &channel{kind: kind, address: address, of: []Cluster{c}})
}

// names are those of a channel's clusters: by them people know it, as its address is a secret.
func names(of []Cluster) string {
	const few = 5
	var out []string
	for _, c := range of {
		out = append(out, c.Name)
	}
	if len(out) > few {
		return wording.Count(len(out), "cluster")
	}
	return wording.And(out)
}

func (s *Sender) tell(ctx context.Context, r Run, ch *channel) error {
	body, err := s.compose(r, ch.of).body(ch.kind)
	if err != nil {
		return err
	}
	err = s.post(ctx, ch.address, body)
	refused := new(refusal)
	if !errors.As(err, &refused) || !refused.passes() {
		return err
	}
	wait := max(refused.after, shortestPause)
	if wait > longestPause {
		return fmt.Errorf("%w, and asks to wait %s", err, wait)
	}
	pause := s.Pause
	if pause == nil {
		pause = sleep.For
	}
	if pause(ctx, wait) != nil {
		return err
	}
	return s.post(ctx, ch.address, body)
}

// refusal is an answer that is no success.
type refusal struct {
	code int
	// word is the one that Slack says why with; "" for none.
	word  string
	after time.Duration
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("it answers %d %s", r.code, http.StatusText(r.code))
	if r.word != "" {
		text += ": " + r.word
	}
	return strings.TrimSpace(text)
}

// passes says that a second attempt may succeed.
func (r *refusal) passes() bool {
	return r.code == http.StatusTooManyRequests || r.code >= 500 && r.code != http.StatusNotImplemented
}

// slackWord is how Slack says what is wrong, such as no_service. Nothing else of an answer is
// repeated: it may hold the address.
var slackWord = regexp.MustCompile(`^[a-z_]{1,60}$`)

// post sends one message. A redirect is not followed: the channel's address would be told there.
func (s *Sender) post(ctx context.Context, address string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is not a URL")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "tombolo")
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if s.Proxy != nil {
		transport.Proxy = func(r *http.Request) (*url.URL, error) { return s.Proxy(r.URL) }
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return unaddressed(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 == 2 {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10)) // what it says is only for people
	r := &refusal{code: response.StatusCode, after: retryAfter(response.Header.Get("Retry-After"), time.Now)}
	if word := strings.TrimSpace(string(text)); slackWord.MatchString(word) {
		r.word = word
	}
	return r
}

// unaddressed is an error of net/http without the URL, which is the channel's address.
func unaddressed(err error) error {
	for e := new(url.Error); errors.As(err, &e); {
		err = e.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("it does not answer in time")
	}
	return fmt.Errorf("it cannot be reached: %w", err)
}

// retryAfter is how long an answer asks to wait, in seconds or until a date:
// https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
func retryAfter(header string, now func() time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now()))
	}
	return 0
}
