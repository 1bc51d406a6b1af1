package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// billSuffix follows the name of an archive in that of its bill of materials:
// https://cyclonedx.org/specification/overview/#recognized-file-patterns.
const billSuffix = ".cdx.json"

// bill writes what the programs of an archive consist of, as they say themselves, in CycloneDX 1.6.
func (r *release) bill(p program) error {
	sum, err := digest(p.file)
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(r.to, p.archive()+billSuffix))
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	return errors.Join(encoder.EncodeVersion(materials(p, sum), cyclonedx.SpecVersion1_6), file.Close())
}

// materials are the program, the modules that it was linked from, and Go's own library.
// sum is the program's SHA-256: the document's number follows from it, so that two builds have
// the same one.
func materials(p program, sum string) *cyclonedx.BOM {
	main := component(cyclonedx.ComponentTypeApplication, p.build.Main.Path, p.build.Main.Version)
	main.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: sum}}
	main.Properties = &[]cyclonedx.Property{{Name: "go:platform", Value: p.platform}, {Name: "vcs:revision", Value: p.commit}}
	// The standard library is a module with this name where vulnerabilities are listed:
	// https://pkg.go.dev/vuln/list.
	libraries := []cyclonedx.Component{component(cyclonedx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(p.build.GoVersion, "go"))}
	for _, module := range modules(p) {
		libraries = append(libraries, library(module))
	}
	refs := make([]string, len(libraries))
	for i, l := range libraries {
		refs[i] = l.BOMRef
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceOID, []byte(sum)).URN()
	bom.Metadata = &cyclonedx.Metadata{Timestamp: p.committed.Format(time.RFC3339), Component: &main}
	bom.Components = &libraries
	// A program says which modules it has, and not which of them needs which.
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return bom
}

// modules are those of the driver, and then what the lab's program has besides.
func modules(p program) []*debug.Module {
	all := slices.Clone(p.build.Deps)
	if p.lab == nil {
		return all
	}
	for _, m := range p.lab.build.Deps {
		if !slices.ContainsFunc(all, func(has *debug.Module) bool { return has.Path == m.Path }) {
			all = append(all, m)
		}
	}
	return all
}

// library is a module, or what replaces it.
func library(module *debug.Module) cyclonedx.Component {
	used := cmp.Or(module.Replace, module)
	c := component(cyclonedx.ComponentTypeLibrary, used.Path, used.Version)
	if used.Sum != "" {
		// The digest of a list of files, which is no digest of a file as Hashes has them:
		// https://go.dev/ref/mod#go-sum-files.
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: used.Sum}}
	}
	return c
}

// component has its package URL as its reference:
// https://github.com/package-url/purl-spec/blob/main/types-doc/golang-definition.md.
func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path
	if version != "" {
		url += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	return cyclonedx.Component{BOMRef: url, Type: kind, Name: path, Version: version, PackageURL: url}
}
