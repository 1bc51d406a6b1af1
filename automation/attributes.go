package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tombolo/stacks"
)

// attributes is the suffix of the file beside each file of a local backend that
// holds its type and its checksum.
const attributes = ".attrs"

// mendAttributes removes what a CLI left of a file's attributes that was killed
// while it wrote them: a local backend keeps them beside each file, which unlike the file itself it does not replace in one
// step. With an empty one the CLI cannot read a state that is whole; without, it
// reads it.
func (d *Driver) mendAttributes(stack string) error {
	dir, ok := d.backendDir()
	if !ok {
		return nil
	}
	for _, pattern := range []string{
		"meta.yaml" + attributes,
		filepath.Join("stacks", stacks.Project, stack+".json*"+attributes),
		filepath.Join("history", stacks.Project, stack, "*"+attributes),
		filepath.Join("locks", "organization", stacks.Project, stack, "*"+attributes),
	} {
		files, err := filepath.Glob(filepath.Join(dir, ".pulumi", pattern))
		if err != nil {
			return fmt.Errorf("look for the files of stack %s: %w", stack, err)
		}
		for _, file := range files {
			if err := d.mendAttributesFile(stack, file); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Driver) mendAttributesFile(stack, file string) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && json.Valid(content) {
		return nil
	}
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove unfinished attributes of stack %s: %w", stack, err)
	}
	d.opts.Observer.Note(stack, "recovered: removed attributes of "+
		filepath.Base(file[:len(file)-len(filepath.Ext(file))])+" that were not written to their end")
	return nil
}
