package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pulumi/pulumi/sdk/v3/go/common/constant"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/executable"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func (h *host) Handshake(_ context.Context, r *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	h.engine = r.GetEngineAddress()
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: "3.250.0"}, nil
}

// The lab puts every provider on PATH, so there is nothing to ask for.
func (h *host) GetRequiredPackages(context.Context, *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

// Run runs the program to its end. A program that fails has said why on its
// own, so the engine is told to stop without another message (Bail).
func (h *host) Run(ctx context.Context, r *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	program, done, err := h.program(ctx, r.GetInfo())
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	defer done()
	env, err := h.environment(r)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, r.GetArgs()...)
	cmd.Dir, cmd.Env = r.GetPwd(), append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == constant.ExitStatusLoggedError:
		return &pulumirpc.RunResponse{Bail: true}, nil
	default:
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("running %s: %v", program, err)}, nil
	}
}

// program is the path of the program to run, and what to call when it ended. The
// options are Pulumi's own: "binary" names a program that is there, in the program's
// directory, in GOPATH or in PATH, "buildTarget" where to keep the one that is built.
func (h *host) program(ctx context.Context, info *pulumirpc.ProgramInfo) (string, func(), error) {
	options := info.GetOptions().GetFields()
	binary, target := options["binary"].GetStringValue(), options["buildTarget"].GetStringValue()
	none := func() {}
	switch {
	case binary != "" && target != "":
		return "", nil, errors.New("binary and buildTarget cannot both be specified")
	case binary != "":
		found, err := executable.FindExecutable(binary) // the engine starts hosts in the program's directory
		return found, none, err
	case target != "":
		target = filepath.Join(info.GetProgramDirectory(), target)
		return target, none, build(ctx, info.GetProgramDirectory(), target)
	}
	dir, err := os.MkdirTemp("", "pulumi-go-")
	if err != nil {
		return "", nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	target = filepath.Join(dir, "program")
	if err := build(ctx, info.GetProgramDirectory(), target); err != nil {
		remove()
		return "", nil, err
	}
	return target, remove, nil
}

// build builds the program in a directory. Pulumi's own host adds -trimpath, by
// which nothing would be shared with what `go build` and `go test` have compiled.
func build(ctx context.Context, dir, target string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", target)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the program in %s: %w\n%s", dir, err, out)
	}
	return nil
}

// environment is what pulumi.Run reads.
func (h *host) environment(r *pulumirpc.RunRequest) ([]string, error) {
	config, err := json.Marshal(r.GetConfig())
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(r.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	return []string{
		pulumi.EnvOrganization + "=" + r.GetOrganization(),
		pulumi.EnvProject + "=" + r.GetProject(),
		pulumi.EnvStack + "=" + r.GetStack(),
		pulumi.EnvConfig + "=" + string(config),
		pulumi.EnvConfigSecretKeys + "=" + string(secretKeys),
		pulumi.EnvDryRun + "=" + strconv.FormatBool(r.GetDryRun()),
		pulumi.EnvParallel + "=" + strconv.Itoa(int(r.GetParallel())),
		pulumi.EnvMonitor + "=" + r.GetMonitorAddress(),
		pulumi.EnvEngine + "=" + h.engine,
		pulumi.EnvPulumiRootDirectory + "=" + r.GetInfo().GetRootDirectory(),
	}, nil
}
