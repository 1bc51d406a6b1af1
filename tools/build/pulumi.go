package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pulumiModule is what Pulumi's CLI is built from.
const pulumiModule = "github.com/pulumi/pulumi/pkg/v3"

const wholePulumi = "pulumi-whole"

// pulumiGroup is the lab's CLI: Pulumi's, with what a lab can use of it.
func pulumiGroup() group {
	return group{name: "pulumi", build: func(ctx context.Context, src, out, _ string, p *progress) error {
		flags, err := pulumiFlags(ctx, src)
		if err != nil {
			return err
		}
		return goBuildChanged(ctx, src, []changed{cut{module: pulumiModule, edits: cliEdits()}.change()}, filepath.Join(out, "bin"), flags, p, pulumiPrograms()...)
	}}
}

// wholePulumiGroup is Pulumi's CLI as it is, for clusters in a cloud. A checkout that has it
// keeps it: see settled.
func wholePulumiGroup() group {
	return group{name: wholePulumi, module: "pulumi", code: []string{"pulumi"}, build: func(ctx context.Context, src, out, _ string, p *progress) error {
		flags, err := pulumiFlags(ctx, src)
		if err != nil {
			return err
		}
		return goBuild(ctx, src, filepath.Join(out, "bin"), flags, p, pulumiPrograms()...)
	}}
}

// settled are the groups for a checkout: one that once got the whole CLI has it in the lab too,
// or the lab's would take its place in .tools and lack what somebody's clusters need.
func settled(groups []group, root string) []group {
	there, err := os.Readlink(filepath.Join(root, ".tools", "bin", "pulumi"))
	if err != nil || !strings.HasPrefix(filepath.Base(filepath.Dir(filepath.Dir(there))), wholePulumi+"-") {
		return groups
	}
	settled := slices.Clone(groups)
	for i, g := range settled {
		if g.name == "pulumi" {
			settled[i] = wholePulumiGroup()
		}
	}
	return settled
}

func pulumiPrograms() []string {
	return []string{pulumiModule + "/cmd/pulumi", "./cmd/pulumi-language-go"}
}

// pulumiFlags have the CLI know its version, without which the Automation API cannot parse
// `pulumi version`.
func pulumiFlags(ctx context.Context, src string) (string, error) {
	sdk, err := pinned(ctx, src, "github.com/pulumi/pulumi/sdk/v3")
	return "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=" + sdk.Version, err
}

// cliEdits leave out what no lab uses, which takes most of the time to compile Pulumi's CLI
// (ADR 11). A command that is left out is unknown, and a URL that is says which CLI has it.
func cliEdits() []edit {
	return slices.Concat(commandEdits(), urlEdits(), environmentEdits(), logEdits())
}

// commandEdits leave out commands of Pulumi's service: its API, AI, environments and
// organisations, and policies packed by npm; the viewer of traces, and the manual.
func commandEdits() []edit {
	return []edit{
		without("cmd/pulumi/pulumi.go", `^.*/cmd/pulumi/(?:cloud|env|insights|logs|markdown|neo|org|trace)"\n`, 8),
		without("cmd/pulumi/pulumi.go", `^.*\b(?:cloud|cmdEnv|insights|logs|markdown|neo|org|trace)\.New\w+\(.*\),\n`, 9),
		// Errors of the command `api`, which the whole CLI knows in two places.
		without("cmd/pulumi/cmd/cmd.go", `^.*/cmd/pulumi/cloud"\n|^\tvar apiErr \*cloud\.APIError\n(?:.*\n){3}`, 2),
		without("cmd/pulumi/cmd/exit_codes.go", `^.*/cmd/pulumi/cloud"\n|^\tvar apiErr \*cloud\.APIError\n(?:.*\n){3}`, 2),
		without("backend/httpstate/policypack.go", `^.*/nodejs/npm"\n`, 1),
		{
			"backend/httpstate/policypack.go", regexp.MustCompile(`packTarball, err = npm\.Pack\(.*\)`),
			`err = fmt.Errorf("the lab's pulumi packs no policies of Node.js; make setup-aws builds the whole one")`, 1,
		},
	}
}

