package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tombolo/internal/file"
)

// mendAttributes removes what a CLI left of a file's attributes that was killed
// while it wrote them: unlike the file itself, a local backend does not replace
// them in one step. With empty ones the CLI cannot read a state that is whole;
// without, it reads it.
func (b *Backend) mendAttributes(stack string) error {
	dir, ok := b.Directory()
	if !ok {
		return nil
	}
	project, name := inProject(stack)
	for _, pattern := range []string{
		filepath.Join(dir, ".pulumi", "meta.yaml"),
		statePath(dir, stack) + "*",
		filepath.Join(dir, ".pulumi", "history", project, name, "*"),
		filepath.Join(locksDir(dir, stack), "*"),
	} {
		files, err := file.Matching(pattern + attributes)
		if err != nil {
			return fmt.Errorf("look for the files of stack %s: %w", stack, err)
		}
		for _, file := range files {
			if err := b.mendAttributesFile(stack, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Backend) mendAttributesFile(stack, file string) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && json.Valid(content) {
		return nil
	}
	if err == nil {
		err = removeFile(file)
	}
	if err != nil {
		return fmt.Errorf("remove unfinished attributes of stack %s: %w", stack, err)
	}
	b.Note(stack, "recovered: removed attributes of "+
		strings.TrimSuffix(filepath.Base(file), attributes)+" that were not written to their end")
	return nil
}
