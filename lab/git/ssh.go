package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// SSH serves repositories over SSH, by git's own programs.
type SSH struct {
	// Repository beside which all of them are.
	Repository *Repository
	// Host is the server's key.
	Host ssh.Signer
	// Readers and Writers are the keys of who may read, and of who may push, too.
	Readers, Writers []ssh.PublicKey
}

// writes is set in the permissions of a connection that may push.
const writes = "tombolo-writes"

// Serve answers connections until the listener is closed.
func (s *SSH) Serve(ctx context.Context, l net.Listener) {
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		switch {
		case among(s.Writers, key):
			return &ssh.Permissions{Extensions: map[string]string{writes: "yes"}}, nil
		case among(s.Readers, key):
			return &ssh.Permissions{}, nil
		}
		return nil, errors.New("no such key")
	}}
	config.AddHostKey(s.Host)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go s.connection(ctx, conn, config)
	}
}

func among(keys []ssh.PublicKey, key ssh.PublicKey) bool {
	for _, k := range keys {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return true
		}
	}
	return false
}

func (s *SSH) connection(ctx context.Context, conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return // the client knows
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go s.session(ctx, channel, requests, server.Permissions.Extensions[writes] != "")
	}
}

// session runs the one command that a session has.
func (s *SSH) session(ctx context.Context, channel ssh.Channel, requests <-chan *ssh.Request, push bool) {
	defer func() { _ = channel.Close() }() // who is gone has closed it
	for r := range requests {
		var asked struct{ Command string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &asked) != nil {
			_ = r.Reply(r.Type == "env", nil) // git sends its protocol's version, and does without
			continue
		}
		_ = r.Reply(true, nil)
		status := struct{ Status uint32 }{}
		if err := s.run(ctx, channel, asked.Command, push); err != nil {
			_, _ = fmt.Fprintln(channel.Stderr(), "ERROR:", err)
			status.Status = 1
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
		return
	}
}

func (s *SSH) run(ctx context.Context, channel ssh.Channel, command string, push bool) error {
	program, name, _ := strings.Cut(command, " ")
	name = filepath.Base(strings.Trim(name, "'"))
	switch {
	case program == "git-receive-pack" && !push:
		return errors.New("The key you are authenticating with has been marked as read only.") //nolint:revive,staticcheck // as GitHub says it
	case program != "git-upload-pack" && program != "git-receive-pack":
		return errors.New("git's commands only")
	}
	cmd := exec.CommandContext(ctx, program, filepath.Join(filepath.Dir(s.Repository.dir), name))
	cmd.Env = s.Repository.environment()
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(in, channel) // who is gone has sent all
		_ = in.Close()
	}()
	return cmd.Wait()
}
