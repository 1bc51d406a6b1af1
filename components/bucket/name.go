package bucket

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

	// reserved beginnings and ends of names. Source: "General purpose bucket
	// naming rules" in the S3 User Guide.
	reservedPrefixes = []string{"xn--", "sthree-", "amzn-s3-demo-"}
	reservedSuffixes = []string{"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"}
)

// checkName applies S3's rules for names.
func checkName(name string) error {
	if !bucketName.MatchString(name) {
		return fmt.Errorf("bucket name %q is not 3 to 63 lower-case letters, digits, dots and hyphens with a letter or digit at both ends", name)
	}
	if strings.Contains(name, "..") {
		return fmt.Errorf("bucket name %q has two dots in a row", name)
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return fmt.Errorf("bucket name %q is an IP address", name)
	}
	if i := slices.IndexFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }); i >= 0 {
		return fmt.Errorf("bucket name %q begins with %s, which S3 keeps for itself", name, reservedPrefixes[i])
	}
	if i := slices.IndexFunc(reservedSuffixes, func(s string) bool { return strings.HasSuffix(name, s) }); i >= 0 {
		return fmt.Errorf("bucket name %q ends with %s, which S3 keeps for itself", name, reservedSuffixes[i])
	}
	return nil
}
