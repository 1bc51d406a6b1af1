package lab

import (
	"encoding/json"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// authenticate finds the user of a bearer token in a cluster.
type authenticate func(cluster, token string) (username string, groups []string, err error)

// reviewHandler answers the token reviews of API servers, each at
// /<its cluster's name>: it is what EKS has the IAM authenticator for.
func reviewHandler(who authenticate) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&review); err != nil {
			http.Error(w, "read the token review: "+err.Error(), http.StatusBadRequest)
			return
		}
		user, groups, err := who(strings.TrimPrefix(r.URL.Path, "/"), review.Spec.Token)
		review.Spec = authenticationv1.TokenReviewSpec{} // the token is not sent back
		if err != nil {
			review.Status = authenticationv1.TokenReviewStatus{Error: err.Error()}
		} else {
			review.Status = authenticationv1.TokenReviewStatus{
				Authenticated: true, User: authenticationv1.UserInfo{Username: user, Groups: groups},
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // the client went away
	})
}
