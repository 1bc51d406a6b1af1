package backend

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tombolo/internal/file"
	"tombolo/internal/scalar"
)

// Search is where the URL of a backend is looked for.
type Search struct {
	// Root is the directory of Pulumi.yaml.
	Root string
	// Home returns the directory where the CLI keeps its credentials by default.
	Home func() (string, error)
	// Getenv reads a variable as the CLI will see it.
	Getenv func(string) string
}

// Find returns the URL of the backend that the CLI uses when it is given none: the
// project's, or the one that it is logged in to; "" when there is neither.
func (s Search) Find() (string, error) {
	for _, look := range []func() (string, error){s.inProject, s.loggedIn} {
		found, err := look()
		if err != nil {
			return "", fmt.Errorf("find out which state backend is in use: %w", err)
		}
		if found != "" {
			return found, nil
		}
	}
	return "", nil
}

// Contradiction says that a variable names another backend than the project does: the
// CLI takes the variable's, and the project is committed. "" is none.
func (s Search) Contradiction(variable, workDir string) (string, error) {
	pinned, err := s.inProject()
	if err != nil || pinned == "" || variable == "" || Identity(pinned, workDir) == Identity(variable, workDir) {
		return "", err
	}
	return fmt.Sprintf("Pulumi.yaml pins the state backend %s, and PULUMI_BACKEND_URL is %s", Shown(pinned, workDir), Shown(variable, workDir)), nil
}

// inProject is the backend that the project's Pulumi.yaml names.
func (s Search) inProject() (string, error) {
	text, err := file.ReadInside(filepath.Join(s.Root, "Pulumi.yaml"), file.MostOfSettings)
	if err != nil {
		return "", err
	}
	at, err := scalar.At(text, "backend", "url")
	if err != nil {
		return "", fmt.Errorf("read Pulumi.yaml: %w", err)
	}
	return at, nil
}

// loggedIn is the backend that `pulumi login` has chosen.
func (s Search) loggedIn() (string, error) {
	dir, err := s.Getenv("PULUMI_CREDENTIALS_PATH"), error(nil)
	if dir == "" {
		dir, err = s.Home()
	}
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(dir, "credentials.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var credentials struct {
		Current string `json:"current"`
	}
	if err := json.Unmarshal(text, &credentials); err != nil {
		return "", fmt.Errorf("read the credentials of pulumi in %s: %w", dir, err)
	}
	return credentials.Current, nil
}

// Shown is the URL as people read it: without a user, a password, and options.
func Shown(at, workDir string) string {
	whole := Identity(at, workDir)
	u, err := url.Parse(whole)
	if err != nil {
		return "with a URL that cannot be read"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Again is the URL as it may stand in a command to repeat: with xxxxx in the place of
// a password.
func Again(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return "<the same URL>"
	}
	if options := u.Query(); hidePasswords(options, "xxxxx") {
		u.RawQuery = options.Encode()
	}
	return u.Redacted()
}

// hidePasswords replaces the passwords among a URL's options, such as those of
// https://www.postgresql.org/docs/current/libpq-connect.html, and says whether there
// were any.
func hidePasswords(options url.Values, by string) bool {
	found := false
	for _, key := range []string{"password", "sslpassword"} {
		if options.Has(key) {
			options.Set(key, by)
			found = true
		}
	}
	return found
}

// Absolute is the URL of a backend with the absolute path of a directory, so that it is
// the same one from everywhere.
func Absolute(at, workDir string) string {
	given, query, more := strings.Cut(at, "?")
	path, ok := strings.CutPrefix(given, "file://")
	if !ok || filepath.IsAbs(path) || strings.HasPrefix(path, "~") {
		return at
	}
	escaped := (&url.URL{Path: filepath.ToSlash(workDir)}).EscapedPath()
	out := "file://" + filepath.ToSlash(filepath.Join(escaped, path))
	if more {
		out += "?" + query
	}
	return out
}

// ForCLI is the URL by which the CLI opens a backend: a directory without the attributes
// beside each file, unless the URL decides that itself. The CLI reads a state without them,
// a kill cannot leave half of them, and writing a state takes a fifth less. Source:
// https://pkg.go.dev/gocloud.dev/blob/fileblob#URLOpener
func ForCLI(at string) string {
	if !strings.HasPrefix(at, "file://") {
		return at
	}
	_, query, more := strings.Cut(at, "?")
	options, err := url.ParseQuery(query)
	switch {
	case err != nil || options.Has("metadata"): // the CLI says what is wrong
		return at
	case more:
		return at + "&metadata=skip"
	}
	return at + "?metadata=skip"
}

// Identity is the URL that tells a backend from others: a directory has its absolute
// path, and a password is left out.
func Identity(at, workDir string) string {
	if dir, ok := localDir(at, workDir); ok {
		return "file://" + filepath.ToSlash(filepath.Clean(dir))
	}
	parsed, err := url.Parse(at)
	if err != nil {
		return at // as it is no URL, nothing can log in by it
	}
	if parsed.User != nil {
		parsed.User = url.User(parsed.User.Username())
	}
	if options := parsed.Query(); hidePasswords(options, "") {
		parsed.RawQuery = options.Encode()
	}
	return parsed.String()
}
