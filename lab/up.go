package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tombolo/lab/control"
	"tombolo/lab/process"
)

// startTimeout is how long the daemon may take to answer.
const startTimeout = 30 * time.Second

// requiredTools are the binaries that the lab cannot do without.
var requiredTools = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok",
	"source-controller", "kustomize-controller", "helm-controller", "notification-controller",
}

// argocdTools are the binaries that Argo CD in a lab's cluster needs, and that
// a lab without it does not.
var argocdTools = []string{
	"argocd", "argocd-application-controller", "argocd-applicationset-controller", "argocd-k8s-auth", "argocd-redis",
	"argocd-repo-server", "argocd-server", "argocd-notifications", "helm", "kustomize",
}

// sealedSecretsTools and externalSecretsTools are the controllers that the addons of these names
// need in a lab.
var (
	sealedSecretsTools   = []string{"sealed-secrets"}
	externalSecretsTools = []string{"external-secrets"}
)

// requiredProviders are the Pulumi providers that the lab runs with.
var requiredProviders = []string{"resource-kubernetes"}

// eksProvider is the Pulumi provider that clusters in AWS need, and those in Azure do not.
const eksProvider = "resource-eks"

// azureTools are the binaries that clusters in Azure need in a lab.
var azureTools = []string{"kubelogin"}

// Up starts the lab, or brings back the parts of a running one that died. It
// clears away what a killed lab left behind, and returns when everything that
// was there before is healthy again.
func (l *Lab) Up(ctx context.Context, progress func(Step)) error {
	file, found, err := control.ReadDaemon(l.paths().daemon())
	if err != nil {
		return err
	}
	if found && file.Alive() && file.Protocol != control.Protocol {
		// Its cloud and its clusters stay: they are on disk.
		if err := step(progress, "stop the lab of another tombolo", func() (string, error) { return "", l.stop(ctx) }); err != nil {
			return err
		}
	}
	if !found || !file.Alive() {
		if err := l.startDaemon(ctx, progress); err != nil {
			return err
		}
	}
	err = l.startParts(ctx, progress)
	if !errors.Is(err, ErrNotRunning) {
		return err
	}
	// It was dying when it was looked for.
	if err := l.startDaemon(ctx, progress); err != nil {
		return err
	}
	return l.startParts(ctx, progress)
}

func (l *Lab) startDaemon(ctx context.Context, progress func(Step)) error {
	if err := step(progress, "check the lab's tools", func() (string, error) { return "", l.CheckTools() }); err != nil {
		return err
	}
	if err := l.CheckEKS(); err != nil {
		progress(Step{Name: "clusters in AWS cannot run in this lab", State: StepNote, Detail: err.Error()})
	}
	if err := l.clear(progress); err != nil {
		return err
	}
	return step(progress, "start the lab", func() (string, error) { return "", l.spawn(ctx) })
}

func (l *Lab) startParts(ctx context.Context, progress func(Step)) error {
	var s Status
	err := step(progress, "start the lab's parts", func() (string, error) {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find this program's file: %w", err)
		}
		if err := errors.Join(l.writeShims(filepath.Dir(self)), l.writeKubelogin(), l.linkPlugins(), withoutPulumiLogs(l.paths().pulumiLogs()), l.daemon().Ask(ctx, http.MethodGet, "/status", nil, nil)); err != nil {
			return "", err
		}
		err = l.daemon().Call(ctx, http.MethodPost, "/heal", nil, &s)
		return fmt.Sprintf("%d processes", len(s.Processes)), err
	})
	for _, note := range s.Notes {
		progress(Step{Name: note, State: StepNote})
	}
	return err
}

// step reports the beginning and the end of a piece of work.
func step(progress func(Step), name string, do func() (detail string, err error)) error {
	began := time.Now()
	progress(Step{Name: name, State: StepDoing})
	detail, err := do()
	if err != nil {
		progress(Step{Name: name, State: StepFailed, Elapsed: time.Since(began)})
		return fmt.Errorf("%s: %w", name, err)
	}
	progress(Step{Name: name, State: StepDone, Detail: detail, Elapsed: time.Since(began)})
	return nil
}

// CheckTools names the tools that every lab needs and this one lacks, all at once.
func (l *Lab) CheckTools() error {
	missing := l.missingTools(requiredTools)
	if len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; run `make tools`", strings.Join(missing, ", "), l.paths().tools())
	}
	if err := l.checkProviders(requiredProviders...); err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err != nil {
		return errors.New("git is missing; install it")
	}
	return nil
}

