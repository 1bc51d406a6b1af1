package controlplane

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tombolo/lab/pki"
	"tombolo/lab/ports"
	"tombolo/lab/process"
)

// sharedEtcd is the store of light control planes: one etcd, in which every
// cluster has the keys below its own prefix.
type sharedEtcd struct {
	dir   string
	tools string
	home  string

	mu    sync.Mutex
	ca    *pki.Authority
	ports etcdPorts
}

// etcdPorts are an etcd's for its clients and, though it has none, its peers.
type etcdPorts struct{ client, peer int }

// eraseTimeout is how long etcd may take to delete a cluster's keys.
const eraseTimeout = 20 * time.Second

// start runs etcd, or finds it running.
func (e *sharedEtcd) start(ctx context.Context, s *process.Supervisor, book *ports.Book) error {
	if err := e.prepare(book); err != nil {
		return fmt.Errorf("prepare the shared etcd: %w", err)
	}
	trust, err := e.ca.TLS(etcdClientCert)
	if err != nil {
		return err
	}
	return s.Start(ctx, process.Spec{
		Name: "etcd", Path: filepath.Join(e.tools, "etcd"), Args: e.args(), Dir: e.dir,
		Env:   []string{"PATH=" + os.Getenv("PATH"), "HOME=" + e.home, "TMPDIR=" + e.home},
		Ports: []int{e.ports.client, e.ports.peer}, Restart: true, StopGrace: 3 * time.Second,
		Healthy: process.HTTPHealthy(e.endpoint()+"/readyz", trust),
	})
}

// prepare makes the certificates and chooses the ports, once.
func (e *sharedEtcd) prepare(book *ports.Book) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ca != nil {
		return nil
	}
	if err := book.Fill(map[string]*int{"etcd": &e.ports.client, "etcd-peer": &e.ports.peer}); err != nil {
		return err
	}
	ca, err := pki.Open(filepath.Join(e.dir, "pki"), "lab etcd")
	if err != nil {
		return err
	}
	loopback := pki.Subject{CommonName: "etcd", DNSNames: []string{"localhost"}, IPs: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}}
	if err := ca.Issue(servingCert, loopback); err != nil {
		return err
	}
	if err := ca.Issue(etcdClientCert, pki.Subject{CommonName: "kube-apiserver"}); err != nil {
		return err
	}
	e.ca = ca
	return nil
}

func (e *sharedEtcd) endpoint() string { return local("https", e.ports.client) }

func (e *sharedEtcd) args() []string { return etcdArgs(filepath.Join(e.dir, "data"), e.ca, e.ports) }

// prefix of a cluster's keys.
func prefix(cluster string) string { return "/clusters/" + cluster }

// erase deletes the keys of a cluster, by etcd's gateway for JSON.
func (e *sharedEtcd) erase(ctx context.Context, cluster string) error {
	ctx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	trust, err := e.ca.TLS(etcdClientCert)
	if err != nil {
		return err
	}
	// A slash is followed by a zero: the range is what begins with the prefix
	// and a slash.
	body, err := json.Marshal(map[string]string{
		"key":       base64.StdEncoding.EncodeToString([]byte(prefix(cluster) + "/")),
		"range_end": base64.StdEncoding.EncodeToString([]byte(prefix(cluster) + "0")),
	})
	if err != nil {
		return fmt.Errorf("encode the range of keys: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint()+"/v3/kv/deleterange", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the shared etcd: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		return fmt.Errorf("the shared etcd answered %s: %s", resp.Status, bytes.TrimSpace(text))
	}
	return nil
}
