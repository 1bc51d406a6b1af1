package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"tombolo/lab/aws/authenticator"
	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/secretsmanager"
	"tombolo/lab/aws/ssm"
	"tombolo/lab/aws/sts"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/resourcemanager"
	"tombolo/lab/charts"
	"tombolo/lab/cloudmanager"
	"tombolo/lab/component"
	"tombolo/lab/controllers"
	"tombolo/lab/controlplane"
	"tombolo/lab/entra"
	"tombolo/lab/git"
	"tombolo/lab/inbox"
	"tombolo/lab/people"
	"tombolo/lab/pki"
	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/proxy"
	"tombolo/lab/standin"
	"tombolo/lab/substitute"
)

// The host names of the lab, known to its proxy alone.
const (
	GitHost    = substitute.Host
	ChartsHost = "charts.lab.test"
	InboxHost  = "inbox.lab.test"
	gitUser    = "lab"
)

// treeFlux is the platform tree for Flux, treeArgoCD the one for Argo CD.
const (
	treeFlux   = "flux"
	treeArgoCD = "argocd"
)

// trees are the platform trees of a checkout, each with the name of the Git
// repository that follows it.
func trees() map[string]string {
	return map[string]string{treeFlux: "platform.git", treeArgoCD: "platform-argocd.git"}
}

// daemon is everything that runs while the lab is up.
type daemon struct {
	lab          *Lab
	log          *slog.Logger
	started      time.Time
	supervisor   *process.Supervisor
	clusters     *clusters
	accounts     accounts
	azure        *standin.Cloud
	eks          *component.Pool
	repositories map[string]*git.Repository // by the platform tree that they follow
	authority    *pki.Authority
	public       *public
	tunnel       *proxy.Tunnel // to the clouds' own hosts, and to public ones
	entra        *entra.Entra
	ports        servicePorts
	token        string // for requests to those ports
	socket       string // for control; those of controllers are beside it
	profile      Profile
	people       *people.Provider
	jobs         jobs // of pipelines that have signed in to Azure
	stop         context.CancelFunc

	mu    sync.Mutex
	notes []string
}

// servicePorts are the ports of the daemon's own servers.
type servicePorts struct {
	provider, reviews, proxy int
	// azure is the provider's for Azure, manager its Resource Manager's.
	azure, manager int
	// secrets is of the key that encrypts the states' secrets, eks of the EKS component.
	secrets, eks int
	// runner is 0 but in a closed network.
	runner int
}

// Serve is the lab's daemon for the checkout at root. It runs until ctx ends,
// it is told to shut down, or it gets SIGTERM; then it ends every process that
// it started. Its own messages go to log.
func Serve(ctx context.Context, root string, log io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d, err := newDaemon(Open(root), log, cancel)
	if err != nil {
		return fmt.Errorf("start the lab: %w", err)
	}
	defer d.close()
	if err := d.serve(ctx); err != nil {
		return fmt.Errorf("run the lab: %w", err)
	}
	return nil
}

// close ends what runs below the daemon, once it takes no more requests.
func (d *daemon) close() {
	d.clusters.agent.Close()
	d.clusters.cloud.Close()
	d.clusters.planes.Close()
	d.eks.Close()
	d.supervisor.Close()
	d.accounts.close()
	d.azure.Close()
}

