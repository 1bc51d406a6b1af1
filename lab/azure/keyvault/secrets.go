package keyvault

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// secretType records a secret with its versions. It is data of a vault, which no program makes,
// and stays while Azure keeps the vault.
const secretType = "lab:azure:VaultSecret"

// mostBytes of a request. A value has at most 25k bytes:
// https://learn.microsoft.com/en-us/azure/key-vault/secrets/about-secrets
const mostBytes = 64 << 10

// newSecret is a request to keep one:
// https://learn.microsoft.com/en-us/rest/api/keyvault/secrets/set-secret/set-secret
type newSecret struct {
	Value       *string           `json:"value"`
	ContentType string            `json:"contentType,omitempty"`
	Tags        map[string]string `json:"tags,omitempty"`
	Attributes  struct {
		Enabled *bool `json:"enabled"`
	} `json:"attributes"`
}

// secretOf is the record of a secret, or nil.
func (s *secrets) secretOf(q *question) *standin.Record {
	return s.cloud.Get(secretType, standin.Global, idOf(q))
}

func idOf(q *question) string { return nameOf(q.vault.ID) + "/" + strings.ToLower(q.PathValue("name")) }

// versions of a secret, the oldest first.
func versions(r *standin.Record) []standin.Props { return r.Outputs.Objects("versions") }

// set adds a version to a secret, and makes it with its first.
func (s *secrets) set(q *question) (any, error) {
	name := q.PathValue("name")
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := s.may(q, "setSecret/action", "/secrets/"+name); err != nil {
		return nil, err
	}
	var given newSecret
	if err := json.NewDecoder(io.LimitReader(q.Body, mostBytes)).Decode(&given); err != nil || given.Value == nil {
		return nil, &refusal{400, "BadParameter", "Property value is required", ""}
	}
	now := float64(s.cloud.Now().Unix())
	version := map[string]any{
		"version": strings.ReplaceAll(arm.UUID(), "-", ""), "value": *given.Value, "contentType": given.ContentType,
		"enabled": given.Attributes.Enabled == nil || *given.Attributes.Enabled, "created": now, "updated": now,
	}
	if len(given.Tags) > 0 {
		version["tags"] = given.Tags
	}
	r := s.secretOf(q)
	if r == nil {
		r = &standin.Record{
			Type: secretType, ID: idOf(q), Region: standin.Global, Created: s.cloud.Now(), Implied: true,
			Inputs: standin.Props{}, Outputs: standin.Props{"name": name},
		}
	}
	r = r.Clone()
	had, _ := r.Outputs["versions"].([]any)
	r.Outputs["versions"] = append(slices.Clone(had), version)
	if err := s.cloud.Put(r); err != nil {
		return nil, err
	}
	return s.bundle(q, r, version, true), nil
}

func checkName(name string) error {
	if nameForm.MatchString(name) {
		return nil
	}
	return &refusal{400, "BadParameter", "The request URI contains an invalid name: " + name, ""}
}

// get reads a version of a secret, the newest without one:
// https://learn.microsoft.com/en-us/rest/api/keyvault/secrets/get-secret/get-secret
func (s *secrets) get(q *question) (any, error) {
	name, version := q.PathValue("name"), q.PathValue("version")
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := s.may(q, "getSecret/action", "/secrets/"+name); err != nil {
		return nil, err
	}
	r := s.secretOf(q)
	if r != nil {
		all := versions(r)
		i := len(all) - 1
		if version != "" {
			i = slices.IndexFunc(all, func(v standin.Props) bool { return strings.EqualFold(v.Str("version"), version) })
		}
		if i >= 0 && all[i]["enabled"] == false {
			// https://learn.microsoft.com/en-us/azure/key-vault/secrets/about-secrets#secret-attributes
			return nil, &refusal{403, "Forbidden", "Operation get is not allowed on a disabled secret.", "SecretDisabled"}
		}
		if i >= 0 {
			return s.bundle(q, r, all[i], true), nil
		}
		name += "/" + version
	}
	return nil, &refusal{404, "SecretNotFound", "A secret with (name/id) " + name + " was not found in this key vault. " +
		"If you recently deleted this secret you may be able to recover it using the correct recovery command. " +
		"For help resolving this issue, please see https://go.microsoft.com/fwlink/?linkid=2125182", ""}
}

// list has the newest version of each secret, without values:
// https://learn.microsoft.com/en-us/rest/api/keyvault/secrets/get-secrets/get-secrets
func (s *secrets) list(q *question) (any, error) {
	if err := s.may(q, "readMetadata/action", ""); err != nil {
		return nil, err
	}
	found := []any{}
	for r := range s.cloud.Each(secretType, standin.Global) {
		if vault, _, _ := strings.Cut(r.ID, "/"); vault != nameOf(q.vault.ID) {
			continue
		}
		all := versions(r)
		if len(all) == 0 {
			return nil, errors.New("secret " + r.ID + " has no version")
		}
		found = append(found, s.bundle(q, r, all[len(all)-1], false))
	}
	return map[string]any{"value": found, "nextLink": nil}, nil
}

// bundle is a version as the API gives it.
func (s *secrets) bundle(q *question, r *standin.Record, version standin.Props, whole bool) any {
	level := "Recoverable+Purgeable"
	if q.vault.Outputs.Sub("properties")["enablePurgeProtection"] == true {
		level = "Recoverable"
	}
	id := "https://" + nameOf(q.vault.ID) + hostSuffix + "/secrets/" + r.Outputs.Str("name")
	out := map[string]any{"id": id, "attributes": map[string]any{
		"enabled": version["enabled"], "created": version["created"], "updated": version["updated"], "recoveryLevel": level,
	}}
	if whole {
		out["id"], out["value"] = id+"/"+version.Str("version"), version["value"]
	}
	for _, optional := range []string{"contentType", "tags"} {
		if value := version[optional]; value != nil && value != "" {
			out[optional] = value
		}
	}
	return out
}
