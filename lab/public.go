package lab

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tombolo/internal/file"
	"tombolo/lab/charts"
	"tombolo/lab/git"
	"tombolo/lab/substitute"
)

// public are hosts of the outside that the lab plays by https, so that the files of a real cluster
// are right in the lab, too: those of publishers of charts, and those of the repositories that the
// project's clusters follow.
type public struct {
	lab    *Lab
	charts charts.Public
	// reads says that a token of Entra's is of a user of the lab's Azure DevOps organisation.
	reads func(token string) bool
	// pushed is told of new commits in a repository.
	pushed func(r *substitute.Repository, before, after string)

	looking sync.Mutex
	looked  time.Time

	mu           sync.Mutex
	repositories []*substitute.Repository
}

// lookAgain is how long what a look has found is taken for all there is.
const lookAgain = 10 * time.Second

func (l *Lab) newPublic() (*public, error) {
	has, err := charts.NewPublic(l.paths().charts())
	return &public{lab: l, charts: has}, err
}

// answers says that a host is played.
func (p *public) answers(host string) bool {
	return p.charts.Has(strings.ToLower(host)) || p.find(host, "/") != nil
}

// find is repositoryAt, after another look where the last one may be older than a cluster file.
func (p *public) find(host, at string) *substitute.Repository {
	r := p.repositoryAt(host, at)
	p.looking.Lock()
	old := time.Since(p.looked) > lookAgain
	p.looking.Unlock()
	if r != nil || !old {
		return r
	}
	if _, err := p.look(context.Background()); err != nil {
		return nil // `tombolo lab up` says why
	}
	return p.repositoryAt(host, at)
}

// look reads the cluster files, and brings what their clusters follow into the repositories. It notes
// which of them have commits of their own, and stay as they are.
func (p *public) look(ctx context.Context) (notes []string, failed error) {
	p.looking.Lock()
	defer p.looking.Unlock()
	p.looked = time.Now()
	found := substitute.Repositories(p.lab.root)
	for _, r := range found {
		seeding, err := p.lab.follow(ctx, r)
		failed = errors.Join(failed, err)
		if seeding.Note != "" {
			notes = append(notes, seeding.Note)
		}
		if seeding.Changed {
			p.pushed(r, seeding.Before, seeding.Commit)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.repositories = found
	return notes, failed
}

// follow brings the content of a repository into the lab's.
func (l *Lab) follow(ctx context.Context, r *substitute.Repository) (git.Seeding, error) {
	repository := git.Open(l.paths().public(r), l.paths().home())
	seeding, err := repository.SeedProject(ctx, r.Dir)
	if err == nil && r.User == "" && !r.Identity {
		err = repository.Publish()
	}
	for _, branch := range r.Branches {
		if err == nil {
			err = repository.Also(ctx, branch)
		}
	}
	return seeding, err
}

// serves says that there is a repository.
func (p *public) serves() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.repositories) > 0
}

// repositoryAt is the repository of a URL; with the path / any of the host.
func (p *public) repositoryAt(host, at string) *substitute.Repository {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.repositories {
		if _, below := r.Below(at); strings.EqualFold(r.URL.Host, host) && (at == "/" || below) {
			return r
		}
	}
	return nil
}

// ServeHTTP answers as the host of a request does.
func (p *public) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	at := path.Clean("/" + req.URL.Path)
	r := p.repositoryAt(req.Host, at)
	if r == nil && !p.charts.Has(strings.ToLower(req.Host)) {
		r = p.find(req.Host, at)
	}
	if r == nil {
		p.charts.ServeHTTP(w, req)
		return
	}
	rest, _ := r.Below(at)
	there := req.Clone(req.Context())
	there.URL.Path = "/" + r.Name() + rest
	repository := git.Open(p.lab.paths().public(r), p.lab.paths().home())
	repository.HandlerFor(p.may(r), func(_, before, after string) {
		p.pushed(r, before, after)
	}).ServeHTTP(w, there)
}

// may says who may use a repository: who has the lab's token, by any name, who comes as the
// cluster file says, where its password is not the lab's, and an identity that is a user.
func (p *public) may(r *substitute.Repository) git.Allows {
	return func(user, password string) (bool, error) {
		token, err := secret(p.lab.paths().gitToken())
		if err != nil {
			return false, err
		}
		if r.Identity && user == "" {
			return p.reads(password), nil
		}
		asFile := user == r.User && r.User != "" && password != "" && !r.Token
		return asFile || git.Equal(password, token), nil
	}
}

// certificate is that of a host, for the server of all that the tunnel leads to; nil for hosts that
// have one already.
func (d *daemon) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	host := strings.ToLower(hello.ServerName)
	if !isVault(host) && !d.public.answers(host) {
		return nil, nil //nolint:nilnil // the server then takes the one that it has
	}
	return d.authority.Server(host)
}

// settings are Git's, as variables of its environment: how it reaches the hosts of the lab.
func (l *Lab) gitSettings(proxy string) map[string]string {
	all := [][2]string{{"http.http://" + GitHost + "/.proxy", proxy}}
	for _, r := range substitute.Repositories(l.root) {
		at := "http." + r.URL.String()
		all = append(all, [2]string{at + ".proxy", proxy}, [2]string{at + ".sslCAInfo", filepath.Join(l.paths().pki(), "ca.crt")})
		if token, err := secret(l.paths().gitToken()); r.Identity && err == nil { // people's own git signs in, and no key of the file says how
			all = append(all, [2]string{at + ".extraHeader", "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(gitUser+":"+token))})
		}
	}
	env := map[string]string{"GIT_CONFIG_COUNT": fmt.Sprint(len(all))}
	if own := os.Getenv(gitAuthorities); own != "" && len(all) > 1 {
		env[gitAuthorities] = l.gitAuthorities(own)
	}
	for i, s := range all {
		env[fmt.Sprintf("GIT_CONFIG_KEY_%d", i)], env[fmt.Sprintf("GIT_CONFIG_VALUE_%d", i)] = s[0], s[1]
	}
	return env
}

// gitAuthorities is a variable that wins over Git's settings for a URL.
const gitAuthorities = "GIT_SSL_CAINFO"

// gitAuthorities is a file with the lab's authority before those of somebody's own file, which stays
// in force where the lab's cannot be written.
func (l *Lab) gitAuthorities(own string) string {
	both := filepath.Join(l.paths().pki(), "git.crt")
	if own == both {
		return both
	}
	ca, err := os.ReadFile(filepath.Join(l.paths().pki(), "ca.crt"))
	theirs, readErr := os.ReadFile(own)
	if errors.Join(err, readErr) != nil || file.Replace(both, append(ca, theirs...), 0o644) != nil {
		return own
	}
	return both
}

// manifests puts the lab's manifests of engines where programs look for the releases that cluster files
// name, by the checksums there: nothing is downloaded in the lab.
func (l *Lab) manifests() error {
	dir := l.paths().manifests()
	for _, c := range substitute.Clusters(l.root) {
		from, err := substitute.ManifestOf(l.built(), c)
		if err != nil || from == "" {
			continue // said before the cluster is worked on
		}
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		to := filepath.Join(dir, c.GitOps.Distribution.SHA256)
		if _, known := os.Stat(to); err == nil && errors.Is(known, fs.ErrNotExist) {
			err = file.Replace(to, text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("keep the manifest of %s in the lab: %w", c.GitOps.Engine, err)
		}
	}
	return nil
}
