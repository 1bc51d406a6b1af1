package main

import (
	"context"
	"path/filepath"
	"regexp"
)

// pulumiModule is what Pulumi's CLI is built from.
const pulumiModule = "github.com/pulumi/pulumi/pkg/v3"

func pulumiGroup() group {
	return group{name: "pulumi", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		version, err := pinned(ctx, src, "github.com/pulumi/pulumi/sdk/v3")
		if err != nil {
			return err
		}
		upstream, err := pinned(ctx, src, pulumiModule)
		if err != nil {
			return err
		}
		// Without it the Automation API cannot parse `pulumi version`.
		flags := "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=" + version.Version
		return goBuildChanged(ctx, src, upstream, copyEdited(cliEdits()), filepath.Join(out, "bin"), flags, p,
			pulumiModule+"/cmd/pulumi", "./cmd/pulumi-language-go")
	}}
}

// cliEdits leave out what no lab calls and what takes half of compiling Pulumi's CLI: commands
// for Pulumi's own service, the state backends and the providers of secrets' keys that are not
// Amazon's, and the logs of functions in a cloud. What is left out is unknown to the CLI.
func cliEdits() []edit {
	const packages, unused = `".*/pkg/v3/`, "//go:build ignore\n\n${0}"
	noEnvironment := `environ, ${1}, err := []string(nil), []string(nil), errors.New("this pulumi is the lab's, and opens no environment of Pulumi ESC")`
	prepared := regexp.MustCompile(`_, environ, (\w+), err := cli\.PrepareEnvironment\(env, (?:nil|&cli\.PrepareOptions\{[^}]*\})\)`)
	escImport, declared := regexp.MustCompile(`(?m)^.*/esc/cmd/esc/cli"\n`), regexp.MustCompile(`(?m)^package `)
	return []edit{
		// Eight imports and nine commands.
		{"cmd/pulumi/pulumi.go", regexp.MustCompile(`(?m)^.*(?:` + packages + `cmd/pulumi/(?:cloud|env|insights|logs|markdown|neo|org|trace)"|` +
			`\b(?:cloud|cmdEnv|insights|logs|markdown|neo|org|trace)\.New\w+\(.*\),)\n`), "", 17},
		{"cmd/pulumi/cmd/cmd.go", apiError(), "", 2},
		{"cmd/pulumi/cmd/exit_codes.go", apiError(), "", 2},
		{"cmd/pulumi/config/config.go", escImport, "", 1},
		{"cmd/pulumi/config/config.go", prepared, noEnvironment, 1},
		{"cmd/pulumi/config/io.go", escImport, "", 1},
		{"cmd/pulumi/config/io.go", prepared, noEnvironment, 1},
		{"cmd/pulumi/config/config_env.go", regexp.MustCompile(`(?m)^.*newConfigEnvInitCmd\(.*\n`), "", 1},
		{"cmd/pulumi/config/config_env_init.go", declared, unused, 1},
		{"backend/diy/backend.go", regexp.MustCompile(`(?m)^.*"gocloud\.dev/blob/(?:azure|gcs)blob".*\n|` +
			`^.*` + packages + `(?:authhelpers|backend/diy/postgres)".*\n|^\tif p\.Scheme == gcsblob\.Scheme \{\n(?:.*\n){5}`), "", 5},
		{"secrets/cloud/manager.go", regexp.MustCompile(`(?m)^.*"gocloud\.dev/secrets/(?:azurekeyvault|gcpkms|hashivault)".*\n|` +
			`^.*(?:"google\.golang\.org/api/cloudkms/v1|` + packages + `authhelpers)"\n|^\tcase gcpkms\.Scheme:\n(?:.*\n)*?.*OpenKeeperURL\(.*\n`), "", 6},
		{"operations/resources.go", regexp.MustCompile(`(?m)^\tcase ".*":\n.*OperationsProvider\(.*\n`), "", 3},
		{"operations/operations_aws.go", declared, unused, 1},
		{"operations/operations_cloud_aws.go", declared, unused, 1},
		{"operations/operations_gcp.go", declared, unused, 1},
		{"backend/httpstate/policypack.go", regexp.MustCompile(`(?m)^.*/nodejs/npm"\n`), "", 1},
		{"backend/httpstate/policypack.go", regexp.MustCompile(`packTarball, err = npm\.Pack\(.*\)`),
			`err = fmt.Errorf("this pulumi is the lab's, and packs no policies of Node.js")`, 1},
	}
}

// apiError is where errors of the command that calls the API of Pulumi's service are known.
func apiError() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^.*/cmd/pulumi/cloud"\n|^\tvar apiErr \*cloud\.APIError\n(?:.*\n){3}`)
}
