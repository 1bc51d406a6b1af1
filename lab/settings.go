package lab

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"tombolo/internal/file"
	"tombolo/internal/scalar"
	"tombolo/lab/substitute"
)

// removeSettings removes the settings of the lab's stacks from beside the cluster files: they name a key that is on
// this machine alone, and an up in a cloud would ask for it.
func (l *Lab) removeSettings() (failed error) {
	found, err := filepath.Glob(filepath.Join(l.root, "clusters", "Pulumi.*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range found {
		text, err := file.ReadInside(path, file.MostOfSettings)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		provider, err := scalar.At(text, "secretsprovider")
		if err == nil && onLoopback(provider) {
			failed = errors.Join(failed, os.Remove(path))
		}
	}
	return failed
}

// onLoopback says that a key service is on this machine.
func onLoopback(provider string) bool {
	key, err := url.Parse(provider)
	if err != nil {
		return false
	}
	service, err := url.Parse(key.Query().Get("endpoint"))
	return err == nil && substitute.IsLoopback(service.Hostname())
}
