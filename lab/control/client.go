package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// ErrNotRunning is wrapped by what needs a running lab.
var ErrNotRunning = errors.New("the lab is not running; run `tombolo lab up`")

// ErrHangs is wrapped by what needs a lab that answers.
var ErrHangs = errors.New("the lab hangs or was stopped: run `tombolo lab down`, which ends it, then `tombolo lab up`")

// answerTimeout is how long the daemon may take for what needs nothing but itself. It writes to
// the disk, on a machine that may be busy with several labs.
const answerTimeout = 15 * time.Second

// Client asks the daemon that is written down in a file.
type Client struct{ File string }

// Running is the daemon that runs. Without one it fails with ErrNotRunning.
func (c Client) Running() (Daemon, error) {
	daemon, found, err := ReadDaemon(c.File)
	if err == nil && (!found || !daemon.Alive()) {
		err = ErrNotRunning
	}
	return daemon, err
}

// Ask is Call for what the daemon answers at once. One that is there and does
// not answer is an error that says what to do about it.
func (c Client) Ask(ctx context.Context, method, path string, in, out any) error {
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err := c.Call(bounded, method, path, in, out)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return fmt.Errorf("no answer in %v: %w; %w", answerTimeout, err, ErrHangs)
	}
	return err
}

// Call asks the daemon; out may be nil. Without a daemon it fails with
// ErrNotRunning.
func (c Client) Call(ctx context.Context, method, path string, in, out any) error {
	daemon, err := c.Running()
	if err != nil {
		return err
	}
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", daemon.Socket)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		err = fmt.Errorf("ask the lab's daemon (pid %d): %w", daemon.PID, err)
		if !daemon.Alive() {
			err = fmt.Errorf("%w; %w", err, ErrNotRunning)
		}
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return errors.New(strings.TrimSpace(string(text)))
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	return nil
}
