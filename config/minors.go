package config

import (
	"fmt"
	"strconv"
	"strings"
)

// encrypts says that the file turns the encryption of Secrets on, as it does by default.
func (c *Cluster) encrypts() bool {
	enabled := c.Kubernetes.SecretsEncryption.Enabled
	return enabled == nil || *enabled
}

// CompareMinors compares two versions of Kubernetes such as 1.35: it is negative when the
// first is older, 0 when they are the same, and positive when it is newer.
func CompareMinors(a, b string) int { return minorOf(a) - minorOf(b) }

// MovedMinors is the version of Kubernetes some minors after another, such as 1.35 one after
// 1.34; before it when minors is negative.
func MovedMinors(version string, minors int) string {
	major, _, _ := strings.Cut(version, ".")
	return fmt.Sprintf("%s.%d", major, minorOf(version)+minors)
}

// minorOf a version that EKS has, such as 35 of 1.35.
func minorOf(version string) int {
	_, minor, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return 0
	}
	return n
}
