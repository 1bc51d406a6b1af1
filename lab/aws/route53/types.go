package route53

import (
	"strings"
)

// The types of Route 53.
const (
	ZoneType   = "aws:route53/zone:Zone"
	RecordType = "aws:route53/record:Record"
)

// Domain is a name as Route 53 compares it.
func Domain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
