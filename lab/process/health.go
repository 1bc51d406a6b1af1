package process

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// HTTPHealthy is a health check: a GET of url must answer 200. trust may be
// nil for plain HTTP.
func HTTPHealthy(url string, trust *tls.Config) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("make the health request: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		return fmt.Errorf("GET %s: %s: %s", url, resp.Status, failing(string(body)))
	}
}

// Listening is a health check: something takes connections on a port of
// 127.0.0.1.
func Listening(port int) func(context.Context) error {
	return func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return err
		}
		return conn.Close()
	}
}

// failing picks the checks that failed out of a Kubernetes health report, or
// the first line of any other answer.
func failing(body string) string {
	var lines []string
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "[-]") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, ", ")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	return first
}

// PortFree says that a port of 127.0.0.1 can be listened on; its error names
// the process that has it, where that can be found out.
func PortFree(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err == nil {
		return l.Close()
	}
	if holder := portHolder(port); holder != "" {
		return fmt.Errorf("port %d is taken by %s; stop that process, then run it again", port, holder)
	}
	return fmt.Errorf("port %d cannot be listened on (%w); free it, then run it again", port, err)
}
