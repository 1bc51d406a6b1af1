package handover

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"tombolo/internal/names"
)

// access gives git the credentials: in its environment and in files that
// nobody else can read, where no list of processes shows them. The user's own
// helpers are left out: they would answer with other credentials, or store
// these.
func (g *git) access(c Credentials) ([][2]string, error) {
	if c.PrivateKey == "" {
		u, err := url.Parse(g.url)
		if err != nil {
			return nil, err
		}
		g.env = append(g.env, "GIT_ASKPASS=") // as an editor's terminal sets it
		server := (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
		return [][2]string{
			{"credential.helper", ""},
			{"http." + server + "/.extraHeader", "Authorization: Basic " + basic(c)},
		}, nil
	}
	key, hosts := filepath.Join(g.dir, "key"), filepath.Join(g.dir, "known_hosts")
	// ssh wants the end of the last line.
	if err := os.WriteFile(key, []byte(strings.TrimRight(c.PrivateKey, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(hosts, []byte(strings.TrimRight(c.KnownHosts, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	g.env = append(g.env, "GIT_SSH_VARIANT=ssh", fmt.Sprintf(
		"GIT_SSH_COMMAND=ssh -F /dev/null -i '%s' -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes"+
			" -o StrictHostKeyChecking=yes -o UserKnownHostsFile='%s' -o GlobalKnownHostsFile=/dev/null", key, hosts))
	return nil, nil
}

func basic(c Credentials) string {
	return base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
}

// withSettings adds settings to those that the environment has for git.
func withSettings(env []string, settings [][2]string) []string {
	const counter = "GIT_CONFIG_COUNT="
	n := 0
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, counter); ok {
			n, _ = strconv.Atoi(value) // git itself reports a bad one
		}
	}
	for _, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s[1]))
		n++
	}
	return append(env, counter+strconv.Itoa(n))
}

// mask hides secrets in what git and servers write.
type mask struct{ secrets []string }

func newMask(c *Credentials) *mask {
	m := &mask{}
	if c == nil {
		return m
	}
	if c.Password != "" {
		m.secrets = append(m.secrets, basic(*c), c.Password, url.QueryEscape(c.Password), url.PathEscape(c.Password))
	}
	for line := range strings.Lines(c.PrivateKey) {
		if line = strings.TrimSpace(line); len(line) > 16 && !strings.HasPrefix(line, "-----") {
			m.secrets = append(m.secrets, line)
		}
	}
	return m
}

// userinfo is what stands before the host of a URL: the user's own settings may
// have put a token there.
var userinfo = regexp.MustCompile(`([a-z+]+://)[^/@\s']+@`)

func (m *mask) hide(text string) string {
	for _, s := range m.secrets {
		text = strings.ReplaceAll(text, s, names.Secret)
	}
	return userinfo.ReplaceAllString(text, "$1")
}
