// Package reproducible has the settings of Go with which the same sources are built into the
// same bytes, whichever machine builds them.
package reproducible

import (
	"maps"
	"os"
	"slices"
	"strings"
)

// Settings are the variables of Go on which what is built depends, for an operating system and
// an architecture as Go names them: https://pkg.go.dev/cmd/go#hdr-Environment_variables. Without
// cgo no C compiler and no library of the machine has a part in it. GOFLAGS is empty, so that
// every flag is in the command.
func Settings(goos, goarch string) map[string]string {
	return map[string]string{
		"GOOS": goos, "GOARCH": goarch, "CGO_ENABLED": "0", "GOAMD64": "v1", "GOARM64": "v8.0",
		"GOEXPERIMENT": "", "GOFIPS140": "off", "GOWORK": "off", "GOFLAGS": "",
	}
}

// Environment is that of this process with the settings in place of its own.
func Environment(settings map[string]string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, set := settings[name]
		return set
	})
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		env = append(env, name+"="+settings[name])
	}
	return env
}