func (l *Lab) checkProviders(names ...string) error {
	var missing []string
	for _, provider := range names {
		if found, _ := filepath.Glob(filepath.Join(l.paths().plugins(), provider+"-v*")); len(found) == 0 {
			missing = append(missing, provider)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; run `make tools`", strings.Join(missing, ", "), l.paths().plugins())
	}
	return nil
}

// CheckEKS says what a cluster in AWS would lack in the lab: the EKS component, and
// Node.js, which runs it.
func (l *Lab) CheckEKS() error {
	if err := l.checkProviders(eksProvider); err != nil {
		return err
	}
	if _, err := exec.LookPath("node"); err != nil {
		return errors.New("node, which runs the EKS provider, is missing; install Node.js 20 or newer")
	}
	return nil
}

// CheckAKS says what a cluster in Azure would lack in the lab.
func (l *Lab) CheckAKS() error {
	if missing := l.missingTools(azureTools); len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; run `make tools-azure`", strings.Join(missing, ", "), l.paths().tools())
	}
	return nil
}

// CheckSealedSecrets says what a cluster with the addon sealed-secrets would lack in the lab.
func (l *Lab) CheckSealedSecrets() error { return l.checkSecrets(sealedSecretsTools) }

// CheckExternalSecrets says what a cluster with the addon external-secrets would lack in the lab.
func (l *Lab) CheckExternalSecrets() error { return l.checkSecrets(externalSecretsTools) }

func (l *Lab) checkSecrets(tools []string) error {
	if missing := l.missingTools(tools); len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; run `make tools-secrets`", strings.Join(missing, ", "), l.paths().tools())
	}
	return nil
}

// CheckArgoCD says what a cluster with Argo CD would lack in the lab: its tools
// are built apart from the others.
func (l *Lab) CheckArgoCD() error {
	if missing := l.missingTools(argocdTools); len(missing) > 0 {
		return fmt.Errorf("%s missing in %s; run `make tools-argocd`", strings.Join(missing, ", "), l.paths().tools())
	}
	return nil
}

// missingTools are those of the named ones that have not been built.
func (l *Lab) missingTools(names []string) []string {
	var missing []string
	for _, tool := range names {
		if _, err := os.Stat(filepath.Join(l.paths().tools(), tool)); err != nil {
			missing = append(missing, tool)
		}
	}
	return missing
}

// clear ends what a killed daemon left running.
func (l *Lab) clear(progress func(Step)) error {
	ended, err := process.Reap(l.paths().run())
	if err != nil {
		return fmt.Errorf("clear what an earlier lab left: %w", err)
	}
	if len(ended) > 0 {
		progress(Step{Name: "an earlier lab was killed; ended what it left running", State: StepNote, Detail: strings.Join(ended, ", ")})
	}
	return l.forgetDaemon()
}

// spawn starts the daemon in a session of its own and waits until it answers.
func (l *Lab) spawn(ctx context.Context) error {
	self, err := l.keepProgram()
	if err != nil {
		return err
	}
	p := l.paths()
	for _, dir := range []string{p.logs(), p.home(), p.bin(), p.run()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make the lab's directories: %w", err)
		}
	}
	log, err := os.OpenFile(p.daemonLog(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("open the daemon's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, "lab", "serve", "--root", l.root)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.root, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return l.awaitDaemon(ctx, cmd, exited)
}

// awaitDaemon waits for the daemon's answer, its exit and the timeout,
// whichever comes first.
func (l *Lab) awaitDaemon(ctx context.Context, cmd *exec.Cmd, exited <-chan error) error {
	bounded, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	log := l.paths().daemonLog()
	for {
		last := l.daemon().Call(bounded, http.MethodGet, "/status", nil, nil)
		if last == nil {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("the daemon exited with code %d\n  the end of %s:\n%s", cmd.ProcessState.ExitCode(), log, process.Tail(log, 15))
		case <-bounded.Done():
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("wait for the daemon: %w", err)
			}
			return fmt.Errorf("the daemon did not answer in %v (%w)\n  the end of %s:\n%s", startTimeout, last, log, process.Tail(log, 15))
		case <-tick.C:
		}
	}
}
