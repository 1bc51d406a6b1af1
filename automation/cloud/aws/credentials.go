package aws

import (
	"bufio"
	"cmp"
	"crypto/sha1" //nolint:gosec // the AWS CLI names its cache so
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/automation/preflight"
	"tombolo/config"
)

const credentialsCheck = "credentials"

// lifetime is how long credentials should last when an up starts. A cluster with
// its nodes takes 20 to 30 minutes on AWS; the rest is for its teardown, or a
// second try.
const lifetime = time.Hour

// deepest chain of profiles that name each other.
const deepest = 5

// source reads where the AWS SDK looks for credentials, and judges what it would
// find there, without a call: whether it would have to prompt, and how
// long it lasts. The SDK itself has the last word, when the cloud is asked.
type source struct {
	// lookup reads an environment variable; empty when it is not set.
	lookup func(string) string
	// profileName is that of the cluster file; empty for the environment's.
	profileName string
	// now is the time.
	now time.Time
}

// Credentials judges what the SDK would take for the cluster.
func (Cloud) Credentials(c *config.Cluster, env func(string) string, now time.Time) preflight.Finding {
	return source{lookup: env, profileName: c.Cloud.Profile, now: now}.credentials()
}

func (s source) credentials() preflight.Finding {
	const set = "set cloud credentials, for instance by AWS_PROFILE"
	if s.profileName == "" && s.lookup("AWS_ACCESS_KEY_ID") != "" {
		return s.environment()
	}
	if s.profileName == "" && s.lookup("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		return preflight.Good(credentialsCheck, "a web identity, which renews itself")
	}
	explicit := cmp.Or(s.profileName, s.lookup("AWS_PROFILE"))
	name, profiles := cmp.Or(explicit, "default"), s.profiles()
	if _, ok := profiles[name]; ok {
		return s.profile(profiles, name, 0)
	}
	switch {
	case explicit != "":
		return preflight.Bad(credentialsCheck, preflight.Fail, "add it, or name another: by cloud.profile or AWS_PROFILE", "there is no profile %s in the AWS configuration", name)
	case s.lookup("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+s.lookup("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		return preflight.Good(credentialsCheck, "the container's role, which renews itself")
	case strings.EqualFold(s.lookup("AWS_EC2_METADATA_DISABLED"), "true"):
		return preflight.Bad(credentialsCheck, preflight.Fail, set, "neither the environment nor the AWS configuration has any")
	}
	return preflight.Bad(credentialsCheck, preflight.Warn, set+", unless this machine has a role", "neither the environment nor the AWS configuration has any")
}

func (s source) environment() preflight.Finding {
	if s.lookup("AWS_SESSION_TOKEN") == "" {
		return preflight.Good(credentialsCheck, "an access key of the environment")
	}
	ends, err := time.Parse(time.RFC3339, s.lookup("AWS_CREDENTIAL_EXPIRATION"))
	if err != nil {
		return preflight.Bad(credentialsCheck, preflight.Warn, "make sure that they last for an hour; AWS_CREDENTIAL_EXPIRATION would tell",
			"temporary credentials of the environment, which do not say when they end")
	}
	return s.lasting("temporary credentials of the environment", "renew them", ends)
}

// lasting judges by the time that is left.
func (s source) lasting(what, remedy string, ends time.Time) preflight.Finding {
	left := ends.Sub(s.now).Round(time.Minute)
	switch {
	case left <= 0:
		return preflight.Bad(credentialsCheck, preflight.Fail, remedy, "%s ended at %s", what, ends.UTC().Format(time.RFC3339))
	case left < lifetime:
		return preflight.Bad(credentialsCheck, preflight.Warn, remedy+" first: an up may take longer", "%s, for only another %s", what, left)
	}
	return preflight.Good(credentialsCheck, "%s, for another %s", what, left)
}

// profile judges one, and those that it takes its credentials from.
func (s source) profile(all map[string]map[string]string, name string, depth int) preflight.Finding {
	p, ok := all[name]
	what := "profile " + name
	switch {
	case !ok || depth > deepest:
		return preflight.Bad(credentialsCheck, preflight.Fail, "correct the AWS configuration", "%s is not there, or leads to itself", what)
	case p["mfa_serial"] != "":
		return preflight.Bad(credentialsCheck, preflight.Fail, "use a profile without mfa_serial, such as one of temporary credentials that were got with the code",
			"%s asks for a code of %s", what, p["mfa_serial"])
	case p["sso_session"] != "" || p["sso_start_url"] != "":
		return s.signOn(name, p)
	case p["source_profile"] != "" && p["source_profile"] != name:
		return s.profile(all, p["source_profile"], depth+1)
	case p["credential_process"] != "":
		return preflight.Bad(credentialsCheck, preflight.Warn, "make sure that it does not prompt", "%s runs a program for its credentials", what)
	case p["web_identity_token_file"] != "" || p["credential_source"] != "":
		return preflight.Good(credentialsCheck, "%s, which renews itself", what)
	case p["aws_session_token"] != "":
		return preflight.Bad(credentialsCheck, preflight.Warn, "make sure that they last for an hour", "%s has temporary credentials, which do not say when they end", what)
	case p["aws_access_key_id"] != "":
		return preflight.Good(credentialsCheck, "an access key of %s", what)
	}
	return preflight.Bad(credentialsCheck, preflight.Fail, "give it credentials, or name another profile", "%s has no credentials", what)
}

// signOn judges IAM Identity Center's token, as the AWS CLI has left it: the SDK
// takes it from there, and never opens a browser itself.
func (s source) signOn(name string, p map[string]string) preflight.Finding {
	digest := sha1.Sum([]byte(cmp.Or(p["sso_session"], p["sso_start_url"]))) //nolint:gosec // as above
	remedy := "run `aws sso login --profile " + name + "` before"
	text, err := os.ReadFile(filepath.Join(s.home(), "sso", "cache", hex.EncodeToString(digest[:])+".json"))
	if err != nil {
		return preflight.Bad(credentialsCheck, preflight.Fail, remedy, "no sign-on was found for profile %s", name)
	}
	var token struct {
		ExpiresAt    string `json:"expiresAt"`
		RefreshToken string `json:"refreshToken"`
	}
	ends := time.Time{}
	if err = json.Unmarshal(text, &token); err == nil {
		ends, err = time.Parse(time.RFC3339, token.ExpiresAt)
	}
	switch {
	case err != nil:
		return preflight.Bad(credentialsCheck, preflight.Fail, remedy, "the sign-on of profile %s cannot be read: %v", name, err)
	case token.RefreshToken != "" && ends.After(s.now):
		return preflight.Good(credentialsCheck, "the sign-on of profile %s, which renews itself", name)
	}
	return s.lasting("the sign-on of profile "+name, remedy, ends)
}

func (s source) home() string { return filepath.Join(s.lookup("HOME"), ".aws") }

// profiles of the AWS configuration, by name. In the file config all but the
// default one are headed with the word profile.
func (s source) profiles() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, file := range []struct{ variable, name, prefix string }{
		{"AWS_CONFIG_FILE", "config", "profile "}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", ""},
	} {
		for section, values := range readINI(cmp.Or(s.lookup(file.variable), filepath.Join(s.home(), file.name))) {
			name, ok := strings.CutPrefix(section, file.prefix)
			if !ok && section != "default" {
				continue
			}
			name = strings.TrimSpace(name)
			if all[name] == nil {
				all[name] = map[string]string{}
			}
			maps.Copy(all[name], values)
		}
	}
	return all
}

// readINI reads the sections of a file; none when it cannot be read, as the SDK
// does. Nested values, which are indented, are ignored.
func readINI(path string) map[string]map[string]string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	out := map[string]map[string]string{}
	section := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimRight(lines.Text(), " \t\r")
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = strings.TrimSpace(line[1 : len(line)-1])
			out[section] = map[string]string{}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok && section != "" && !strings.ContainsAny(line[:1], " \t#;") {
			out[section][strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	return out
}
