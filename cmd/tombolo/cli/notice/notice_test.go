package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/automation/rollout"
	"tombolo/config"
)

// inbox is a channel. It answers with answers in turn, and with 200 after them.
type inbox struct {
	*httptest.Server
	mu       sync.Mutex
	answers  []func(http.ResponseWriter)
	received []string
}

// secret is in the path of each channel, as Slack and Teams have it.
const secret = "/services/T0/hunter2"

func newInbox(t *testing.T, answers ...func(http.ResponseWriter)) *inbox {
	t.Helper()
	i := &inbox{answers: answers}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		i.received = append(i.received, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
		if len(i.answers) > 0 {
			answer := i.answers[0]
			i.answers = i.answers[1:]
			answer(w)
		}
	}))
	t.Cleanup(i.Close)
	return i
}

func status(code int, body string, header ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// fixture is a sender whose channels are at addresses.
type fixture struct {
	Sender
	addresses map[string]string
	warnings  []string
	paused    []time.Duration
}

func newFixture() *fixture {
	fx := &fixture{addresses: map[string]string{}}
	fx.Who, fx.Link = "alice@laptop", "https://ci.example.com/runs/7?a=1|2"
	fx.Address = func(_ context.Context, c *config.Cluster) (string, error) {
		if address, ok := fx.addresses[c.Name]; ok {
			return address, nil
		}
		return "", errors.New("gitops.channel.address: the environment variable TOMBOLO_CHANNEL is not set")
	}
	var mu sync.Mutex
	fx.Warn = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		fx.warnings = append(fx.warnings, err.Error())
	}
	fx.Pause = func(_ context.Context, d time.Duration) error {
		fx.paused = append(fx.paused, d)
		return nil
	}
	return fx
}

func cluster(name string, kind config.ChannelType, notices config.Notices) *config.Cluster {
	return &config.Cluster{Name: name, GitOps: config.GitOps{Channel: &config.Channel{Type: kind, Notices: notices}}}
}

func changed(c *config.Cluster) Cluster {
	return Cluster{Cluster: c, Outcome: rollout.Succeeded, Did: "2 created", Took: 90 * time.Second}
}

func failed(c *config.Cluster) Cluster {
	return Cluster{Cluster: c, Outcome: rollout.Failed, Cause: "up core: <!channel> [x](https://evil.example) no quota", Took: time.Minute}
}

func unchanged(c *config.Cluster) Cluster {
	return Cluster{Cluster: c, Outcome: rollout.Succeeded}
}

func TestFormats(t *testing.T) {
	for _, kind := range []config.ChannelType{config.SlackChannel, config.TeamsChannel, config.GenericChannel} {
		t.Run(string(kind), func(t *testing.T) {
			fx, in := newFixture(), newInbox(t)
			run := Run{Command: "up", Took: 3*time.Minute + 4*time.Second}
			for i, of := range []func(*config.Cluster) Cluster{changed, failed, unchanged} {
				c := cluster([]string{"shop", "edge", "tools"}[i], kind, config.RunNotices)
				fx.addresses[c.Name] = in.URL + secret
				run.Clusters = append(run.Clusters, of(c))
			}
			fx.Send(t.Context(), run)
			assert.Check(t, is.Len(fx.warnings, 0))
			assert.Assert(t, is.Len(in.received, 1), "one message for the channel")
			head, body, _ := strings.Cut(in.received[0], "{")
			assert.Equal(t, head, "POST "+secret+" application/json ")
			var document any
			assert.NilError(t, json.Unmarshal([]byte("{"+body), &document))
			shown, err := json.MarshalIndent(document, "", "  ")
			assert.NilError(t, err)
			golden.Assert(t, string(shown)+"\n", string(kind)+".json")
		})
	}
}

