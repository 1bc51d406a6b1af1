// Package clusters finds the cluster files that a command line names.
package clusters

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/config"
	"tombolo/internal/file"
)

// dir holds the cluster files, below the project's root.
const dir = "clusters"

// ClusterFile is the kind of a cluster's file.
var ClusterFile = Kind{Name: "cluster", File: "a cluster file", Dir: dir}

// suffix of a cluster file. A file Pulumi.<stack>.yaml beside it holds a
// stack's secrets and is not a cluster file, nor is one of shared settings.
const suffix = ".yaml"

// Known returns the names of the clusters of a project, sorted. A project
// without the directory has none.
func Known(root string) ([]string, error) {
	at := filepath.Join(root, dir)
	if err := file.Inside(at); err != nil {
		return nil, fault.NewUsage(fmt.Sprintf("cluster files cannot be read: %v", err), "")
	}
	entries, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for cluster files: %w", err)
	}
	var names []string
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), suffix)
		if ok && !entry.IsDir() && !strings.HasPrefix(name, "Pulumi.") && name != "Pulumi" && !config.IsShared(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// IsPath says whether an argument is a path, not a name.
func IsPath(arg string) bool {
	return strings.ContainsRune(arg, filepath.Separator) ||
		strings.HasSuffix(arg, suffix) || strings.HasSuffix(arg, ".yml")
}

// Files returns the path of the cluster file for each argument, which is a
// cluster's name or a path. The root is asked for only when an argument is a
// name. An unknown one is an error of class fault.Usage.
func Files(root func() (string, error), args []string) ([]string, error) {
	files := make([]string, 0, len(args))
	for _, arg := range args {
		file, err := find(root, arg)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(files, func(other string) bool { return same(other, file) }) {
			files = append(files, file)
		}
	}
	return files, nil
}

// same says whether two paths name one file.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

func find(root func() (string, error), arg string) (string, error) {
	if IsPath(arg) {
		if _, err := os.Stat(arg); err != nil {
			return "", fault.NewUsage(fmt.Sprintf("cluster file %s cannot be read: %v", arg, cause(err)), "check the path")
		}
		return arg, nil
	}
	base, err := root()
	if err != nil {
		return "", err
	}
	names, err := Known(base)
	if err != nil {
		return "", err
	}
	if !slices.Contains(names, arg) {
		return "", ClusterFile.Unknown(arg, names)
	}
	return filepath.Join(base, dir, arg+suffix), nil
}

// FilesOrAll returns the paths of the cluster files for the arguments, all of the
// project's without arguments. A project without one is an error of class
// fault.Usage.
func FilesOrAll(root func() (string, error), args []string) ([]string, error) {
	if len(args) > 0 {
		return Files(root, args)
	}
	base, err := root()
	if err != nil {
		return nil, err
	}
	files, err := All(base)
	if err == nil && len(files) == 0 {
		err = fault.NewUsage(fmt.Sprintf("there is no cluster file in %s/", dir),
			fmt.Sprintf("write %s/<name>%s, or give the path of a cluster file", dir, suffix))
	}
	return files, err
}

// All returns the paths of all cluster files of a project.
func All(root string) ([]string, error) {
	names, err := Known(root)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = filepath.Join(root, dir, name+suffix)
	}
	return files, nil
}

// cause is what the system says, without the path that the caller says.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
