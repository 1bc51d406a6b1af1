package sigv4

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

var (
	pair = Credentials{AccessKeyID: "ASIAEXAMPLE0000000000", SecretAccessKey: "a/secret+key", SessionToken: "a/token+of=base64"}
	at   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

const body = "Action=GetCallerIdentity&Version=2011-06-15"

// received is a request as a server sees it.
func received(method, url string, header http.Header) *http.Request {
	r := httptest.NewRequest(method, url, nil)
	r.Header = header
	return r
}

// byVersion1 was made by the AWS SDK for Go 1.55.7, as argocd-k8s-auth makes it:
// the SDK takes the 60 that it is given for nanoseconds.
func byVersion1(cluster string) *http.Request {
	return received("GET", "https://sts.eu-central-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256"+
		"&X-Amz-Credential=ASIAEXAMPLE0000000000%2F20261121%2Feu-central-1%2Fsts%2Faws4_request&X-Amz-Date=20261121T163554Z&X-Amz-Expires=0"+
		"&X-Amz-Security-Token=a%2Ftoken%2Bof%3Dbase64&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id"+
		"&X-Amz-Signature=894a2420b8b4ec493b72a7f45e67de96162e6404b8b558bc550800c5f24c4ed7", http.Header{"X-K8s-Aws-Id": {cluster}})
}

func TestPresignedByVersion1(t *testing.T) {
	r := byVersion1("demo")
	s, err := Parse(r)
	assert.NilError(t, err)
	want := &Signature{
		AccessKeyID: pair.AccessKeyID, SessionToken: pair.SessionToken, Date: time.Date(2026, 11, 21, 16, 35, 54, 0, time.UTC),
		Region: "eu-central-1", Service: "sts", SignedHeaders: []string{"host", "x-k8s-aws-id"}, Presigned: true,
	}
	if diff := cmp.Diff(want, s, cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".scope" || p.Last().String() == ".value"
	}, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
	if !s.Verify(r, nil, pair.SecretAccessKey) {
		t.Error("the signature is refused")
	}
	if other := byVersion1("other"); s.Verify(other, nil, pair.SecretAccessKey) {
		t.Error("the signature holds for another cluster")
	}
}

// signed is a request with a header, by the AWS SDK for Go v2.
func signed(t *testing.T) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://sts.eu-central-1.amazonaws.com/", strings.NewReader(body))
	assert.NilError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded;  charset=utf-8 ")
	sum := sha256.Sum256([]byte(body))
	assert.NilError(t, v4.NewSigner().SignHTTP(t.Context(), sdk(), r, hex.EncodeToString(sum[:]), "sts", "eu-central-1", at))
	return r
}

func sdk() awssdk.Credentials {
	return awssdk.Credentials{AccessKeyID: pair.AccessKeyID, SecretAccessKey: pair.SecretAccessKey, SessionToken: pair.SessionToken}
}

func TestSignedByVersion2(t *testing.T) {
	r := signed(t)
	s, err := Parse(r)
	assert.NilError(t, err)
	assert.Check(t, s.AccessKeyID == pair.AccessKeyID && s.SessionToken == pair.SessionToken && s.Date.Equal(at) && !s.Presigned, "got %+v", s)
	if !s.Verify(r, []byte(body), pair.SecretAccessKey) {
		t.Error("the signature is refused")
	}
}

func TestTampering(t *testing.T) {
	for name, change := range map[string]func(r *http.Request, body *[]byte, secret *string){
		"body":   func(_ *http.Request, body *[]byte, _ *string) { *body = append(*body, '&') },
		"secret": func(_ *http.Request, _ *[]byte, secret *string) { *secret += "x" },
		"method": func(r *http.Request, _ *[]byte, _ *string) { r.Method = http.MethodPut },
		"host":   func(r *http.Request, _ *[]byte, _ *string) { r.Host = "sts.us-east-1.amazonaws.com" },
		"path":   func(r *http.Request, _ *[]byte, _ *string) { r.URL.Path = "/x" },
		"query":  func(r *http.Request, _ *[]byte, _ *string) { r.URL.RawQuery = "a=b" },
		"header": func(r *http.Request, _ *[]byte, _ *string) { r.Header.Set("Content-Type", "text/plain") },
		"token":  func(r *http.Request, _ *[]byte, _ *string) { r.Header.Set("X-Amz-Security-Token", "another") },
	} {
		t.Run(name, func(t *testing.T) {
			r := signed(t)
			s, err := Parse(r)
			assert.NilError(t, err)
			body, secret := []byte(body), pair.SecretAccessKey
			change(r, &body, &secret)
			if s.Verify(r, body, secret) {
				t.Error("the signature still holds")
			}
		})
	}
}

func TestPresignedByVersion2(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://sts.eu-central-1.amazonaws.com/?Version=2011-06-15&Action=GetCallerIdentity&a=b%20c&X-Amz-Expires=60", nil)
	assert.NilError(t, err)
	r.Header.Set("X-K8s-Aws-Id", "demo")
	empty := sha256.Sum256(nil)
	signed, _, err := v4.NewSigner().PresignHTTP(t.Context(), sdk(), r, hex.EncodeToString(empty[:]), "sts", "sts-region", at)
	assert.NilError(t, err)
	got := received(http.MethodGet, signed, r.Header)
	s, err := Parse(got)
	assert.Check(t, err == nil && s.Expires == time.Minute && s.Verify(got, nil, pair.SecretAccessKey), "it is refused: %+v, %v", s, err)
}

func TestParseRefuses(t *testing.T) {
	const credential = "Credential=AKIA/20260102/eu-central-1/sts/aws4_request"
	header := func(authorization, date string) *http.Request {
		return received("POST", "https://sts.amazonaws.com/", http.Header{"Authorization": {authorization}, "X-Amz-Date": {date}})
	}
	for _, test := range []struct {
		name, want string
		request    *http.Request
	}{
		{"unsigned", "the request is not signed", received("POST", "https://sts.amazonaws.com/", nil)},
		{"scheme", "the Authorization header is not of AWS4-HMAC-SHA256", header("Bearer x", "")},
		{"date", `X-Amz-Date "today" is no time such as 20060102T150405Z`, header(algorithm+" "+credential, "today")},
		{"credential", "the credential is not <key>/<date>/<region>/<service>/aws4_request", header(algorithm+" Credential=AKIA", "20260102T030405Z")},
		{"day", "the credential is of 20260102, the request of 20260103", header(algorithm+" "+credential, "20260103T030405Z")},
		{"host", "the header host is not signed", header(algorithm+" "+credential+", SignedHeaders=x-amz-date", "20260102T030405Z")},
		{"query", "X-Amz-Algorithm is not AWS4-HMAC-SHA256", received("GET", "https://sts.amazonaws.com/?X-Amz-Signature=x", nil)},
		{"expiry", "X-Amz-Expires is no number of seconds", received("GET", "https://sts.amazonaws.com/?X-Amz-Signature=x&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=-1", nil)},
	} {
		_, err := Parse(test.request)
		assert.Check(t, is.Error(err, test.want), test.name)
		assert.Check(t, errors.Is(err, ErrUnsigned) == (test.name == "unsigned"), test.name)
	}
}
