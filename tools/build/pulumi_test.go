package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// TestSettled: a checkout keeps the whole CLI, whatever is built in it afterwards.
func TestSettled(t *testing.T) {
	names := func(groups []group) string {
		var all []string
		for _, g := range groups {
			all = append(all, g.name)
		}
		return strings.Join(all, " ")
	}
	lab := []group{lintGroup(), pulumiGroup()}
	for want, key := range map[string]string{
		"lint pulumi":       "",
		"lint pulumi ":      "pulumi-0123456789ab",
		"lint pulumi-whole": "pulumi-whole-0123456789ab",
	} {
		root, cache := t.TempDir(), filepath.Join(t.TempDir(), key)
		if key != "" {
			files.Write(t, filepath.Join(cache, "bin", "pulumi"), "")
			assert.NilError(t, link(root, cache))
		}
		assert.Equal(t, names(settled(lab, root)), strings.TrimSpace(want))
		assert.Equal(t, names(lab), "lint pulumi")
	}
}

// TestEditedLayout: a module that is not laid out as the edits expect is not built.
func TestEditedLayout(t *testing.T) {
	upstream := module{Path: pulumiModule, Version: "v3.2.3", Dir: t.TempDir()}
	for name, text := range pulumiTree() {
		files.Write(t, filepath.Join(upstream.Dir, name), text)
	}
	assert.NilError(t, cut{module: pulumiModule, edits: cliEdits()}.change().copyTo(upstream, t.TempDir()))
	changed := filepath.Join(upstream.Dir, "operations", "resources.go")
	assert.NilError(t, os.WriteFile(changed, []byte("package operations\n"), 0o644))
	err := cut{module: pulumiModule, edits: cliEdits()}.change().copyTo(upstream, t.TempDir())
	assert.ErrorContains(t, err, "operations/resources.go of "+pulumiModule+" v3.2.3 has ")
	assert.ErrorContains(t, err, " 0 times, not 3: its layout has changed")
}

// pulumiTree has the lines of Pulumi's CLI that are left out, which cannot be compiled here, in
// packages that the CLI imports.
func pulumiTree() tree {
	all := tree{}
	for name, text := range map[string]string{
		"cmd/pulumi/pulumi.go": `package main

import (
	"%/cmd/pulumi/cloud"
	_ "%/cmd/pulumi/cmd"
	_ "%/cmd/pulumi/config"
	cmdEnv "%/cmd/pulumi/env"
	"%/cmd/pulumi/insights"
	"%/cmd/pulumi/logs"
	"%/cmd/pulumi/markdown"
	"%/cmd/pulumi/neo"
	"%/cmd/pulumi/org"
	"%/cmd/pulumi/trace"
	_ "%/backend/diy"
	_ "%/backend/httpstate"
	_ "%/operations"
	_ "%/secrets/cloud"
)

func main() {
	add(
		cmdEnv.NewEnvCmd(),
		org.NewOrgCmd(),
		cloud.NewAPICmd(),
		insights.NewInsightsCmd(),
		markdown.NewGenMarkdownCmd(nil),
		logs.NewLogsCmd(nil),
		trace.NewViewTraceCmd(),
		trace.NewConvertTraceCmd(),
		neo.NewNeoCmd(),
	)
}

func add(...any) {}
`,
		"cmd/pulumi/cmd/cmd.go":                apiErrors,
		"cmd/pulumi/cmd/exit_codes.go":         strings.ReplaceAll(apiErrors, "displayed", "exit"),
		"cmd/pulumi/config/config.go":          strings.ReplaceAll(environments, "env, nil", "env, &cli.PrepareOptions{\n\t\tPretend: true,\n\t}"),
		"cmd/pulumi/config/io.go":              strings.ReplaceAll(environments, "values", "read"),
		"cmd/pulumi/config/config_env.go":      "package config\n\nfunc add(...any) {\n\tadd(newConfigEnvInitCmd(nil))\n}\n",
		"cmd/pulumi/config/config_env_init.go": "package config\n\nimport _ \"example.com/glamour\"\n",
		"operations/operations_aws.go":         "package operations\n\nimport _ \"example.com/logs\"\n",
		"operations/operations_cloud_aws.go":   "package operations\n\nimport _ \"example.com/logs\"\n",
		"operations/operations_gcp.go":         "package operations\n\nimport _ \"example.com/logs\"\n",
		"operations/resources.go": `package operations

func provider(of string) any {
	switch of {
	case "cloud":
		return CloudOperationsProvider(of)
	case "aws":
		return AWSOperationsProvider(of)
	case "gcp":
		return GCPOperationsProvider(of)
	default:
		return nil
	}
}
`,
		"backend/httpstate/policypack.go": `package httpstate

import (
	"fmt"

	"example.com/nodejs/npm"
)

func pack() ([]byte, error) {
	var packTarball []byte
	var err error
	packTarball, err = npm.Pack(nil, "")
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return packTarball, nil
}
`,
		"backend/diy/backend.go": `package diy

import (
	"fmt"

	_ "gocloud.dev/blob/azureblob" // driver for azblob://
	"gocloud.dev/blob/gcsblob"     // driver for gs://

	"%/authhelpers"
	"%/backend/diy/blob"
	_ "%/backend/diy/postgres" // driver for postgres://
)

type parsed struct{ Scheme string }

func isDIY(u parsed) bool {
	return blob.DefaultURLMux().ValidBucketScheme(u.Scheme)
}

func open(p parsed) (any, error) {
	var blobmux any
	var err error
	if p.Scheme == gcsblob.Scheme {
		blobmux, err = authhelpers.GoogleCredentialsMux(p)
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return blobmux, nil
}
`,
		"backend/diy/blob/blob.go": "package blob\n\ntype Mux struct{}\n\nfunc DefaultURLMux() Mux { return Mux{} }\n\nfunc (Mux) ValidBucketScheme(string) bool { return false }\n",
		"secrets/cloud/manager.go": `package cloud

import (
	"fmt"

	_ "gocloud.dev/secrets/azurekeyvault" // support for azurekeyvault://
	"gocloud.dev/secrets/gcpkms"          // support for gcpkms://
	_ "gocloud.dev/secrets/hashivault"    // support for hashivault://
	"google.golang.org/api/cloudkms/v1"

	"%/authhelpers"
)

func open(u struct{ Scheme string }) (any, error) {
	switch u.Scheme {
	case gcpkms.Scheme:
		credentials, err := authhelpers.ResolveGoogleCredentials(cloudkms.CloudkmsScope)
		if err != nil {
			return nil, err
		}

		return opener.OpenKeeperURL(credentials, u)
	default:
		return nil, fmt.Errorf("open")
	}
}
`,
	} {
		all[name] = strings.ReplaceAll(text, "%/", pulumiModule+"/")
	}
	return all
}

// apiErrors and environments are parts of two files each.
const (
	apiErrors = `package cmd

import (
	"errors"

	"%/cmd/pulumi/cloud"
)

func displayed(err error) bool {
	var apiErr *cloud.APIError
	if errors.As(err, &apiErr) {
		return true
	}
	return errors.Is(err, nil)
}
`
	environments = `package config

import (
	"errors"

	"github.com/pulumi/esc/cmd/esc/cli"
)

func values(env any) ([]string, []string, error) {
	_, environ, secrets, err := cli.PrepareEnvironment(env, nil)
	if err != nil {
		return nil, nil, errors.Join(err)
	}
	return environ, secrets, nil
}
`
)