// newDaemon puts the parts together. Nothing listens yet.
func newDaemon(l *Lab, log io.Writer, stop context.CancelFunc) (*daemon, error) {
	p := l.paths()
	d := &daemon{lab: l, log: slog.New(slog.NewTextHandler(log, nil)), started: time.Now(), stop: stop}
	book, err := ports.Open(p.ports())
	if err != nil {
		return nil, err
	}
	network, err := l.Network()
	if err != nil {
		return nil, err
	}
	if err := l.network().keep(network); err != nil {
		return nil, err
	}
	if err := d.choosePorts(book, network); err != nil {
		return nil, err
	}
	if _, err = secret(p.gitToken()); err != nil {
		return nil, err
	}
	if d.token, err = secret(p.token()); err != nil {
		return nil, err
	}
	if d.socket, err = socketPath(p.in("lab.sock")); err != nil {
		return nil, err
	}
	if d.authority, err = authority(p.pki()); err != nil {
		return nil, err
	}
	if d.people, err = people.Open(d.authority.KeyFile(people.KeyName)); err != nil {
		return nil, err
	}
	d.tunnel = proxy.NewTunnel(cloudHosts()...)
	d.repositories = map[string]*git.Repository{}
	for tree := range trees() {
		d.repositories[tree] = git.Open(p.repository(tree), p.home())
	}
	if d.profile, err = l.Profile(); err != nil {
		return nil, err
	}
	if err := l.profile().keep(d.profile); err != nil {
		return nil, err
	}
	d.supervisor = process.NewSupervisor(p.logs(), p.run())
	d.eks = d.newEKS()
	planes := controlplane.New(controlplane.Options{
		Dir: p.clusters(), Tools: p.tools(), Home: p.home(), Supervisor: d.supervisor, Ports: book,
		TokenReviewURL: func(cluster string) string { return d.reviewURL() + "/" + cluster },
		TokenReviewCA:  d.authority.PEM(),
		TokenReviewBy:  d.token,
		Light:          d.profile != Full,
		Pace:           latencyScale(),
		Log:            d.log,
	})
	agent := controllers.New(controllers.Options{
		Dir: p.controllers(), Tools: p.tools(), Bin: p.bin(), Home: p.home(), Proxy: proxyFor(d.ports.proxy, d.token),
		CA: d.authority.CertFile("ca"), Tenant: AzureTenant, Sockets: filepath.Dir(d.socket), Supervisor: d.supervisor, Ports: book, Log: d.log,
		AwaitsPods: latencyScale() > 0,
	})
	manager := cloudmanager.New(cloudmanager.Options{Cloud: d.cloudOf, Entra: d.azureAs, Log: d.log})
	d.clusters = &clusters{planes: planes, agent: agent, cloud: manager, engines: d.profile != Light, doors: doors{closed: network == ClosedNetwork}}
	faults := &standin.Faults{}
	d.accounts, err = openAccounts(p, standin.Options{
		Faults: faults, Clusters: d.clusters, Region: Region, LatencyScale: latencyScale(), RoleBoundary: os.Getenv("TOMBOLO_LAB_ROLE_BOUNDARY"), Tags: tagPolicy(),
	})
	if err != nil {
		return nil, err
	}
	if d.azure, err = d.openAzure(faults); err != nil {
		return nil, err
	}
	if d.public, err = l.newPublic(); err != nil {
		return nil, err
	}
	d.public.pushed, d.public.reads = d.pushedOutside, d.readsDevOps
	d.tunnel.Also(func(host string) bool {
		return keyvault.Answers(d.azure, host) || isVault(host) || d.public.answers(host)
	})
	d.entra, err = d.openEntra()
	return d, err
}

// byName are the ports with their names in the book.
func (s *servicePorts) byName(network Network) map[string]*int {
	named := map[string]*int{
		"aws-provider": &s.provider, "azure-provider": &s.azure, "azure-manager": &s.manager,
		"secrets-key": &s.secrets, "eks": &s.eks, "token-reviews": &s.reviews, "proxy": &s.proxy,
	}
	if network == ClosedNetwork {
		named["runner"] = &s.runner
	}
	return named
}

func (d *daemon) choosePorts(book *ports.Book, network Network) error {
	wanted := d.ports.byName(network)
	if err := book.Fill(wanted); err != nil {
		return err
	}
	for name, port := range wanted {
		if err := process.PortFree(*port); err != nil {
			return fmt.Errorf("listen for %s: %w", name, err)
		}
	}
	return nil
}

// jsonServices are those of AWS that speak its JSON protocol in the lab.
func jsonServices() []jsonapi.Service {
	return []jsonapi.Service{secretsmanager.Service(), ssm.Service()}
}

// awsHosts are the host names of AWS that the lab answers to.
func awsHosts() []string {
	hosts := sts.Hosts()
	for _, s := range jsonServices() {
		hosts = append(hosts, s.Hosts()...)
	}
	return hosts
}

// cloudHosts are the host names of the clouds that the lab answers to.
func cloudHosts() []string { return append(awsHosts(), entra.Hosts()...) }

// authority signs the certificates of the token review endpoint and of the clouds' services.
func authority(dir string) (*pki.Authority, error) {
	a, err := pki.Open(dir, "lab")
	if err != nil {
		return nil, err
	}
	return a, errors.Join(
		a.Issue("token-reviews", pki.Subject{CommonName: "token-reviews", IPs: []net.IP{net.IPv4(127, 0, 0, 1)}}),
		a.IssueKey(people.KeyName),
		a.Issue(cloudsCert, pki.Subject{CommonName: "clouds", DNSNames: append(cloudHosts(), keyvault.AnyHost)}),
	)
}

// cloudsCert is the name of the certificate of the clouds' hosts.
const cloudsCert = "clouds"

