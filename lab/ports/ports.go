// Package ports remembers which ports the lab's processes listen on: chosen
// free once, then the same after every restart, because clients keep them.
package ports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"tombolo/internal/file"
	"tombolo/lab/process"
)

// Ports are chosen below the range that kernels hand out to outgoing
// connections, so that nothing takes one between two runs by accident.
const first, last = 20000, 32000

// Book is a file of ports by name.
type Book struct {
	path string

	mu    sync.Mutex
	ports map[string]int
}

// Open reads a book; one that does not exist yet is empty.
func Open(path string) (*Book, error) {
	b := &Book{path: path, ports: map[string]int{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the lab's ports: %w", err)
	}
	if err := json.Unmarshal(data, &b.ports); err != nil {
		return nil, fmt.Errorf("read the lab's ports in %s: %w; run `tombolo lab down`, then `tombolo lab up`", path, err)
	}
	return b, nil
}

// Get returns the port of a name, and chooses a free one the first time.
func (b *Book) Get(name string) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if port := b.ports[name]; port != 0 {
		return port, nil
	}
	port, err := b.choose()
	if err != nil {
		return 0, fmt.Errorf("choose a port for %s: %w", name, err)
	}
	b.ports[name] = port
	return port, b.save()
}

// Fill sets each port to that of its name.
func (b *Book) Fill(ports map[string]*int) (err error) {
	for name, port := range ports {
		if *port, err = b.Get(name); err != nil {
			return err
		}
	}
	return nil
}

// choose finds a port that is free and that no other name of the book has.
func (b *Book) choose() (int, error) {
	taken := map[int]bool{}
	for _, port := range b.ports {
		taken[port] = true
	}
	start := rand.IntN(last - first)
	for i := range last - first {
		port := first + (start+i)%(last-first)
		if !taken[port] && process.PortFree(port) == nil && b.claim(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("none is free from %d to %d", first, last-1)
}

func (b *Book) save() error {
	data, err := json.MarshalIndent(b.ports, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the lab's ports: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(b.path), 0o755); err != nil {
		return fmt.Errorf("write the lab's ports: %w", err)
	}
	if err := file.Replace(b.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the lab's ports: %w", err)
	}
	return nil
}
