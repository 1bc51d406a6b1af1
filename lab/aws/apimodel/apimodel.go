// Package apimodel has what AWS's own descriptions of its APIs say of the calls
// that the stand-in's types stand for: which values they take, and with which
// errors they fail.
//
// calls.json is written by hand: it maps types of the provider and their inputs
// to calls. facts.json is read from the descriptions by tools/awsmodels, and
// names its source.
package apimodel

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	//go:embed calls.json
	callsData []byte
	//go:embed facts.json
	factsData []byte
)

// Mapping says what the inputs of a type become.
type Mapping struct {
	// Service in AWS's SDKs, such as EKS.
	Service string `json:"service"`
	// Sent are the calls that take the inputs, each with the path to a part of
	// what is sent: CreateLaunchTemplate/LaunchTemplateData.
	Sent []string `json:"sent"`
	// Names of inputs that are called otherwise in the API, by their paths such as
	// aliases.name. They can lead deeper: Placement.AvailabilityZone.
	Names map[string]string `json:"names"`
	// Unsent are inputs whose values the models cannot judge, and why.
	Unsent map[string]string `json:"unsent"`
}

type service struct {
	Operations map[string]operation `json:"operations"`
	Shapes     map[string]shape     `json:"shapes"`
}

type operation struct {
	Input  string   `json:"input"`
	Errors []string `json:"errors"`
}

// shape is what a value must be.
type shape struct {
	Type    string            `json:"type"`
	Min     *float64          `json:"min"`
	Max     *float64          `json:"max"`
	Pattern string            `json:"pattern"`
	Enum    []string          `json:"enum"`
	Members map[string]string `json:"members"`
	Member  string            `json:"member"`
	Key     string            `json:"key"`
	Value   string            `json:"value"`
}

// documents are the two files.
type documents struct {
	// Repository, its commit and version are the source; Calls is the digest of the calls.json
	// that was read.
	Repository, Commit, Version, Calls string
	Services                           map[string]service
	types                              map[string]Mapping
	codes                              map[string][]string
}

var read = sync.OnceValue(func() documents {
	var facts documents
	var calls struct {
		Services map[string]struct {
			Codes []string `json:"codes"`
		} `json:"services"`
		Types map[string]Mapping `json:"types"`
	}
	for _, file := range []struct {
		data []byte
		into any
	}{{factsData, &facts}, {callsData, &calls}} {
		if err := json.Unmarshal(file.data, file.into); err != nil {
			panic(fmt.Sprintf("read the facts about AWS's APIs: %v", err)) // they are part of the program
		}
	}
	facts.types, facts.codes = calls.Types, map[string][]string{}
	for name, s := range calls.Services {
		facts.codes[name] = s.Codes
	}
	return facts
})

// Of is the mapping of a type, such as aws:eks/nodeGroup:NodeGroup.
func Of(token string) (Mapping, bool) {
	m, known := read().types[token]
	return m, known
}

// Errors are the codes with which a call fails by its model. Codes that all
// calls of AWS share, such as ValidationError, are not among them.
func Errors(service, call string) (codes []string, known bool) {
	of, known := read().Services[service].Operations[call]
	return of.Errors, known
}

// Documented are codes of a service that its model does not have, and its
// documentation does.
func Documented(service string) []string { return read().codes[service] }

// shape of a name; none has the zero value.
func (s service) shape(name string) shape { return s.Shapes[name] }

// sent finds the shape of a part of what a call takes.
func (s service) sent(path string) shape {
	call, part, _ := strings.Cut(path, "/")
	at := s.shape(s.Operations[call].Input)
	for _, name := range strings.FieldsFunc(part, func(r rune) bool { return r == '/' }) {
		at, _ = s.member(at, name)
	}
	return at.element(s)
}

// element of a list, or the shape itself.
func (at shape) element(s service) shape {
	for at.Type == "list" {
		at = s.shape(at.Member)
	}
	return at
}

// member finds what a path such as Placement.AvailabilityZone leads to: the
// provider writes names in its own case, and lists of one as objects.
func (s service) member(at shape, path string) (shape, bool) {
	found := false
	for name := range strings.SplitSeq(path, ".") {
		at, found = at.element(s), false
		for member, of := range at.Members {
			if strings.EqualFold(member, name) {
				at, found = s.shape(of), true
				break
			}
		}
		if !found {
			return shape{}, false
		}
	}
	return at, found
}

// unicodeEscape is how the models, written for Java, name a character.
var unicodeEscape = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// pattern is the expression that a whole text must match; nil where there is none, and
// where it looks ahead, as Go's expressions cannot.
var pattern = func() func(string) *regexp.Regexp {
	var compiled sync.Map
	return func(text string) *regexp.Regexp {
		if text == "" || strings.Contains(text, "(?!") {
			return nil
		}
		known, ok := compiled.Load(text)
		if !ok {
			known = regexp.MustCompile(`(?s)^(?:` + unicodeEscape.ReplaceAllString(text, `\x{$1}`) + `)$`)
			compiled.Store(text, known)
		}
		return known.(*regexp.Regexp)
	}
}()

// unsent reports whether the models cannot judge an input or what it is in.
func (m Mapping) unsent(path string) bool {
	for at := path; ; at = at[:strings.LastIndexByte(at, '.')] {
		if _, is := m.Unsent[at]; is || slices.Contains([]string{"tags", "tagsAll", "region"}, at) {
			return true
		}
		if !strings.Contains(at, ".") {
			return false
		}
	}
}