// authenticate finds the user of a token in a cluster, as the cluster's cloud does.
func (d *daemon) authenticate(cluster, token string) (username string, groups []string, err error) {
	if tenant := d.clusters.spec(cluster).Tenant; tenant != "" {
		return d.entra.Review(tenant, token)
	}
	if authenticator.IsPerson(token) {
		return authenticator.Person(d.accounts.with(cluster), d.people.Key, cluster, token)
	}
	return authenticator.Authenticate(d.accounts.with(cluster), cluster, token)
}

// latencyScale of the clouds' typical durations, and of those of boots and images: TOMBOLO_LAB_LATENCY,
// 0 (no waiting) by default.
func latencyScale() float64 {
	scale, err := strconv.ParseFloat(os.Getenv("TOMBOLO_LAB_LATENCY"), 64)
	if err != nil || scale < 0 {
		return 0
	}
	return scale
}

// tagPolicy is what the organisation wants of the tags of what controllers make: the keys in
// TOMBOLO_LAB_TAG_KEYS, separated by commas, none by default.
func tagPolicy() standin.TagPolicy {
	keys := strings.FieldsFunc(os.Getenv("TOMBOLO_LAB_TAG_KEYS"), func(r rune) bool { return r == ',' || r == ' ' })
	if len(keys) == 0 {
		return standin.TagPolicy{}
	}
	return standin.TagPolicy{Calls: []string{"RunInstances", "CreateVolume", "CreateLoadBalancer", "CreateTargetGroup"}, Keys: keys}
}

// serve opens every server, brings the clusters back, and waits for the end.
func (d *daemon) serve(ctx context.Context) error {
	failed := make(chan error, 13)
	end, err := d.serveProviders(failed)
	if err != nil {
		return err
	}
	defer end()

	trust, err := d.authority.TLS("token-reviews")
	if err != nil {
		return err
	}
	reviews := &http.Server{Addr: loopback(d.ports.reviews), Handler: withBearer(d.token, reviewHandler(d.authenticate)), TLSConfig: trust, ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- reviews.ListenAndServeTLS("", "") }()
	defer reviews.Close()

	services, err := d.serveClouds(failed)
	if err != nil {
		return err
	}
	defer services.Close()

	hosts := &http.Server{Addr: loopback(d.ports.proxy), Handler: withProxyToken(d.token, d.hosts()), ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- hosts.ListenAndServe() }()
	defer hosts.Close()

	if d.ports.runner != 0 {
		runner := &http.Server{Addr: loopback(d.ports.runner), Handler: d.runner(), ReadHeaderTimeout: 10 * time.Second}
		go func() { failed <- runner.ListenAndServe() }()
		defer runner.Close()
	}

	control, err := d.serveControl(failed)
	if err != nil {
		return err
	}
	defer control()
	d.log.Info("the lab is up", "pid", os.Getpid())
	select {
	case <-ctx.Done():
		d.log.Info("the lab goes down")
		return nil
	case err := <-failed:
		return err
	}
}

// serveProviders serves the stand-ins and the key of secrets to the engine, and Azure's Resource
// Manager to the driver.
func (d *daemon) serveProviders(failed chan<- error) (end func(), err error) {
	var ends []func()
	end = func() {
		for _, e := range ends {
			e()
		}
	}
	ends = append(ends, d.jobs.stop)
	for _, p := range []struct {
		name   string
		port   int
		server *grpc.Server
	}{
		{"AWS", d.ports.provider, providerServer(standin.Organisation(d.accounts[0], d.accounts[1:]...))},
		{"Azure", d.ports.azure, providerServer(d.azure.Provider())},
		{"EKS", d.ports.eks, d.eks.Server()},
	} {
		listener, err := listenForOwn(loopback(p.port), d.log)
		if err != nil {
			end()
			return nil, fmt.Errorf("listen for the %s provider: %w", p.name, err)
		}
		go func() { failed <- p.server.Serve(listener) }()
		ends = append(ends, p.server.Stop)
	}
	listener, err := listenForOwn(loopback(d.ports.manager), d.log)
	if err != nil {
		end()
		return nil, fmt.Errorf("listen for Azure's Resource Manager: %w", err)
	}
	manager := &http.Server{Handler: resourcemanager.New(d.azure, resourcemanager.Options{Endpoint: managerURL(d.ports.manager)}), ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- manager.Serve(listener) }()
	ends = append(ends, func() { manager.Close() })
	key, err := d.serveSecretsKey(failed)
	if err != nil {
		end()
		return nil, err
	}
	ends = append(ends, key)
	return end, nil
}

