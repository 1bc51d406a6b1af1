package lab

import (
	"io/fs"
	"os"
	"path/filepath"

	"tombolo/lab/charts"
	"tombolo/lab/control"
	"tombolo/lab/substitute"
	"tombolo/lab/tools"
)

// paths are the lab's files, all below the checkout.
type paths struct{ root string }

func (l *Lab) paths() paths { return paths{l.root} }

func (p paths) dir() string           { return control.Directory(p.root) }
func (p paths) in(name string) string { return filepath.Join(p.dir(), name) }
func (p paths) tools() string         { return tools.Of(p.root).Programs() }
func (p paths) compilerFlags() string { return filepath.Join(tools.Of(p.root).Dir, "goflags") }
func (p paths) plugins() string       { return tools.Of(p.root).Plugins() }
func (p paths) bin() string           { return p.in("bin") }
func (p paths) program() string       { return filepath.Join(p.in("libexec"), "tombolo-lab") }
func (p paths) logs() string          { return p.in("logs") }
func (p paths) run() string           { return p.in("run") }          // pid files
func (p paths) home() string          { return p.in("home") }         // HOME of the child processes
func (p paths) daemon() string        { return control.File(p.root) } // how to reach the daemon
func (p paths) profile() string       { return p.in("profile") }
func (p paths) network() string       { return p.in("network") }
func (p paths) ports() string         { return p.in("ports.json") }
func (p paths) pki() string           { return p.in("pki") }
func (p paths) cloud() string         { return p.in("aws") }
func (p paths) member() string        { return p.in("aws-member") } // the organisation's other account
func (p paths) azure() string         { return p.in("azure") }
func (p paths) clusters() string      { return p.in("clusters") }
func (p paths) controllers() string   { return p.in("controllers") }

// azureToken is the file with the token, for Entra, of who has a client id.
func (p paths) azureToken(client string) string { return p.in("azure-token-" + client) }

func (p paths) repository(tree string) string {
	return filepath.Join(p.in("git"), trees()[tree])
}
func (p paths) gitToken() string   { return p.in("git-token") }
func (p paths) webhook() string    { return p.in("webhook-secret") }
func (p paths) gitApp() string     { return p.in("git-app.pub") } // who makes an App puts its public key there
func (p paths) token() string      { return p.in("token") }       // of the daemon's own ports
func (p paths) inbox() string      { return p.in("inbox.jsonl") }
func (p paths) vault() string      { return p.in("vault") } // what the server of Vault's API keeps
func (p paths) vaultToken() string { return p.in("vault-token") }
func (p paths) passphrase() string { return p.in("passphrase") }
func (p paths) secretsKey() string { return p.in("secrets-key") }
func (p paths) state() string      { return p.in("state") } // Pulumi's state backend
func (p paths) pulumiHome() string { return p.in("pulumi") }
func (p paths) pulumiLogs() string { return filepath.Join(p.pulumiHome(), "logs") }
func (p paths) daemonLog() string  { return filepath.Join(p.logs(), "daemon.log") }
func (p paths) platform(tree string) string {
	return filepath.Join(p.root, "platform", tree)
}

// systems are the manifests of the lab's systems, each in a directory of its name.
func (p paths) systems() string { return filepath.Join(p.root, "lab", "systems") }

// system is the repository of one of them.
func (p paths) system(name string) string { return filepath.Join(p.in("git"), name+".git") }

// public is the lab's repository for one of the outside.
func (p paths) public(r *substitute.Repository) string { return filepath.Join(p.in("git"), r.Name()) }

// devOpsUsers has the client ids of the users of Azure DevOps; without the file, all identities are users.
func (p paths) devOpsUsers() string { return p.in("azure-devops-users") }

func (p paths) manifests() string { return p.in("manifests") }

// charts are those of the checkout, where a change of one is served at once, or else the program's own.
func (p paths) charts() fs.FS {
	dir := filepath.Join(p.root, "lab", "charts")
	if _, err := os.Stat(dir); err == nil {
		return os.DirFS(dir)
	}
	return charts.Own()
}
