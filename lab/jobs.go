package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"

	"tombolo/internal/file"
	"tombolo/lab/component"
	"tombolo/lab/entra"
)

// JobVariable names the environment variable with a job of a pipeline in Azure: the client id of an
// identity, and the issuer and the subject of the job's token, with spaces between. Commands then
// work in the lab as that identity, if one of its federated credentials is for the token.
const JobVariable = "TOMBOLO_LAB_JOB"

// jobIssuers are those of hosts of pipelines, which the lab signs for; there is no such host in it.
func jobIssuers() []string {
	return []string{"https://token.actions.githubusercontent.com", "https://gitlab.com", "https://" + entra.LoginHost + "/" + AzureTenant + "/v2.0"}
}

// job is one that signs in.
type job struct{ Client, Issuer, Subject string }

// jobOf reads the variable; nil without it.
func jobOf(text string) (*job, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.SplitN(text, " ", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("read %s: %q is not a client id, an issuer and a subject, with spaces between", JobVariable, text)
	}
	return &job{parts[0], parts[1], parts[2]}, nil
}

// jobAnswer is what a job works with: its token, and the port of the provider that acts as it.
type jobAnswer struct {
	Token string `json:"token"`
	Port  int    `json:"port"`
}

// jobs are the providers that act as identities, by the identities' objects.
type jobs struct {
	mu    sync.Mutex
	ports map[string]int
	ends  []func()
}

// signIn gives a job a token of its host, which Entra has to take for the identity.
func (d *daemon) signIn(_ context.Context, j job) (jobAnswer, error) {
	if !slices.Contains(jobIssuers(), j.Issuer) {
		return jobAnswer{}, fmt.Errorf("sign a job in: the lab signs for no %s; use one of %s", j.Issuer, strings.Join(jobIssuers(), ", "))
	}
	token, err := d.pipelineToken(j.Issuer, j.Subject)
	if err != nil {
		return jobAnswer{}, err
	}
	proof, err := d.entra.Token(entra.Federated(j.Client, token, "https://management.azure.com"))
	if err != nil {
		return jobAnswer{}, fmt.Errorf("sign a job in: %w", err)
	}
	who, err := d.entra.Holder(proof)
	if err != nil {
		return jobAnswer{}, err
	}
	port, err := d.providerOf(who.ObjectID)
	return jobAnswer{token, port}, err
}

// pipelineToken is a token of a pipeline's host for Entra.
func (d *daemon) pipelineToken(issuer, subject string) (string, error) {
	now := time.Now()
	return d.people.Token(map[string]any{
		"iss": issuer, "sub": subject, "aud": entra.ExchangeAudience,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(pipelineLifetime).Unix(),
	})
}

// providerOf is the port of the provider for Azure that acts as an object of Entra. It listens until
// the daemon ends.
func (d *daemon) providerOf(object string) (int, error) {
	d.jobs.mu.Lock()
	defer d.jobs.mu.Unlock()
	if port, known := d.jobs.ports[object]; known {
		return port, nil
	}
	listener, err := listenForOwn(loopback(0), d.log)
	if err != nil {
		return 0, fmt.Errorf("listen for the provider of a job: %w", err)
	}
	server := providerServer(d.azure.ProviderAs(object))
	go func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			d.log.Error("the provider of a job has ended", "reason", err)
		}
	}()
	_, text, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("listen for the provider of a job: %w", err)
	}
	port, err := strconv.Atoi(text)
	if d.jobs.ports == nil {
		d.jobs.ports = map[string]int{}
	}
	d.jobs.ports[object], d.jobs.ends = port, append(d.jobs.ends, server.Stop)
	return port, err
}

// providerServer serves a provider of Pulumi.
func providerServer(p pulumirpc.ResourceProviderServer) *grpc.Server {
	server := grpc.NewServer(grpc.MaxRecvMsgSize(component.Largest), grpc.MaxSendMsgSize(component.Largest))
	pulumirpc.RegisterResourceProviderServer(server, p)
	return server
}

// stop ends the providers.
func (j *jobs) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, end := range j.ends {
		end()
	}
}

// membership is an object of Entra in a group.
type membership struct{ Group, Member string }

// AddMember makes an object of Entra, such as an identity, a member of a group, by the object ids of
// both.
func (l *Lab) AddMember(ctx context.Context, group, member string) error {
	if err := l.daemon().Ask(ctx, http.MethodPost, "/members", membership{group, member}, &struct{}{}); err != nil {
		return fmt.Errorf("add %s to group %s: %w", member, group, err)
	}
	return nil
}

func (d *daemon) serveJobs(mux *http.ServeMux) {
	handle(mux, "POST /job", d.signIn)
	handle(mux, "POST /person", d.person)
	handle(mux, "POST /members", func(_ context.Context, m membership) (struct{}, error) {
		d.jobs.mu.Lock()
		defer d.jobs.mu.Unlock()
		all, err := d.lab.paths().readMembers()
		if err != nil || slices.Contains(all, m) {
			return struct{}{}, err
		}
		text, err := json.Marshal(append(all, m))
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, file.Replace(d.lab.paths().members(), text, 0o600)
	})
}

// groupsOf are the groups of an object.
func (d *daemon) groupsOf(object string) []string {
	all, err := d.lab.paths().readMembers()
	if err != nil {
		d.log.Error("the members of groups cannot be read", "reason", err)
	}
	var groups []string
	for _, m := range all {
		if strings.EqualFold(m.Member, object) {
			groups = append(groups, m.Group)
		}
	}
	return groups
}

func (p paths) members() string { return p.in("entra-members.json") }

func (p paths) readMembers() ([]membership, error) {
	text, err := os.ReadFile(p.members())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []membership
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the members of groups: %w", err)
	}
	return all, nil
}