// serveClouds serves, to clients of the tunnel, AWS's Security Token Service and what speaks
// JSON there, Azure's Entra and key vaults, and Vault.
func (d *daemon) serveClouds(failed chan<- error) (*http.Server, error) {
	trust, err := d.authority.TLS(cloudsCert)
	if err != nil {
		return nil, err
	}
	trust.GetCertificate = d.certificate
	tokens, others, logins := sts.Handler(d.accounts...), jsonapi.Handler(d.accounts.sts(), jsonServices()...), d.entra.Handler()
	vaults, ofVault := d.vaults(), d.vaultServer()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, known := sts.Region(r.Host)
		switch {
		case known:
			tokens.ServeHTTP(w, r)
		case slices.Contains(entra.Hosts(), strings.ToLower(r.Host)):
			logins.ServeHTTP(w, r)
		case keyvault.IsHost(r.Host):
			vaults.ServeHTTP(w, r)
		case isVault(r.Host):
			ofVault.ServeHTTP(w, r)
		case d.public.answers(r.Host):
			d.public.ServeHTTP(w, r)
		default:
			others.ServeHTTP(w, r)
		}
	})
	server := &http.Server{Handler: handler, TLSConfig: trust, ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- server.ServeTLS(d.tunnel, "", "") }()
	return server, nil
}

// hosts are the lab's host names, behind its proxy.
func (d *daemon) hosts() http.Handler {
	return proxy.Handler(map[string]http.Handler{
		GitHost:    d.gitHandler(),
		ChartsHost: charts.Handler(d.lab.paths().charts()),
		InboxHost:  inbox.Open(d.lab.paths().inbox()),
	}, d.tunnel)
}

func (d *daemon) gitHandler() http.Handler {
	token := func() (string, error) { return secret(d.lab.paths().gitToken()) }
	app := git.App{Key: d.lab.paths().gitApp()}
	return app.Around(d.repositories[treeFlux].Handler(gitUser, token, d.pushed), gitUser, token)
}

// heal brings back what should run and does not, and lets the Git repositories
// follow the platform trees. Up asks for it, at every start and afterwards.
func (d *daemon) heal(ctx context.Context) error {
	resumed := errors.Join(d.accounts.resume(ctx), d.azure.Resume(ctx))
	notes, err := d.seed(ctx)
	if resumed != nil {
		reason, _, _ := strings.Cut(resumed.Error(), "\n")
		notes = append(notes, reason+"; `tombolo lab up` tries again, `tombolo lab down` gives it up")
	}
	d.mu.Lock()
	d.notes = notes
	d.mu.Unlock()
	return errors.Join(resumed, err)
}

// seedSystems brings what the lab's teams have into their repositories, which anybody may
// read. A checkout without the directory has no systems.
func (d *daemon) seedSystems(ctx context.Context) error {
	p := d.lab.paths()
	dirs, err := os.ReadDir(p.systems())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the lab's systems: %w", err)
	}
	var failed error
	for _, dir := range dirs {
		repository := git.Open(p.system(dir.Name()), p.home())
		_, err := repository.Seed(ctx, filepath.Join(p.systems(), dir.Name()))
		if err == nil {
			err = repository.Publish()
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// seed brings each platform tree into its Git repository.
func (d *daemon) seed(ctx context.Context) (notes []string, err error) {
	var missing []string
	for _, tree := range slices.Sorted(maps.Keys(trees())) {
		seeding, failed := d.repositories[tree].Seed(ctx, d.lab.paths().platform(tree))
		if errors.Is(failed, os.ErrNotExist) {
			missing, failed = append(missing, "platform/"+tree), nil
		}
		if seeding.Note != "" {
			notes = append(notes, seeding.Note)
		}
		if seeding.Changed {
			d.log.Info("a Git repository follows its platform tree", "tree", tree, "commit", seeding.Commit)
			d.pushed(trees()[tree], seeding.Before, seeding.Commit)
		}
		err = errors.Join(err, failed)
	}
	more, failed := d.public.look(ctx)
	notes, err = append(notes, more...), errors.Join(err, d.seedSystems(ctx), failed)
	if len(missing) == len(trees()) && !d.public.serves() {
		notes = append(notes, "there is no platform tree at "+strings.Join(missing, " or ")+", so the lab has no Git repository")
	}
	return notes, err
}

func (d *daemon) reviewURL() string { return "https://" + loopback(d.ports.reviews) }
func (d *daemon) proxyURL() string  { return "http://" + loopback(d.ports.proxy) }

// proxyFor is the proxy's URL for those who may use it.
func proxyFor(port int, token string) string {
	return "http://" + tokenUser + ":" + token + "@" + loopback(port)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
