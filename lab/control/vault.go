package control

import (
	"encoding/json"
	"fmt"
)

// VaultRequest is a request to the secrets of a key vault.
type VaultRequest struct {
	// Method and Path of the API, such as GET and /secrets/app.
	Method, Path string
	// Vault is the name of the vault.
	Vault string
	// Body is the input in the API's JSON. Optional.
	Body json.RawMessage
}

// VaultError is a refusal of a key vault, or of Entra.
type VaultError struct{ Code, Message string }

// Error says it as the Azure CLI does.
func (e *VaultError) Error() string { return fmt.Sprintf("(%s) %s", e.Code, e.Message) }
