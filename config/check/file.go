// Package check reports how values of a file fit together, with what checks of several subjects need.
package check

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agext/levenshtein"

	"tombolo/config/awsfacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// File is a file that is checked: its document, and what checks of several subjects look at of
// what it describes.
type File struct {
	Doc    *strict.Document
	Format strict.Format
	// Name of the cluster or account, and where it is.
	Name            string
	Provider        field.Provider
	Region, Account string
	// Day by which files are judged.
	Day time.Time
	// OfAccount says that it is an account file.
	OfAccount bool
	// Existing says that others own the cluster, and Spoke that another cluster's Argo CD
	// manages it.
	Existing, Spoke bool
	// Proxied says that the cluster leaves its network by a proxy, and Mirrored that images
	// come from mirrors.
	Proxied, Mirrored bool
}

// OnAzure says that the cluster is in Azure.
func (v *File) OnAzure() bool { return v.Provider == field.Azure }

// Service is the cloud's managed Kubernetes, as people call it.
func (v *File) Service() string {
	if v.OnAzure() {
		return "AKS"
	}
	return "EKS"
}

// Problem reports a problem with the value at p, unless p could not be read, which
// is reported already.
func (v *File) Problem(p strict.Path, remedy, format string, args ...any) {
	if v.Doc.Sound(p) {
		v.Doc.Report(p, fmt.Sprintf(format, args...), remedy)
	}
}

// Warn gives a warning about the value at p.
func (v *File) Warn(p strict.Path, remedy, format string, args ...any) {
	if v.Doc.Sound(p) {
		v.Doc.Warn(p, fmt.Sprintf(format, args...), remedy)
	}
}

// KeyProblem reports a problem with a key that the user chose.
func (v *File) KeyProblem(p strict.Path, remedy, format string, args ...any) {
	v.Doc.ReportAt(v.Doc.KeyPosition(p), p, fmt.Sprintf(format, args...), remedy)
}

// Line of the value at p, for problems that refer to it, such as "line 3", or "line 3 of _prod.yaml"
// where it is in a file of shared settings.
func (v *File) Line(p strict.Path) string {
	at := v.Doc.Position(p)
	if at.File == "" {
		return fmt.Sprintf("line %d", at.Line)
	}
	return fmt.Sprintf("line %d of %s", at.Line, filepath.Base(at.File))
}

// Unique reports items of a list with the name of an earlier item.
func Unique[T any](v *File, list strict.Path, key string, items []T, name func(T) string, remedy string) {
	at := func(i int) strict.Path {
		if key == "" {
			return list.Index(i)
		}
		return list.Index(i).Field(key)
	}
	Repeated(items, name, func(i, first int) {
		v.Problem(at(i), remedy, "%s is already used at %s", wording.Quote(name(items[i])), v.Line(at(first)))
	})
}

// Misspelt reports a word that is unknown but similar to a known one.
func (v *File) Misspelt(p strict.Path, what, word string, known []string) {
	for _, k := range known {
		if k == word {
			return
		}
	}
	near := wording.Nearest(word, known)
	if near == "" || !isTypo(word, near) {
		return
	}
	v.Problem(p, fmt.Sprintf("did you mean %s?", near), "%s is not the name of %s", wording.Quote(word), what)
}

// Repeated calls report for every item that was seen before, with the index of
// the first.
func Repeated[T any](items []T, name func(T) string, report func(i, first int)) {
	seen := map[string]int{}
	for i, item := range items {
		key := name(item)
		if key == "" {
			continue
		}
		if first, ok := seen[key]; ok {
			report(i, first)
			continue
		}
		seen[key] = i
	}
}

// Itself is the name of an item of a list of names.
func Itself(s string) string { return s }

// isTypo says whether word is probably known with a typing error: short words may
// differ in one letter, longer ones in two.
func isTypo(word, known string) bool {
	distance := levenshtein.Distance(word, known, nil)
	if len(known) <= 5 {
		return distance <= 1
	}
	return distance <= 2
}

// Inside says where the cluster's network is.
func (v *File) Inside() string {
	if v.OnAzure() {
		return "inside the network"
	}
	return "inside the VPC"
}

// OwnKey refuses a KMS key of another region.
func (v *File) OwnKey(at strict.Path, arn, remedy string) {
	m := form.KMSKey.FindStringSubmatch(arn)
	if m == nil || !v.Doc.Sound("cloud.region") {
		return
	}
	if m[2] != v.Region {
		v.Problem(at, remedy, "the key is in %s, and the cluster in %s", m[2], v.Region)
		return
	}
	v.Partition(at, m[1])
}

// Partition checks that an ARN is of the region's partition.
func (v *File) Partition(at strict.Path, partition string) {
	if want := awsfacts.Partition(v.Region); v.Doc.Sound("cloud.region") && partition != want {
		v.Problem(at, fmt.Sprintf("start it with arn:%s:", want), "is in the partition %s, and the cluster in %s", partition, want)
	}
}

// InAccount checks partition and account of an IAM ARN, which form takes apart, and says
// whether it has that form. What is AWS's own is of every account.
func (v *File) InAccount(at strict.Path, form *regexp.Regexp, arn string) bool {
	m := form.FindStringSubmatch(arn)
	if m == nil {
		return false
	}
	v.Partition(at, m[1])
	if m[2] != "aws" {
		v.SameAccount(at, m[2])
	}
	return true
}

// SameAccount checks the account in an ARN.
func (v *File) SameAccount(at strict.Path, account string) {
	if v.Doc.Sound("cloud.account") && account != v.Account {
		v.Problem(at, "use one of the cluster's account",
			"is in the account %s, and the cluster in %s", account, v.Account)
	}
}

// Fits reports a value at p by which the name of something in the cloud becomes longer than its
// limit.
func (v *File) Fits(p strict.Path, what, name string, limit int) {
	over := len(name) - limit
	if over <= 0 {
		return
	}
	remedy := fmt.Sprintf("shorten it by %d", over)
	if p != "name" && strings.HasPrefix(name, v.Name) {
		remedy += ", or the cluster's name"
	}
	v.Problem(p, remedy, "makes the name of %s %s, which has %d characters; at most %d are allowed",
		what, wording.Quote(name), len(name), limit)
}

// PlainURL refuses an address that has more than host and path.
func (v *File) PlainURL(at strict.Path, raw, example string) {
	if raw == "" || !v.Doc.Sound(at) {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "":
		v.Problem(at, "write it like "+example, "names no host")
		v.Doc.Conceal()
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		v.Problem(at, "write it like "+example, "has credentials, a query or a fragment")
		v.Doc.Conceal()
	}
}

// Require reports the keys that only an existing cluster may do without.
func (v *File) Require(parent strict.Path, of reflect.Type, keys ...string) {
	for _, f := range v.Format.Fields(of) {
		if slices.Contains(keys, f.Name) {
			v.Format.Require(v.Doc, parent, f)
		}
	}
}

// OwnARNs refuses ARNs of another account or partition. AWS's own policies are of
// every account.
func (v *File) OwnARNs(arns map[strict.Path]string) {
	for _, at := range slices.Sorted(maps.Keys(arns)) {
		if m := anyIAM.FindStringSubmatch(arns[at]); m != nil {
			v.Partition(at, m[1])
			if m[2] != "aws" && v.Doc.Sound("cloud.account") && m[2] != v.Account {
				v.Problem(at, "use one of the same account", "is in the account %s, and cloud.account is %s", m[2], v.Account)
			}
		}
	}
}

var anyIAM = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):iam::(aws|[0-9]{12}):`)
