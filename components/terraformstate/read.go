package terraformstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"tombolo/internal/file"
)

// Reader reads states. It only reads.
type Reader struct {
	// Dir is what the paths of files start from.
	Dir string
	// Getenv is the environment: AWS's variables for buckets, and those of Terraform's backend http.
	Getenv func(string) string
	// Transport of HTTP; nil for Go's own.
	Transport http.RoundTripper
}

// In is a reader for files below dir, with variables of env before those of the environment.
func In(dir string, env map[string]string) Reader {
	return Reader{Dir: dir, Getenv: func(name string) string { return cmp.Or(env[name], os.Getenv(name)) }}
}

// client follows no redirect: passwords and tokens go to nobody whom a server names.
func (r Reader) client() *http.Client {
	return &http.Client{Transport: r.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

const (
	// most is the size of the largest state that is read, in bytes: ten times that of large ones.
	most = 64 << 20
	// patience with a server.
	patience = 30 * time.Second
)

// Outputs are those of the state at an address: a file's path, s3://<bucket>/<key>?region=<region>,
// azblob://<container>/<key>?storage_account=<account>, or an URL of HTTPS. The error is ErrMissing when there is none.
func (r Reader) Outputs(ctx context.Context, address string) (map[string]Output, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	text, err := r.read(ctx, address)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

func (r Reader) read(ctx context.Context, address string) ([]byte, error) {
	at, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its address is none: %w", err)
	case at.Scheme == "":
		return r.file(address)
	case at.Scheme == "s3":
		return r.object(ctx, at)
	case at.Scheme == "azblob":
		return r.blob(ctx, at)
	}
	return r.http(ctx, address)
}

func (r Reader) file(path string) ([]byte, error) {
	path = filepath.Join(r.Dir, path)
	if err := file.Inside(path); err != nil {
		return nil, err
	}
	text, err := file.Read(path, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	return text, err
}

// object reads from a bucket as Terraform's backend s3 does, with the credentials of the environment.
func (r Reader) object(ctx context.Context, at *url.URL) ([]byte, error) {
	options := []func(*config.LoadOptions) error{config.WithRegion(at.Query().Get("region"))}
	if id, secret := r.Getenv("AWS_ACCESS_KEY_ID"), r.Getenv("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, secret, r.Getenv("AWS_SESSION_TOKEN"))))
	} else if profile := r.Getenv("AWS_PROFILE"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.DisableLogOutputChecksumValidationSkipped = true // objects of before 2025 have no checksum
		o.UsePathStyle = at.Query().Get("use_path_style") == "true"
		if endpoint := at.Query().Get("endpoint"); endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	object, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &at.Host, Key: aws.String(strings.TrimPrefix(at.Path, "/"))})
	if missing := new(types.NoSuchKey); errors.As(err, &missing) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	return all(object.Body)
}

// http reads as Terraform's backend http does. Whoever writes the cluster file chooses the address, so the password goes to
// no other address than the environment names with it.
// Source: https://developer.hashicorp.com/terraform/language/backend/http
func (r Reader) http(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if address == r.Getenv("TF_HTTP_ADDRESS") && r.Getenv("TF_HTTP_USERNAME") != "" {
		request.SetBasicAuth(r.Getenv("TF_HTTP_USERNAME"), r.Getenv("TF_HTTP_PASSWORD"))
	}
	answer, err := r.client().Do(request)
	if err != nil {
		return nil, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return all(answer.Body)
	case http.StatusNoContent, http.StatusNotFound:
		err = ErrMissing
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("the server answers %s; TF_HTTP_USERNAME and TF_HTTP_PASSWORD are sent where TF_HTTP_ADDRESS is this address", answer.Status)
	default:
		err = fmt.Errorf("the server answers %s", answer.Status)
	}
	return nil, errors.Join(err, answer.Body.Close())
}

func all(body io.ReadCloser) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, most+1))
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	return text, nil
}
