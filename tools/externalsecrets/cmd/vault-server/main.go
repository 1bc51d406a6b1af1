// Command vault-server is a server with the HTTP API of HashiCorp Vault for the lab. The Kubernetes auth
// method, the secrets engine KV and the forms of answers are Vault's own code, as its plugins and
// its SDK have it (MPL 2.0). Mounts, policies and tokens are this program's: it does what
// https://developer.hashicorp.com/vault/api-docs says of the paths that it has, and refuses all
// others. What is kept is not encrypted, and never sealed.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/file"
	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "vault-server:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("vault-server", pflag.ContinueOnError)
	socket := flags.String("socket", "", "Unix socket to listen on, for plain HTTP")
	storage := flags.String("storage", "", "directory of what is kept")
	root := flags.String("root-token", "", "file with the root token")
	if err := flags.Parse(args); err != nil {
		return err
	}
	token, err := os.ReadFile(*root)
	if err != nil {
		return fmt.Errorf("read the root token: %w", err)
	}
	if strings.TrimSpace(string(token)) == "" { // it would be the token of whoever shows none
		return fmt.Errorf("read the root token: %s is empty", *root)
	}
	log := hclog.New(&hclog.LoggerOptions{Name: "vault", Level: hclog.Info})
	files, err := file.NewFileBackend(map[string]string{"path": *storage}, log)
	if err != nil {
		return fmt.Errorf("open the storage: %w", err)
	}
	c, err := open(ctx, logical.NewLogicalStorage(files), strings.TrimSpace(string(token)), log)
	if err != nil {
		return err
	}
	if err := os.Remove(*socket); err != nil && !errors.Is(err, os.ErrNotExist) { // of one that was killed
		return err
	}
	listener, err := net.Listen("unix", *socket)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	log.Info("serves", "socket", *socket)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return errors.Join(server.Close(), c.close(context.WithoutCancel(ctx)))
	}
}
