package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tombolo/automation/fault"
)

// copyTimeout bounds what is done about copies before an operation, and after it, also
// when it was interrupted: four or five requests of 100 ms each, with retries.
const copyTimeout = 30 * time.Second

// copies are the keys of the copies of a state, oldest first: S3 lists in the order of
// keys, and theirs end in as many digits of nanoseconds.
func (k *bucket) copies(ctx context.Context, stack string) ([]string, error) {
	keys, err := k.list(ctx, stateKey(stack)+".")
	if err != nil {
		return nil, fmt.Errorf("look for copies of the state of stack %s: %w", stack, err)
	}
	var out []string
	for _, key := range keys {
		stamp := strings.TrimPrefix(key, stateKey(stack)+".")
		if _, err := strconv.ParseInt(stamp, 10, 64); err == nil {
			out = append(out, key)
		}
	}
	return out, nil
}

// beginCopies keeps the state as it is before an operation, as an object beside it, and
// removes those that earlier operations left. Without a state there is nothing to keep;
// a compressed one, under another key, is left to the CLI.
func (k *bucket) beginCopies(stack string) error {
	ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
	defer cancel()
	earlier, err := k.copies(ctx, stack)
	var content []byte
	if err == nil {
		content, err = k.read(ctx, stateKey(stack))
	}
	if err == nil && json.Valid(content) {
		err = k.write(ctx, fmt.Sprintf("%s.%d", stateKey(stack), time.Now().UnixNano()), content)
		if err == nil {
			err = k.removeAll(ctx, earlier)
		}
	}
	if err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("no copy can be made of the state of stack %s: %v", stack, err),
			Remedy: "nothing was started: allow the credentials in use to list, read, write and delete in the bucket of the state backend", Err: err,
		}
	}
	return nil
}

// endCopies removes the copies when the operation has left a whole state, and no lock.
func (k *bucket) endCopies(stack string) error {
	ctx, cancel := context.WithTimeout(context.Background(), copyTimeout)
	defer cancel()
	held, err := k.locks(ctx, stack)
	if err != nil || len(held) > 0 {
		return err
	}
	content, err := k.read(ctx, stateKey(stack))
	if err != nil || !json.Valid(content) {
		return err
	}
	copies, err := k.copies(ctx, stack)
	if err != nil {
		return err
	}
	return k.removeAll(ctx, copies)
}

func (k *bucket) removeAll(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := k.remove(ctx, key); err != nil {
			return fmt.Errorf("remove a copy of a state: %w", err)
		}
	}
	return nil
}
