package config

import _ "embed"

//go:generate go test -run ^TestSchema$ -update .

// schema is generated from the types, their comments and the rules by TestSchema,
// which also compares the committed file.
//
//go:embed schema/cluster.v1.json
var schema []byte

// Schema is the JSON schema (draft 2020-12) of a cluster file, for editors. It
// shows what each value may be. Only Load checks how values fit together.
func Schema() ([]byte, error) { return append([]byte(nil), schema...), nil }

// accountSchema is generated as schema is, by TestAccountSchema.
//
//go:embed schema/account.v1.json
var accountSchema []byte

// AccountSchema is the JSON schema (draft 2020-12) of an account file, for editors.
func AccountSchema() ([]byte, error) { return append([]byte(nil), accountSchema...), nil }