// TestWhatIsTold: what changes nothing tells nobody, and neither does a file that does not ask.
func TestWhatIsTold(t *testing.T) {
	for _, test := range []struct {
		notices config.Notices
		of      func(*config.Cluster) Cluster
		told    bool
	}{
		{"", failed, false},
		{config.NoNotices, failed, false},
		{config.FailureNotices, failed, true},
		{config.FailureNotices, changed, false},
		{config.RunNotices, failed, true},
		{config.RunNotices, changed, true},
		{config.RunNotices, unchanged, false},
	} {
		fx, in := newFixture(), newInbox(t)
		c := cluster("demo", config.SlackChannel, test.notices)
		fx.addresses["demo"] = in.URL + secret
		read := false
		address := fx.Address
		fx.Address = func(ctx context.Context, c *config.Cluster) (string, error) {
			read = true
			return address(ctx, c)
		}
		fx.Send(t.Context(), Run{Command: "up", Clusters: []Cluster{test.of(c)}})
		assert.Check(t, is.Equal(len(in.received) == 1, test.told), "%s", test.notices)
		assert.Check(t, is.Equal(read, test.told), "an address that nobody needs is not read")
		assert.Check(t, is.Len(fx.warnings, 0))
	}
	var none *Sender
	none.Prepare(t.Context(), nil)
	none.Send(t.Context(), Run{Clusters: []Cluster{failed(cluster("demo", config.SlackChannel, config.RunNotices))}})
}

func TestAMessageForEachChannel(t *testing.T) {
	fx, platform, edge := newFixture(), newInbox(t), newInbox(t)
	run := Run{Command: "destroy"}
	for i := range 30 {
		c := cluster(fmt.Sprintf("c%02d", i), config.SlackChannel, config.RunNotices)
		fx.addresses[c.Name] = platform.URL + secret
		if i == 29 {
			fx.addresses[c.Name] = edge.URL + secret
		}
		run.Clusters = append(run.Clusters, changed(c))
	}
	run.Clusters[28] = failed(run.Clusters[28].Cluster)
	fx.Send(t.Context(), run)
	assert.Assert(t, is.Len(platform.received, 1))
	assert.Assert(t, is.Len(edge.received, 1))
	got := platform.received[0]
	assert.Check(t, is.Contains(got, "destroy of 29 clusters: 28 succeeded, 1 failed"))
	assert.Check(t, is.Contains(got, "and 9 other clusters"))
	assert.Check(t, strings.Index(got, "c28:") > 0 && strings.Index(got, "c28:") < strings.Index(got, "c00:"), "what failed comes first")
	assert.Check(t, is.Contains(edge.received[0], "destroy of c29: succeeded"))
}

// TestRefusals: there is one second attempt, where the channel may take it.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		answers []func(http.ResponseWriter)
		sent    int
		paused  []time.Duration
		warning string
	}{
		{answers: []func(http.ResponseWriter){status(202, "")}, sent: 1},
		{answers: []func(http.ResponseWriter){status(429, "", "Retry-After", "7")}, sent: 2, paused: []time.Duration{7 * time.Second}},
		{answers: []func(http.ResponseWriter){status(503, "")}, sent: 2, paused: []time.Duration{time.Second}},
		{
			answers: []func(http.ResponseWriter){status(429, "", "Retry-After", "600")}, sent: 1,
			warning: "it answers 429 Too Many Requests, and asks to wait 10m0s",
		},
		{
			answers: []func(http.ResponseWriter){status(500, ""), status(502, "")}, sent: 2, paused: []time.Duration{time.Second},
			warning: "it answers 502 Bad Gateway",
		},
		{answers: []func(http.ResponseWriter){status(404, "no_service")}, sent: 1, warning: "it answers 404 Not Found: no_service"},
		{answers: []func(http.ResponseWriter){status(400, "no workflow at "+secret)}, sent: 1, warning: "it answers 400 Bad Request"},
		{
			answers: []func(http.ResponseWriter){status(302, "", "Location", "https://elsewhere.example.com/")}, sent: 1,
			warning: "it answers 302 Found",
		},
	} {
		fx, in := newFixture(), newInbox(t, test.answers...)
		fx.addresses["demo"] = in.URL + secret
		fx.Send(t.Context(), Run{Command: "up", Clusters: []Cluster{changed(cluster("demo", config.SlackChannel, config.RunNotices))}})
		assert.Check(t, is.Len(in.received, test.sent))
		assert.Check(t, is.DeepEqual(fx.paused, test.paused))
		var want []string
		if test.warning != "" {
			want = []string{"the channel of demo is not told how the up ended: " + test.warning}
		}
		assert.Check(t, is.DeepEqual(fx.warnings, want))
	}
}

