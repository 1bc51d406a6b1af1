package backend

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"tombolo/automation/fault"
)

// This file reads an S3 bucket by itself, for the CLI has no command that lists locks
// or removes one of them. The library by which the CLI reads buckets, gocloud.dev, would
// bring the SDKs of three clouds with it: Google Cloud Storage and Azure Blob are left
// to the CLI, as is an S3 URL with a parameter that is not known here.

// bucket is an S3 bucket that a state backend is in.
type bucket struct {
	client *s3.Client
	name   string
	// prefix is before all keys: "", or it ends in "/".
	prefix string
	// encryption and key are what the backend's URL says about new objects.
	encryption types.ServerSideEncryption
	key        *string
}

// bucketParameters are the parameters of an S3 URL that are known here: those of
// gocloud.dev/aws.V2ConfigFromURLParams and s3blob.URLOpener that say where it is and
// how its objects are encrypted.
var bucketParameters = []string{
	"region", "endpoint", "profile", "use_path_style", "s3ForcePathStyle", "ssetype", "kmskeyid", "awssdk",
}

// bucket opens the S3 bucket of the backend, once; nil when it is in none that can be
// opened here.
func (b *Backend) bucket(ctx context.Context) *bucket {
	b.opening.Lock()
	defer b.opening.Unlock()
	if b.openedURL != b.URL {
		b.opened, b.openedURL = b.openBucket(ctx), b.URL
	}
	return b.opened
}

func (b *Backend) openBucket(ctx context.Context) *bucket {
	at, err := url.Parse(b.URL)
	if err != nil || at.Scheme != "s3" {
		return nil
	}
	q := at.Query()
	for name := range q {
		if !slices.Contains(bucketParameters, name) {
			return nil
		}
	}
	cfg, err := config.LoadDefaultConfig(ctx, b.bucketConfig(q)...)
	if err != nil {
		return nil // the CLI says it better
	}
	out := &bucket{name: at.Host, encryption: types.ServerSideEncryption(q.Get("ssetype"))}
	if prefix := strings.Trim(at.Path, "/"); prefix != "" {
		out.prefix = prefix + "/"
	}
	if key := q.Get("kmskeyid"); key != "" {
		out.key = &key
	}
	out.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = q.Get("use_path_style") == "true" || q.Get("s3ForcePathStyle") == "true"
		if endpoint := q.Get("endpoint"); endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	return out
}

// bucketConfig is what the URL and the CLI's environment say. The SDK takes the rest
// from this process's environment.
func (b *Backend) bucketConfig(q url.Values) []func(*config.LoadOptions) error {
	getenv := b.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	var out []func(*config.LoadOptions) error
	if region := cmp.Or(q.Get("region"), getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION")); region != "" {
		out = append(out, config.WithRegion(region))
	}
	if profile := q.Get("profile"); profile != "" {
		return append(out, config.WithSharedConfigProfile(profile))
	}
	if id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		out = append(out, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(id, secret, getenv("AWS_SESSION_TOKEN"))))
	} else if profile := getenv("AWS_PROFILE"); profile != "" {
		out = append(out, config.WithSharedConfigProfile(profile))
	}
	return out
}

// list lists the keys that begin with prefix, and have no "/" behind it.
func (k *bucket) list(ctx context.Context, prefix string) ([]string, error) {
	pages := s3.NewListObjectsV2Paginator(k.client, &s3.ListObjectsV2Input{
		Bucket: &k.name, Prefix: aws.String(k.prefix + prefix), Delimiter: aws.String("/"),
	})
	var keys []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, object := range page.Contents {
			keys = append(keys, strings.TrimPrefix(aws.ToString(object.Key), k.prefix))
		}
	}
	return keys, nil
}

// read an object; nil when it is not there.
func (k *bucket) read(ctx context.Context, key string) ([]byte, error) {
	object, err := k.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &k.name, Key: aws.String(k.prefix + key)})
	if missing := new(types.NoSuchKey); errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer object.Body.Close()
	return io.ReadAll(object.Body)
}

func (k *bucket) write(ctx context.Context, key string, content []byte) error {
	_, err := k.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &k.name, Key: aws.String(k.prefix + key), Body: bytes.NewReader(content),
		ServerSideEncryption: k.encryption, SSEKMSKeyId: k.key,
	})
	return err
}

// remove an object. S3 does not say whether it was there.
func (k *bucket) remove(ctx context.Context, key string) error {
	_, err := k.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &k.name, Key: aws.String(k.prefix + key)})
	return err
}

// locks reads the locks of a stack.
func (k *bucket) locks(ctx context.Context, stack string) ([]lockFile, error) {
	project, name := inProject(stack)
	keys, err := k.list(ctx, path.Join(".pulumi", "locks", "organization", project, name)+"/")
	if err != nil {
		return nil, fmt.Errorf("look for locks of stack %s: %w", stack, err)
	}
	return parseLocks(stack, "lock", "object", keys, func(key string) ([]byte, error) { return k.read(ctx, key) })
}

// removeLockOf removes one lock, and no other that the stack may have by now. Where the
// backend does not say which one it is, that is the CLI's to do: see cancelLock.
func (b *Backend) removeLockOf(ctx context.Context, stack string, h lockFile) (removed bool, err error) {
	if h.path == "" {
		return b.cancelLock(ctx, stack, h.owner)
	}
	in := b.bucket(ctx)
	if in == nil {
		return removeLockFile(stack, h.path)
	}
	if err := in.remove(ctx, h.path); err != nil {
		return false, fmt.Errorf("remove the lock of stack %s: %w", stack, err)
	}
	return true, nil
}

// held are the locks of a stack. Where they cannot be read, as in a database or a bucket
// of another kind, the CLI is asked by taking the lock for a moment. Pulumi Cloud has none.
func (b *Backend) held(ctx context.Context, stack string) ([]lockFile, error) {
	at := b.URL
	if at == "" {
		var err error
		if at, err = b.CLI.LoggedIn(ctx); err != nil {
			return nil, err
		}
	}
	if dir, ok := localDir(at, b.WorkDir); ok {
		return readLocks(dir, stack)
	}
	if inCloud(at) {
		return nil, nil
	}
	if in := b.bucket(ctx); in != nil {
		locks, err := in.locks(ctx, stack)
		if unreadable := new(fault.Error); err == nil || errors.As(err, &unreadable) {
			return locks, err
		}
	}
	owners, err := b.Holders(ctx, stack)
	out := make([]lockFile, 0, len(owners))
	for _, o := range owners {
		out = append(out, lockFile{owner: o})
	}
	return out, err
}

// inCloud says that the URL is one of Pulumi Cloud.
func inCloud(at string) bool {
	return strings.HasPrefix(at, "https://") || strings.HasPrefix(at, "http://")
}
