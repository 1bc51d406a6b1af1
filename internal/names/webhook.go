package names

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// The webhook by which the Git host tells the engine of pushes.
const (
	// PlatformWebhook is the Secret with what the Git host and the engine both know, in the
	// engine's namespace.
	PlatformWebhook = "platform-webhook"
	// WebhookToken is the key of it: Flux's Receiver reads this one.
	WebhookToken = "token"
	// WebhookUser is the name that Azure DevOps signs in with. Its password is the secret.
	WebhookUser = "tombolo"
	// ArgoCDWebhook is the path of Argo CD's webhook.
	ArgoCDWebhook = "/api/webhook"
)

// FluxWebhook is the path of the webhook of Flux's Receiver, which has the name Platform. Source: GetWebhookPath in
// https://github.com/fluxcd/notification-controller/blob/api/v1.9.2/api/v1/receiver_types.go
func FluxWebhook(token string) string {
	sum := sha256.Sum256([]byte(token + Platform + FluxNamespace))
	return "/hook/" + hex.EncodeToString(sum[:])
}

// leastWebhookToken is the least length of a webhook's secret. With Flux it can be tried out by anybody
// who has seen the path.
const leastWebhookToken = 20

// CheckWebhookToken says what is wrong with the secret of a webhook. No error holds any of it.
func CheckWebhookToken(token string) error {
	const remedy = "; make one with `openssl rand -hex 32`"
	unfit := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	switch {
	case len(token) < leastWebhookToken:
		return errors.New("it is too short to be safe" + remedy)
	case unfit: // GitLab sends it in a header
		return errors.New("it has spaces, or characters beyond ASCII" + remedy)
	}
	return nil
}