// TestNoWarningHasTheAddress: net/http puts it into its errors.
func TestNoWarningHasTheAddress(t *testing.T) {
	gone := newInbox(t)
	gone.Close()
	for _, address := range []string{
		gone.URL + secret, "https://nowhere.test" + secret, "http://user:hunter2@127.0.0.1:1/", "http://127.0.0.1:1%zz/hunter2", "gopher://host/hunter2",
	} {
		fx := newFixture()
		fx.addresses["demo"] = address
		fx.Send(t.Context(), Run{Command: "up", Clusters: []Cluster{changed(cluster("demo", config.SlackChannel, config.RunNotices))}})
		assert.Assert(t, is.Len(fx.warnings, 1))
		assert.Check(t, !strings.Contains(fx.warnings[0], "hunter2"), "%s", fx.warnings[0])
	}
	fx := newFixture()
	fx.Send(t.Context(), Run{Command: "up", Clusters: []Cluster{changed(cluster("demo", config.SlackChannel, config.RunNotices))}})
	assert.DeepEqual(t, fx.warnings, []string{
		"the channel of demo is not told how the up ended: gitops.channel.address: the environment variable TOMBOLO_CHANNEL is not set",
	})
}

func TestByAProxy(t *testing.T) {
	proxy := newInbox(t)
	at, err := url.Parse(proxy.URL)
	assert.NilError(t, err)
	fx := newFixture()
	fx.Proxy = func(*url.URL) (*url.URL, error) { return at, nil }
	fx.addresses["demo"] = "http://hooks.test" + secret
	fx.Send(t.Context(), Run{Command: "up", Clusters: []Cluster{changed(cluster("demo", config.TeamsChannel, config.RunNotices))}})
	assert.Check(t, is.Len(fx.warnings, 0))
	assert.Check(t, is.Len(proxy.received, 1))
}

// TestAnInterruptedRunIsTold: its context has ended.
func TestAnInterruptedRunIsTold(t *testing.T) {
	fx, in := newFixture(), newInbox(t)
	fx.addresses["demo"] = in.URL + secret
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fx.Send(ctx, OfOne("rebuild", cluster("demo", config.SlackChannel, config.FailureNotices), "Kubernetes 1.36", time.Minute, fmt.Errorf("destroy: %w", ctx.Err())))
	assert.Assert(t, is.Len(in.received, 1))
	assert.Check(t, is.Contains(in.received[0], "rebuild of demo: interrupted"))
	assert.Check(t, !strings.Contains(in.received[0], "1.36"), "it was not rebuilt")
}

// TestAddressesAreReadAhead: a destruction takes away the stack that keeps them.
func TestAddressesAreReadAhead(t *testing.T) {
	fx, in := newFixture(), newInbox(t)
	fx.addresses["demo"] = in.URL + secret
	c := cluster("demo", config.SlackChannel, config.RunNotices)
	fx.Prepare(t.Context(), []*config.Cluster{c, {Name: "other"}})
	clear(fx.addresses)
	fx.Send(t.Context(), Run{Command: "destroy", Clusters: []Cluster{changed(c)}})
	assert.Check(t, is.Len(in.received, 1))
	assert.Check(t, is.Len(fx.warnings, 0))
}

func TestOfFleet(t *testing.T) {
	c := cluster("demo", config.SlackChannel, config.RunNotices)
	r := OfFleet([]*config.Cluster{c}, rollout.Summary{Operation: "up", Duration: time.Minute, Clusters: []rollout.End{
		{Cluster: "demo", Outcome: rollout.Succeeded, Changes: map[string]int{"same": 90, "read": 2, "update": 1, "create": 5}, Duration: time.Second},
	}})
	assert.Equal(t, r.Clusters[0].Did, "5 created, 1 updated")
	assert.Equal(t, r.Clusters[0].told(), "succeeded in 1s: 5 created, 1 updated")
	same := OfFleet([]*config.Cluster{c}, rollout.Summary{Clusters: []rollout.End{{Cluster: "demo", Changes: map[string]int{"same": 90, "read": 2, "update": 0}}}})
	assert.Equal(t, same.Clusters[0].Did, "", "nothing was changed")
}

func TestRetryAfter(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	for header, want := range map[string]time.Duration{
		"": 0, "3": 3 * time.Second, "-1": 0, "soon": 0, "Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Thu, 01 Jan 2026 00:00:00 GMT": 0,
	} {
		assert.Check(t, is.Equal(retryAfter(header, now), want), header)
	}
}
