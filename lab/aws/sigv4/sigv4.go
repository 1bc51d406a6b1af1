// Package sigv4 checks signatures of AWS's Signature Version 4, in
// the Authorization header of a request or in the query of a presigned URL.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
//
// The signer of AWS's SDK only signs. To check a signature, one must build it
// from exactly what the caller signed, which that signer does not let one do.
package sigv4

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	timeFormat = "20060102T150405Z"
	// The parameters of a presigned URL, in the spelling of every SDK.
	queryAlgorithm  = "X-Amz-Algorithm"
	queryCredential = "X-Amz-Credential"
	queryDate       = "X-Amz-Date"
	queryExpires    = "X-Amz-Expires"
	queryHeaders    = "X-Amz-SignedHeaders"
	querySignature  = "X-Amz-Signature"
	queryToken      = "X-Amz-Security-Token"
)

// ErrUnsigned says that a request has no signature at all.
var ErrUnsigned = errors.New("the request is not signed")

// Credentials sign requests.
type Credentials struct {
	// AccessKeyID and SecretAccessKey are the pair.
	AccessKeyID, SecretAccessKey string
	// SessionToken goes with temporary credentials; empty for others.
	SessionToken string
}

// Signature is what a request says about how it was signed. Nothing of it is
// true before Verify says so.
type Signature struct {
	// AccessKeyID of the caller.
	AccessKeyID string
	// SessionToken of the caller's temporary credentials, or empty.
	SessionToken string
	// Date of the signature, to the second.
	Date time.Time
	// Region and Service that the signature is for.
	Region, Service string
	// SignedHeaders in lower case, in the order of the request.
	SignedHeaders []string
	// Presigned signatures are in the URL.
	Presigned bool
	// Expires is how long a presigned URL says that it is valid.
	Expires time.Duration

	scope, value string
}

// Parse reads the signature of a request. An error other than ErrUnsigned says
// what is wrong with its form.
func Parse(r *http.Request) (*Signature, error) {
	query := r.URL.Query()
	s := &Signature{SessionToken: r.Header.Get(queryToken)}
	date := r.Header.Get(queryDate)
	fields := map[string]string{}
	switch header := r.Header.Get("Authorization"); {
	case header != "":
		rest, ok := strings.CutPrefix(header, algorithm+" ")
		if !ok {
			return nil, fmt.Errorf("the Authorization header is not of %s", algorithm)
		}
		for part := range strings.SplitSeq(rest, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			fields[key] = value
		}
	case query.Has(querySignature):
		if query.Get(queryAlgorithm) != algorithm {
			return nil, fmt.Errorf("%s is not %s", queryAlgorithm, algorithm)
		}
		s.Presigned, s.SessionToken, date = true, query.Get(queryToken), query.Get(queryDate)
		fields["Credential"], fields["SignedHeaders"] = query.Get(queryCredential), query.Get(queryHeaders)
		fields["Signature"] = query.Get(querySignature)
		seconds, err := strconv.Atoi(query.Get(queryExpires))
		if err != nil || seconds < 0 {
			return nil, fmt.Errorf("%s is no number of seconds", queryExpires)
		}
		s.Expires = time.Duration(seconds) * time.Second
	default:
		return nil, ErrUnsigned
	}
	return s, s.fill(fields, date)
}

// fill completes a signature with the fields of either form.
func (s *Signature) fill(fields map[string]string, date string) error {
	var err error
	if s.Date, err = time.Parse(timeFormat, date); err != nil {
		return fmt.Errorf("%s %q is no time such as %s", queryDate, date, timeFormat)
	}
	parts := strings.Split(fields["Credential"], "/")
	if len(parts) != 5 || parts[0] == "" || parts[4] != "aws4_request" {
		return errors.New("the credential is not <key>/<date>/<region>/<service>/aws4_request")
	}
	if parts[1] != date[:8] {
		return fmt.Errorf("the credential is of %s, the request of %s", parts[1], date[:8])
	}
	s.AccessKeyID, s.Region, s.Service = parts[0], parts[2], parts[3]
	s.scope, s.value = strings.Join(parts[1:], "/"), fields["Signature"]
	if s.SignedHeaders = strings.Split(fields["SignedHeaders"], ";"); !slices.Contains(s.SignedHeaders, "host") {
		return errors.New("the header host is not signed")
	}
	return nil
}

// Verify reports whether the holder of a secret key signed this request, with
// this body. It does not look at the clock.
func (s *Signature) Verify(r *http.Request, body []byte, secret string) bool {
	want := s.compute(r, body, secret)
	return hmac.Equal([]byte(want), []byte(s.value))
}

// compute makes the signature of a request: four keys, one inside the other,
// and what they sign.
func (s *Signature) compute(r *http.Request, body []byte, secret string) string {
	request := sha256.Sum256([]byte(s.canonicalRequest(r, body)))
	text := strings.Join([]string{algorithm, s.Date.UTC().Format(timeFormat), s.scope, hex.EncodeToString(request[:])}, "\n")
	key := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(s.scope, "/") {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, text))
}

func (s *Signature) canonicalRequest(r *http.Request, body []byte) string {
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	query := r.URL.Query()
	query.Del(querySignature)
	var headers strings.Builder
	for _, name := range s.SignedHeaders {
		fmt.Fprintf(&headers, "%s:%s\n", name, headerValue(r, name))
	}
	payload := sha256.Sum256(body)
	return strings.Join([]string{
		r.Method, path, canonicalQuery(query), headers.String(), strings.Join(s.SignedHeaders, ";"), hex.EncodeToString(payload[:]),
	}, "\n")
}

// headerValue is a header as it is signed: without needless white space. Two of
// them are not among a request's headers.
func headerValue(r *http.Request, name string) string {
	values := r.Header.Values(name)
	switch {
	case name == "host":
		values = []string{r.Host}
	case name == "content-length" && len(values) == 0:
		values = []string{strconv.FormatInt(r.ContentLength, 10)}
	}
	trimmed := make([]string, len(values))
	for i, value := range values {
		trimmed[i] = strings.Join(strings.Fields(value), " ")
	}
	return strings.Join(trimmed, ",")
}

// canonicalQuery is a query in order, with everything escaped that is not
// unreserved: url.Values differs in spaces alone.
func canonicalQuery(query url.Values) string {
	for _, values := range query {
		slices.Sort(values)
	}
	return strings.ReplaceAll(query.Encode(), "+", "%20")
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
