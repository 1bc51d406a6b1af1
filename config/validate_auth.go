package config

import (
	"encoding/base64"
	"fmt"
	"strings"

	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// checkAuth checks that each kind of credentials has its own keys, and no others.
func checkAuth(v *File, a Auth) {
	at := strict.Path("gitops.auth")
	needs := map[AuthType][]string{
		AuthBasic: {"password"},
		AuthSSH:   {"privateKey", "knownHosts"},
	}
	excludes := map[AuthType][]string{
		AuthBasic: {"privateKey", "knownHosts"},
		AuthSSH:   {"username", "password"},
	}
	if !v.Doc.Sound(at.Field("type")) {
		return
	}
	for _, key := range needs[a.Type] {
		if !v.Doc.Has(at.Field(key)) {
			v.Problem(at.Field(key), authRemedy(key), "is required with type %s", a.Type)
		}
	}
	for _, key := range excludes[a.Type] {
		if v.Doc.Has(at.Field(key)) {
			v.Problem(at.Field(key), "remove it", "has no effect with type %s", a.Type)
		}
	}
	checkSecretRef(v, at.Field("password"), a.Password)
	checkSecretRef(v, at.Field("privateKey"), a.PrivateKey)
	if a.Type == AuthSSH && v.Doc.Has(at.Field("knownHosts")) {
		checkKnownHosts(v, at.Field("knownHosts"), a.KnownHosts)
	}
}

func authRemedy(key string) string {
	if key == "knownHosts" {
		return "add the lines that ssh-keyscan prints for the host, once you have checked them"
	}
	return fmt.Sprintf("add %s with config, env or file, which says where the secret is", key)
}

// checkSecretRef has exactly one of its fields.
func checkSecretRef(v *File, at strict.Path, s *SecretRef) {
	if s == nil || !v.Doc.Sound(at) {
		return
	}
	var set []string
	for _, key := range []string{"config", "env", "file"} {
		if v.Doc.Has(at.Field(key)) {
			set = append(set, key)
		}
	}
	switch {
	case len(set) == 0:
		v.Problem(at, "add config, env or file", "does not say where the secret is")
	case len(set) > 1:
		v.Problem(at, "keep one of them", "has %s, and a secret is in one place", strings.Join(set, " and "))
	case set[0] == "file" && s.File == "":
		v.Problem(at.Field("file"), "write the file's path, relative to the cluster file", "is empty")
	case strings.HasPrefix(s.File, "~"):
		v.Problem(at.Field("file"), "write the path relative to the cluster file", "%s contains ~, which only a shell expands", wording.Quote(s.File))
	case strings.Contains(s.File, "PRIVATE KEY"):
		v.Problem(at.Field("file"), "put the key into a file, and write its path", "contains the key itself, which does not belong in this file")
		v.Doc.Conceal()
	case s.File != "":
		checkInProject(v, at.Field("file"), s.File, "keep it in the project, out of Git")
	}
}

// checkInProject refuses a file that NamedFile does.
func checkInProject(v *File, at strict.Path, name, remedy string) {
	if _, err := NamedFile(v.Doc.File, name); err != nil {
		v.Problem(at, remedy+", or have the environment variable "+SecretDirs+" name its directory", "%s", err.Error())
	}
}

// checkKnownHosts has lines of a host, a key type and a key.
func checkKnownHosts(v *File, at strict.Path, text string) {
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		found = true
		if !knownHost(line) {
			v.Problem(at, authRemedy("knownHosts"), "%s is not a line of a known_hosts file", wording.Quote(line))
			return
		}
	}
	if !found {
		v.Problem(at, authRemedy("knownHosts"), "names no host")
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
