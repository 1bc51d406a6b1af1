package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// personal are variables that name a place of the user's or of an earlier run's,
// or that change what commands do: a new machine has none of them. One that ends
// with * is for all that begin so.
func personal() []string {
	return []string{
		"HOME", "XDG_*", "GOCACHE", "GOMODCACHE", "GOPATH", "GOBIN", "GOENV", "GOTMPDIR", "GOLANGCI_LINT_CACHE",
		"npm_config_cache", "npm_config_userconfig", "NPM_CONFIG_CACHE", "NPM_CONFIG_USERCONFIG",
		"TOMBOLO_*", "PULUMI_*", "AWS_*", "KUBECONFIG", "DOCKER_CONFIG", "HELM_*", "GIT_*", "MAKEFLAGS", "MFLAGS", "MAKELEVEL",
	}
}

// network are Go's settings of where modules come from. They are the machine's,
// also when `go env -w` has put them into the home.
func network() []string {
	return []string{"GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOFLAGS", "GOTOOLCHAIN"}
}

// environment is that of a user whose home is new: without what names caches and
// settings, and with where modules and packages come from.
func environment(ctx context.Context, env []string, home string) ([]string, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, network()...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("reading Go's settings: %w", err)
	}
	settings := map[string]string{}
	if err := json.Unmarshal(text, &settings); err != nil {
		return nil, fmt.Errorf("reading Go's settings: %w", err)
	}
	registry, err := output(ctx, "npm", "config", "get", "registry")
	if err != nil {
		return nil, fmt.Errorf("reading npm's settings: %w", err)
	}
	settings["npm_config_registry"], settings["HOME"] = registry, home
	return replaced(env, settings), nil
}

// replaced is an environment without what is personal, and with settings.
func replaced(env []string, settings map[string]string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, set := settings[name]
		return set || slices.ContainsFunc(personal(), func(p string) bool {
			start, all := strings.CutSuffix(p, "*")
			return name == p || all && strings.HasPrefix(name, start)
		})
	})
	for name, value := range settings {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}
