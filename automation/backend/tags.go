package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"tombolo/internal/file"
	"tombolo/stacks"
)

// This file reads and writes tags of stacks. A directory and a bucket have them in a file beside
// the state (stack_tags.go in Pulumi's backend/diy, 3.250), which is read here, as the CLI takes
// 0.3 s to start; all other backends are asked by the CLI.

// tagsFile is a file of tags.
type tagsFile struct {
	Version int               `json:"version"`
	Tags    map[string]string `json:"tags"`
}

// tagsVersion is the one that the CLI writes.
const tagsVersion = 1

// tagsKey is where the tags of a stack are, below the backend.
func tagsKey(stack string) string {
	return path.Join(".pulumi", "stacks", stacks.Project, stack+".pulumi-tags")
}

// Tag reads a tag of a stack; "" when the stack has none of the name.
func (b *Backend) Tag(ctx context.Context, stack, name string) (string, error) {
	text, known, err := b.tags(ctx, stack)
	if !known && err == nil {
		return b.CLI.Tag(ctx, stack, name)
	}
	if err != nil || text == nil {
		return "", err
	}
	all, err := parseTags(stack, text)
	return all.Tags[name], err
}

// SetTag writes a tag of a stack that exists, and keeps its others.
func (b *Backend) SetTag(ctx context.Context, stack, name, value string) error {
	text, known, err := b.tags(ctx, stack)
	if !known && err == nil {
		return b.CLI.SetTag(ctx, stack, name, value)
	}
	all := tagsFile{Version: tagsVersion, Tags: map[string]string{}}
	if err == nil && text != nil {
		all, err = parseTags(stack, text)
	}
	if err != nil {
		return err
	}
	all.Tags[name] = value
	if text, err = json.Marshal(all); err != nil {
		return fmt.Errorf("write the tags of stack %s: %w", stack, err)
	}
	if dir, ok := b.Directory(); ok {
		at := filepath.Join(dir, filepath.FromSlash(tagsKey(stack)))
		err = errors.Join(file.Replace(at, text, 0o600), removeFile(at+attributes))
	} else {
		err = b.bucket(ctx).write(ctx, tagsKey(stack), text)
	}
	if err != nil {
		return fmt.Errorf("write the tags of stack %s: %w", stack, err)
	}
	return nil
}

// tags is the file of a stack's tags; nil when it has none. It is not known of a backend that is
// left to the CLI.
func (b *Backend) tags(ctx context.Context, stack string) (text []byte, known bool, err error) {
	read := b.reader(ctx)
	if read == nil {
		return nil, false, nil
	}
	if _, local := b.Directory(); local {
		if meta, err := read(path.Join(".pulumi", "meta.yaml")); err != nil || !knownLayout(meta) {
			return nil, false, nil //nolint:nilerr // the CLI says it better
		}
	}
	text, err = read(tagsKey(stack))
	if err != nil {
		return nil, true, fmt.Errorf("read the tags of stack %s: %w", stack, err)
	}
	return text, true, nil
}

func parseTags(stack string, text []byte) (tagsFile, error) {
	var all tagsFile
	if err := json.Unmarshal(text, &all); err != nil {
		return all, fmt.Errorf("read the tags of stack %s: %w", stack, err)
	}
	if all.Version != tagsVersion {
		return all, fmt.Errorf("read the tags of stack %s: version %d of their file is unknown", stack, all.Version)
	}
	if all.Tags == nil {
		all.Tags = map[string]string{}
	}
	return all, nil
}
