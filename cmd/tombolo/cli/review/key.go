package review

import (
	"fmt"
	"regexp"
	"strings"

	"tombolo/cmd/tombolo/cli/fault"
)

// DefaultKey is the key of a comment when none is given.
const DefaultKey = "preview"

// keyPattern keeps a key from ending the marker that it is in.
var keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckKey says what is wrong with the key of a comment.
func CheckKey(flag, key string) error {
	if !keyPattern.MatchString(key) || strings.Contains(key, "--") {
		return fault.NewUsage(fmt.Sprintf("%s is %q", flag, key), "use letters, digits and single . _ - in it")
	}
	return nil
}
