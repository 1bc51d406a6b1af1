package config

import (
	"encoding/base64"
	"fmt"
	"strings"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// auth checks that each kind of credentials has its own keys, and no others.
func (v *validator) auth(a Auth) {
	at := strict.Path("gitops.auth")
	needs := map[AuthType][]string{
		AuthBasic: {"password"},
		AuthSSH:   {"privateKey", "knownHosts"},
	}
	excludes := map[AuthType][]string{
		AuthBasic: {"privateKey", "knownHosts"},
		AuthSSH:   {"username", "password"},
	}
	if !v.doc.Sound(at.Field("type")) {
		return
	}
	for _, key := range needs[a.Type] {
		if !v.doc.Has(at.Field(key)) {
			v.problem(at.Field(key), authRemedy(key), "is required with type %s", a.Type)
		}
	}
	for _, key := range excludes[a.Type] {
		if v.doc.Has(at.Field(key)) {
			v.problem(at.Field(key), "remove it", "has no effect with type %s", a.Type)
		}
	}
	v.secretRef(at.Field("password"), a.Password)
	v.secretRef(at.Field("privateKey"), a.PrivateKey)
	if a.Type == AuthSSH && v.doc.Has(at.Field("knownHosts")) {
		v.knownHosts(at.Field("knownHosts"), a.KnownHosts)
	}
}

func authRemedy(key string) string {
	if key == "knownHosts" {
		return "add the lines that ssh-keyscan prints for the host, once you have checked them"
	}
	return fmt.Sprintf("add %s with config, env or file, which says where the secret is", key)
}

// secretRef has exactly one of its fields.
func (v *validator) secretRef(at strict.Path, s *SecretRef) {
	if s == nil || !v.doc.Sound(at) {
		return
	}
	var set []string
	for _, key := range []string{"config", "env", "file"} {
		if v.doc.Has(at.Field(key)) {
			set = append(set, key)
		}
	}
	switch {
	case len(set) == 0:
		v.problem(at, "add config, env or file", "does not say where the secret is")
	case len(set) > 1:
		v.problem(at, "keep one of them", "has %s, and a secret is in one place", strings.Join(set, " and "))
	case set[0] == "file" && s.File == "":
		v.problem(at.Field("file"), "write the file's path, relative to the cluster file", "is empty")
	case strings.HasPrefix(s.File, "~"):
		v.problem(at.Field("file"), "write the path relative to the cluster file", "%s contains ~, which only a shell expands", wording.Quote(s.File))
	case strings.Contains(s.File, "PRIVATE KEY"):
		v.problem(at.Field("file"), "put the key into a file, and write its path", "contains the key itself, which does not belong in this file")
		v.doc.Conceal()
	case s.File != "":
		v.inProject(at.Field("file"), s.File, "keep it in the project, out of Git")
	}
}

// inProject refuses a file that NamedFile does.
func (v *validator) inProject(at strict.Path, name, remedy string) {
	if _, err := NamedFile(v.doc.File, name); err != nil {
		v.problem(at, remedy+", or have the environment variable "+SecretDirs+" name its directory", "%s", err.Error())
	}
}

// knownHosts has lines of a host, a key type and a key.
func (v *validator) knownHosts(at strict.Path, text string) {
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found = true
		if !knownHost(line) {
			v.problem(at, authRemedy("knownHosts"), "%s is not a line of a known_hosts file", wording.Quote(line))
			return
		}
	}
	if !found {
		v.problem(at, authRemedy("knownHosts"), "names no host")
	}
}

func knownHost(line string) bool {
	words := strings.Fields(line)
	if strings.HasPrefix(line, "@") {
		words = words[1:]
	}
	if len(words) < 3 {
		return false
	}
	_, err := base64.StdEncoding.DecodeString(words[2])
	return err == nil && strings.Contains(words[1], "-")
}
