package lab

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"tombolo/lab/aws/sigv4"
	"tombolo/lab/control"
	"tombolo/lab/ports"
	"tombolo/lab/secretskey"
	"tombolo/lab/substitute"
)

// RoleVariable names the environment variable with the ARN of a role: commands then
// work in the lab with the credentials of a session of that role, as a job of a
// pipeline has them.
const RoleVariable = "TOMBOLO_LAB_ROLE"

// Env is the environment, to be put over the process's own, in which Pulumi,
// kubectl and the driver work with the lab instead of the cloud.
func (l *Lab) Env() (map[string]string, error) {
	p := l.paths()
	if _, err := l.daemon().Running(); err != nil {
		return nil, err
	}
	book, err := ports.Open(p.ports())
	if err != nil {
		return nil, err
	}
	network, err := l.Network()
	if err != nil {
		return nil, err
	}
	var chosen servicePorts
	if err := book.Fill(chosen.byName(network)); err != nil {
		return nil, err
	}
	token, err := secret(p.gitToken())
	if err != nil {
		return nil, err
	}
	webhook, err := secret(p.webhook())
	if err != nil {
		return nil, err
	}
	proxyToken, err := secret(p.token())
	if err != nil {
		return nil, err
	}
	sealing, certificate, err := sealingKey(p)
	if err != nil {
		return nil, err
	}
	passphrase, err := secret(p.passphrase())
	if err != nil {
		return nil, err
	}
	if err := l.manifests(); err != nil {
		return nil, err
	}
	for _, dir := range []string{p.state(), p.pulumiHome()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the lab's directories: %w", err)
		}
	}
	var by sigv4.Credentials
	if err := l.daemon().Ask(context.Background(), http.MethodPost, "/session", sessionRequest{os.Getenv(RoleVariable)}, &by); err != nil {
		return nil, fmt.Errorf("get credentials of the lab's account: %w", err)
	}
	azure, port, err := l.azureEnv(context.Background(), chosen.azure)
	if err != nil {
		return nil, err
	}
	chosen.azure = port
	list := string(filepath.ListSeparator)
	env := map[string]string{
		"PATH":                     p.bin() + list + p.tools() + list + os.Getenv("PATH"),
		"PULUMI_HOME":              p.pulumiHome(),
		"PULUMI_BACKEND_URL":       control.Backend(l.root),
		"PULUMI_CONFIG_PASSPHRASE": passphrase,
		control.SecretsVariable:    secretskey.URL(secretskey.Alias, Region, loopback(chosen.secrets)),
		"PULUMI_DEBUG_PROVIDERS":   l.attached(chosen, network),
		"PULUMI_SKIP_UPDATE_CHECK": "true",
		// Plain pulumi finds there which of both encrypts a stack's secrets.
		"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true",
		// What is missing here is not to be downloaded but to be built.
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
		"AWS_REGION":         Region,
		"AWS_DEFAULT_REGION": Region,
		// Those of the lab's account; nothing of the user's own may be used.
		"AWS_ACCESS_KEY_ID":           by.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY":       by.SecretAccessKey,
		"AWS_SESSION_TOKEN":           by.SessionToken,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CONFIG_FILE":             p.in("aws-config"),
		"AWS_SHARED_CREDENTIALS_FILE": p.in("aws-credentials"),
		substitute.Token:              token,
		manifestsVariable:             p.manifests(),
		SealingKeyVariable:            sealing, SealingCertificateVariable: certificate,
		ChannelVariable:   channelAddress,
		WebhookVariable:   webhook,
		"TOMBOLO_LAB":     "1",
		addressesVariable: "any",
		managerVariable:   managerURL(chosen.manager),
	}
	if flags := p.flagsOfGo(); flags != "" {
		env["GOFLAGS"] = flags
	}
	maps.Copy(env, azure)
	proxy := proxyFor(chosen.proxy, proxyToken)
	vault, err := l.vaultEnv(proxy)
	if err != nil {
		return nil, err
	}
	maps.Copy(env, vault)
	// git finds the lab's hosts, and no others, behind the lab's proxy.
	maps.Copy(env, l.gitSettings(proxy))
	if network == ClosedNetwork {
		env[addressesVariable] = outsideAddress
		env[RunnerVariable] = "http://" + runnerAddress + ":" + proxyToken + "@" + loopback(chosen.runner)
	}
	return env, nil
}

// flagsOfGo are the compiler's flags that this checkout was built with, for plain Pulumi, which
// builds the program, and for go run: with others they would compile all of it again. Those of
// the user's own stay.
func (p paths) flagsOfGo() string {
	text, err := os.ReadFile(p.compilerFlags())
	if err != nil || os.Getenv("GOFLAGS") != "" {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// manifestsVariable names the directory with the manifests of engines that the lab has, by the
// checksums of the releases in whose place they are; it is package stacks/bootstrap's, which the lab
// does without.
const manifestsVariable = "TOMBOLO_LAB_MANIFESTS"

// addressesVariable says with which addresses the networks of clusters see this machine; it
// is package reach's, which the lab does without.
const addressesVariable = "TOMBOLO_ADDRESSES"
