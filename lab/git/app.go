package git

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tombolo/internal/githubapp"
)

// The App that the lab's Git server knows, and its installation.
const (
	AppID           = 1001
	AppInstallation = 2002
)

// App plays the part of GitHub's API that gives a GitHub App tokens for Git.
type App struct {
	// Key is the file with the App's public key, in PEM. Without it there is no App.
	Key string

	mu     sync.Mutex
	tokens map[string]time.Time // when they expire
}

// Limits of GitHub's: what an App signs is for ten minutes at most, and a token lasts an hour.
// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
// https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
const (
	longestSigned = 10 * time.Minute
	tokenLife     = time.Hour
)

// Around has requests with a token of the App be those of the user with the password, and
// answers for the API itself, which is where a server of GitHub Enterprise has it.
func (a *App) Around(git http.Handler, user string, password func() (string, error)) http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", a.give)
	api.HandleFunc("/api/v3/", func(w http.ResponseWriter, _ *http.Request) { says(w, http.StatusNotFound, "Not Found") })
	api.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if name, token, _ := r.BasicAuth(); name == githubapp.User && a.takes(token) {
			current, err := password()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			r.SetBasicAuth(user, current)
		}
		git.ServeHTTP(w, r)
	})
	return api
}

// give gives a token to who shows that he has the App's key.
func (a *App) give(w http.ResponseWriter, r *http.Request) {
	signed, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch err := a.check(signed); {
	case !isBearer:
		says(w, http.StatusUnauthorized, "A JSON web token could not be decoded")
		return
	case errors.Is(err, fs.ErrNotExist):
		says(w, http.StatusNotFound, "Integration not found")
		return
	case err != nil:
		says(w, http.StatusUnauthorized, err.Error())
		return
	}
	if r.PathValue("id") != strconv.Itoa(AppInstallation) {
		says(w, http.StatusNotFound, "Not Found")
		return
	}
	token, until := "ghs_"+rand.Text(), time.Now().Add(tokenLife)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tokens == nil {
		a.tokens = map[string]time.Time{}
	}
	a.tokens[token] = until
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{"token": token, "expires_at": until.UTC().Format(time.RFC3339)}) // the client is gone
}

// check verifies what an App has signed.
func (a *App) check(signed string) error {
	text, err := os.ReadFile(a.Key)
	if err != nil {
		return err
	}
	key, err := jwt.ParseRSAPublicKeyFromPEM(text)
	if err != nil {
		return fmt.Errorf("the public key of the lab's App: %w", err)
	}
	var claims jwt.RegisteredClaims
	_, err = jwt.ParseWithClaims(signed, &claims, func(*jwt.Token) (any, error) { return key, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(strconv.Itoa(AppID)), jwt.WithIssuedAt(), jwt.WithExpirationRequired())
	switch {
	case err != nil:
		return err
	case claims.IssuedAt == nil:
		return errors.New("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	case time.Until(claims.ExpiresAt.Time) > longestSigned:
		return errors.New("'Expiration time' claim ('exp') is too far in the future")
	}
	return nil
}

func (a *App) takes(token string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for known, until := range a.tokens {
		if subtle.ConstantTimeCompare([]byte(known), []byte(token)) == 1 {
			return time.Now().Before(until)
		}
	}
	return false
}

func says(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the client is gone
}
