// Command argocd-redis is the Redis that Argo CD keeps its cache in, without
// Redis: an in-memory server that speaks its protocol on loopback.
//
// Usage: argocd-redis --port PORT
//
// The password that clients must give is in the environment, as REDIS_PASSWORD,
// where other users of the machine do not see it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv("REDIS_PASSWORD")); err != nil {
		fmt.Fprintln(os.Stderr, "argocd-redis:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, password string) error {
	flags := flag.NewFlagSet("argocd-redis", flag.ContinueOnError)
	port := flags.Int("port", 6379, "the port to listen on, on 127.0.0.1")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if password == "" {
		return errors.New("REDIS_PASSWORD is not set; Argo CD does not run on a Redis without one")
	}
	redis := miniredis.NewMiniRedis()
	redis.RequireAuth(password)
	if err := redis.StartAddr(net.JoinHostPort("127.0.0.1", strconv.Itoa(*port))); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer redis.Close()
	expire(ctx, redis)
	return nil
}

// expire lets keys reach the end of their lives, until ctx ends: miniredis has
// a clock that stands still unless it is told how much time has passed.
func expire(ctx context.Context, redis *miniredis.Miniredis) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			redis.FastForward(now.Sub(last))
			last = now
		}
	}
}
