// Command pulumi-resource-kubernetes is the Pulumi Kubernetes provider. The
// schema and the Terraform mapping are two files of the provider's module; the
// build puts them beside the binary.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is set by the build (-ldflags -X).
var version = "0.0.0"

func main() {
	schema, err := beside("schema.json")
	if err == nil {
		var mapping []byte
		if mapping, err = beside("terraform-mapping.json"); err == nil {
			provider.Serve("kubernetes", version, schema, mapping)
			return
		}
	}
	fmt.Fprintln(os.Stderr, "pulumi-resource-kubernetes: reading its schema:", err)
	os.Exit(1)
}

func beside(name string) ([]byte, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(filepath.Dir(exe), name))
}
