package handover

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
