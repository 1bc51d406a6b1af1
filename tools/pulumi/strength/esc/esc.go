// Package zxcvbn is what the CLI's esc commands ask: the same as the others.
package zxcvbn

import "github.com/nbutton23/zxcvbn-go"

// PasswordStrength is that of the package that the other commands ask.
func PasswordStrength(text string, with []string) zxcvbn.Strength {
	return zxcvbn.PasswordStrength(text, with)
}