// urlEdits leave out state in Google's and Azure's storage and in PostgreSQL, and keys that are
// not Amazon's.
func urlEdits() []edit {
	const backends, keys = `case "azblob", "gs", "postgres":`, `case "azurekeyvault", "gcpkms", "hashivault":`
	const backend, manager = "backend/diy/backend.go", "secrets/cloud/manager.go"
	refused := "\n\t\treturn nil, fmt.Errorf(\"the lab's pulumi lacks %s://; make setup-aws builds the whole one\", "
	return []edit{
		without(backend, `^.*"gocloud\.dev/blob/(?:azure|gcs)blob".*\n|^.*/(?:authhelpers|backend/diy/postgres)".*\n`, 4),
		// Without this the URL is taken for that of a service like Pulumi's.
		{backend, regexp.MustCompile(`\treturn blob\.DefaultURLMux\(\)\.Valid`), "\tswitch u.Scheme {\n\t" + backends + "\n\t\treturn true\n\t}\n${0}", 1},
		{
			backend, regexp.MustCompile(`(?m)^\tif p\.Scheme == gcsblob\.Scheme \{\n(?:.*\n){4}\t\}\n`),
			"\tswitch p.Scheme {\n\t" + backends + refused + "p.Scheme)\n\t}\n", 1,
		},
		without(manager, `^.*"gocloud\.dev/secrets/(?:azurekeyvault|gcpkms|hashivault)".*\n|^.*/(?:cloudkms/v1|authhelpers)"\n`, 5),
		{
			manager, regexp.MustCompile(`(?m)^\tcase gcpkms\.Scheme:\n(?:.*\n)*?.*OpenKeeperURL\(.*\n`),
			"\t" + keys + refused + "u.Scheme)\n", 1,
		},
	}
}

// environmentEdits leave out the command line of Pulumi's environments, which only stacks of
// Pulumi's service have.
func environmentEdits() []edit {
	const imported = `^.*/esc/cmd/esc/cli"\n`
	prepared := regexp.MustCompile(`_, environ, (\w+), err := cli\.PrepareEnvironment\(env, (?:nil|&cli\.PrepareOptions\{[^}]*\})\)`)
	const none = `environ, ${1}, err := []string(nil), []string(nil), errors.New("the lab's pulumi opens no environments; make setup-aws builds the whole one")`
	return []edit{
		without("cmd/pulumi/config/config.go", imported, 1),
		{"cmd/pulumi/config/config.go", prepared, none, 1},
		without("cmd/pulumi/config/io.go", imported, 1),
		{"cmd/pulumi/config/io.go", prepared, none, 1},
		without("cmd/pulumi/config/config_env.go", `^.*newConfigEnvInitCmd\(.*\n`, 1),
		withoutFile("cmd/pulumi/config/config_env_init.go"),
	}
}

// logEdits leave out reading the logs of functions in a cloud, with the command that does.
func logEdits() []edit {
	return []edit{
		without("operations/resources.go", `^\tcase ".*":\n.*OperationsProvider\(.*\n`, 3),
		withoutFile("operations/operations_aws.go"),
		withoutFile("operations/operations_cloud_aws.go"),
		withoutFile("operations/operations_gcp.go"),
	}
}

// without leaves out the lines of a file that a pattern matches.
func without(file, pattern string, times int) edit {
	return edit{file: file, old: regexp.MustCompile("(?m)" + pattern), times: times}
}

// withoutFile has the compiler leave out a file.
func withoutFile(file string) edit {
	return edit{file: file, old: regexp.MustCompile(`(?m)^package `), replaced: "//go:build ignore\n\n${0}", times: 1}
}
