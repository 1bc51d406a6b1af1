package ports

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// claim notes for the user's other labs that the port is of this book, and says whether it may
// be. A port whose process is stopped is free: without a note, another lab would take it, and
// the process could not start again. The note counts as long as the book has the port. Where
// notes cannot be kept, the port is taken without one.
func (b *Book) claim(port int) bool {
	cache, errCache := os.UserCacheDir()
	book, errBook := filepath.Abs(b.path)
	note := filepath.Join(cache, "tombolo", "ports", strconv.Itoa(port))
	if errors.Join(errCache, errBook, os.MkdirAll(filepath.Dir(note), 0o700)) != nil {
		return true
	}
	if other, err := os.ReadFile(note); err == nil {
		if string(other) != book && has(string(other), port) {
			return false
		}
		if os.Remove(note) != nil {
			return true
		}
	}
	f, err := os.OpenFile(note, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return !errors.Is(err, fs.ErrExist) // another lab claims it at this moment
	}
	defer f.Close()
	_, err = f.WriteString(book)
	return err == nil
}

// has says whether there is such a book, and a name in it has the port.
func has(book string, port int) bool {
	data, err := os.ReadFile(book)
	if err != nil {
		return false
	}
	var listed map[string]int
	if err := json.Unmarshal(data, &listed); err != nil {
		return true // it is being written, or damaged
	}
	return slices.Contains(slices.Collect(maps.Values(listed)), port)
}
