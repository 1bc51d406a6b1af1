// Package apimodel has what Microsoft's own descriptions of Azure's APIs say of the types that
// the stand-in has: which properties there are in the version of the API that is used, and
// which values they take.
//
// types.json is written by hand: it maps types of azure-native to resources. facts.json is
// read from the descriptions by tools/azuremodels, and names its source.
package apimodel

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

var (
	//go:embed types.json
	typesData []byte
	//go:embed facts.json
	factsData []byte
)

// mapping says what the inputs of a type become.
type mapping struct {
	// File of the facts that describes the type, and its name there.
	File     string `json:"file"`
	Resource string `json:"resource"`
	// Parameters are the inputs that become the resource's id. The last one names it.
	Parameters []string `json:"parameters"`
	// Whole says that azure-native shows the envelope "properties" as the API has it.
	Whole bool `json:"whole"`
	// Unsent are inputs that do not get into what is sent: the id says them.
	Unsent []string `json:"unsent"`
	// Names of inputs that are called otherwise in the API, by their paths; max-pods is maxPods
	// without.
	Names map[string]string `json:"names"`
	// Open are inputs, by their paths, whose values Azure adds to without a new version of
	// the API: those of the description are not all.
	Open map[string]string `json:"open"`
	// Codes are errors of a property's own, by the paths of inputs, and where they are from.
	Codes  map[string]string `json:"codes"`
	Source string            `json:"source"`
}

// file is what is described in one.
type file struct {
	Resources map[string]resource            `json:"resources"`
	Objects   map[string]map[string]property `json:"objects"`
}

type resource struct {
	Name property `json:"name"`
	Body string   `json:"body"`
}

// property is what a value must be.
type property struct {
	Required  bool      `json:"required"`
	ReadOnly  bool      `json:"readOnly"`
	Enum      []string  `json:"enum"`
	Pattern   string    `json:"pattern"`
	MinLength *float64  `json:"minLength"`
	MaxLength *float64  `json:"maxLength"`
	Min       *float64  `json:"min"`
	Max       *float64  `json:"max"`
	MinItems  *float64  `json:"minItems"`
	MaxItems  *float64  `json:"maxItems"`
	Object    string    `json:"object"`
	Items     *property `json:"items"`
	Values    *property `json:"values"`
}

// documents are the two files.
type documents struct {
	Repository, Commit string
	// Types is the digest of the types.json that was read.
	Types string
	Files map[string]file
	types map[string]mapping
}

var read = sync.OnceValue(func() documents {
	var facts documents
	var types struct {
		Types map[string]mapping `json:"types"`
	}
	for _, file := range []struct {
		data []byte
		into any
	}{{factsData, &facts}, {typesData, &types}} {
		if err := json.Unmarshal(file.data, file.into); err != nil {
			panic(fmt.Sprintf("read the facts about Azure's APIs: %v", err)) // they are part of the program
		}
	}
	facts.types = types.Types
	return facts
})

// Parameters are the inputs of a type that become the resource's id; the last one names it.
func Parameters(token string) []string { return read().types[token].Parameters }

// named is the input that names the resource.
func (m mapping) named() string { return m.Parameters[len(m.Parameters)-1] }

// model is what is known of a type.
type model struct {
	mapping
	file
}

func modelOf(token string) (model, bool) {
	m, known := read().types[token]
	return model{m, read().Files[m.File]}, known
}

// envelope is the property in which the API has what azure-native shows beside it.
const envelope = "properties"

// member finds what an input of an object becomes, and its path in the API below the object's.
// azure-native shows what is in the envelope "properties" of an object beside the envelope.
func (m model) member(object map[string]property, plain, key string) (property, string, bool) {
	name := key
	if renamed := m.Names[plain]; renamed != "" {
		name = renamed
	}
	if arm, is := called(object, name); is {
		return object[arm], arm, true
	}
	within := m.Objects[object[envelope].Object]
	arm, is := called(within, name)
	return within[arm], envelope + "." + arm, is && !m.Whole
}

// called finds a property by the name that azure-native has for it.
func called(object map[string]property, name string) (string, bool) {
	if _, is := object[name]; is {
		return name, true
	}
	for arm := range object {
		if camel(arm) == name {
			return arm, true
		}
	}
	return "", false
}

var hyphened = regexp.MustCompile(`-[a-z]`)

// camel is a name as azure-native spells it: max-pods is maxPods.
func camel(name string) string {
	return hyphened.ReplaceAllStringFunc(name, func(part string) string { return strings.ToUpper(part[1:]) })
}

// shown is how azure-native calls a property of the API that is in an input, or in the inputs.
func (m mapping) shown(plain, name string) string {
	for input, renamed := range m.Names {
		within, called := "", input
		if i := strings.LastIndexByte(input, '.'); i >= 0 {
			within, called = input[:i], input[i+1:]
		}
		if renamed == name && within == plain {
			return called
		}
	}
	return camel(name)
}

// patterns that were compiled, by their texts; nil for one that Go's expressions cannot say.
var patterns sync.Map

// pattern is a property's expression, nil for none. azure-native passes over those that look
// ahead, too: it has Go's expressions.
func pattern(text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	known, is := patterns.Load(text)
	if !is {
		compiled, err := regexp.Compile(text)
		if err != nil {
			compiled = nil
		}
		known, _ = patterns.LoadOrStore(text, compiled)
	}
	return known.(*regexp.Regexp)
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }
