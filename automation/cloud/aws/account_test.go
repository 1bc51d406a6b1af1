package aws

import (
	"crypto/sha1" //nolint:gosec // the AWS CLI names its cache so
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/tests/files"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// awsConfig is a home with every kind of profile.
const awsConfig = `
[default]
region = eu-central-1
aws_access_key_id = AKIA
[profile mfa]
role_arn = arn:aws:iam::1:role/x
mfa_serial = arn:aws:iam::1:mfa/ada
source_profile = default
[profile chained]
role_arn = arn:aws:iam::1:role/x
source_profile = default
[profile circle]
role_arn = arn:aws:iam::1:role/x
source_profile = circle2
[profile circle2]
source_profile = circle
[profile process]
credential_process = /bin/sh
[profile web]
web_identity_token_file = /token
# a comment = none
[profile empty]
region = eu-central-1
s3 =
  max_concurrent_requests = 20
[profile fresh]
sso_session = fresh
[profile renewing]
sso_session = renewing
[profile short]
sso_start_url = https://short.example
[profile over]
sso_session = over
[profile broken]
sso_session = broken
[profile never]
sso_session = never
`

func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, ".aws", name)
		files.Write(t, path, text)
	}
	write("config", awsConfig)
	write("credentials", "[temporary]\naws_access_key_id = ASIA\naws_session_token = x\n")
	for key, token := range map[string]string{
		"fresh":                 fmt.Sprintf(`{"expiresAt":%q}`, now.Add(8*time.Hour).Format(time.RFC3339)),
		"renewing":              fmt.Sprintf(`{"expiresAt":%q,"refreshToken":"x"}`, now.Add(time.Minute).Format(time.RFC3339)),
		"https://short.example": fmt.Sprintf(`{"expiresAt":%q}`, now.Add(20*time.Minute).Format(time.RFC3339)),
		"over":                  fmt.Sprintf(`{"expiresAt":%q}`, now.Add(-time.Hour).Format(time.RFC3339)),
		"broken":                `{`,
	} {
		digest := sha1.Sum([]byte(key)) //nolint:gosec // as above
		write(filepath.Join("sso", "cache", hex.EncodeToString(digest[:])+".json"), token)
	}
	return dir
}

func TestCredentials(t *testing.T) {
	dir, empty := home(t), t.TempDir()
	for _, test := range []struct {
		name, profile string
		env           map[string]string
		level         preflight.Level
		message       string
	}{
		{"an access key", "", map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, preflight.OK, "an access key of the environment"},
		{"temporary, unknown", "", map[string]string{"AWS_ACCESS_KEY_ID": "ASIA", "AWS_SESSION_TOKEN": "x"}, preflight.Warn, "temporary credentials of the environment, which do not say when they end"},
		{"temporary, long", "", map[string]string{"AWS_ACCESS_KEY_ID": "ASIA", "AWS_SESSION_TOKEN": "x", "AWS_CREDENTIAL_EXPIRATION": "2026-01-02T14:00:00Z"}, preflight.OK, "temporary credentials of the environment, for another 2h0m0s"},
		{"temporary, short", "", map[string]string{"AWS_ACCESS_KEY_ID": "ASIA", "AWS_SESSION_TOKEN": "x", "AWS_CREDENTIAL_EXPIRATION": "2026-01-02T12:10:00Z"}, preflight.Warn, "temporary credentials of the environment, for only another 10m0s"},
		{"temporary, over", "", map[string]string{"AWS_ACCESS_KEY_ID": "ASIA", "AWS_SESSION_TOKEN": "x", "AWS_CREDENTIAL_EXPIRATION": "2026-01-02T11:00:00Z"}, preflight.Fail, "temporary credentials of the environment ended at 2026-01-02T11:00:00Z"},
		{"a web identity", "", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}, preflight.OK, "a web identity, which renews itself"},
		{"the default profile", "", nil, preflight.OK, "an access key of profile default"},
		{"a profile of the environment", "", map[string]string{"AWS_PROFILE": "mfa"}, preflight.Fail, "profile mfa asks for a code of arn:aws:iam::1:mfa/ada"},
		{"a profile wins over an access key", "mfa", map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, preflight.Fail, "profile mfa asks for a code of arn:aws:iam::1:mfa/ada"},
		{"a role", "chained", nil, preflight.OK, "an access key of profile default"},
		{"a circle", "circle", nil, preflight.Fail, "profile circle is not there, or leads to itself"},
		{"a program", "process", nil, preflight.Warn, "profile process runs a program for its credentials"},
		{"a profile's web identity", "web", nil, preflight.OK, "profile web, which renews itself"},
		{"a profile without any", "empty", nil, preflight.Fail, "profile empty has no credentials"},
		{"temporary in a file", "temporary", nil, preflight.Warn, "profile temporary has temporary credentials, which do not say when they end"},
		{"an unknown profile", "nobody", nil, preflight.Fail, "there is no profile nobody in the AWS configuration"},
		{"signed on", "fresh", nil, preflight.OK, "the sign-on of profile fresh, for another 8h0m0s"},
		{"a sign-on that renews itself", "renewing", nil, preflight.OK, "the sign-on of profile renewing, which renews itself"},
		{"a short sign-on", "short", nil, preflight.Warn, "the sign-on of profile short, for only another 20m0s"},
		{"a sign-on that is over", "over", nil, preflight.Fail, "the sign-on of profile over ended at 2026-01-02T11:00:00Z"},
		{"a broken sign-on", "broken", nil, preflight.Fail, "the sign-on of profile broken cannot be read: unexpected end of JSON input"},
		{"nobody signed on", "never", nil, preflight.Fail, "no sign-on was found for profile never"},
		{"a container", "", map[string]string{"HOME": empty, "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://x"}, preflight.OK, "the container's role, which renews itself"},
		{"perhaps an instance", "", map[string]string{"HOME": empty}, preflight.Warn, "neither the environment nor the AWS configuration has any"},
		{"nothing", "", map[string]string{"HOME": empty, "AWS_EC2_METADATA_DISABLED": "true"}, preflight.Fail, "neither the environment nor the AWS configuration has any"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lookup := func(key string) string {
				if v, ok := test.env[key]; ok {
					return v
				}
				return map[string]string{"HOME": dir}[key]
			}
			got := source{lookup: lookup, profileName: test.profile, now: now}.credentials()
			assert.Check(t, got.Level == test.level && got.Message == test.message,
				"got %s: %s\nwant %s: %s", got.Level, got.Message, test.level, test.message)
			assert.Check(t, (got.Level == preflight.OK) == (got.Remedy == ""), "%s, with the remedy %q", got.Level, got.Remedy)
		})
	}
}

func TestJudge(t *testing.T) {
	good := preflight.Facts{
		Account: "1", Identity: "arn:aws:iam::1:user/ada", Region: "eu-central-1", Enabled: true,
		Quotas: map[preflight.Kind]preflight.Quota{vpcs: {Limit: 5, Used: 3}, addresses: {Limit: 5, Used: 5}, clusters: {Err: "denied"}},
	}
	one := preflight.Demand{vpcs: 1, addresses: 1, clusters: 1}
	wanted := preflight.Wanted{Cluster: &config.Cluster{}, Account: "1", Region: "eu-central-1", Demand: one, All: one.Plus(preflight.Demand{vpcs: 1})}
	const who = "ok account: arn:aws:iam::1:user/ada"
	for _, test := range []struct {
		name   string
		change func(*preflight.Facts, *preflight.Wanted)
		want   []string
	}{
		{"quotas", func(*preflight.Facts, *preflight.Wanted) {}, []string{
			who, "ok region: eu-central-1 is enabled",
			"ok quota: 1 more VPCs in eu-central-1, 2 with the other clusters: 3 of 5 are used",
			"fail quota: 1 more Elastic IP addresses in eu-central-1: 5 of 5 are used",
			"warn quota: the quota of EKS clusters in eu-central-1 cannot be told: denied",
		}},
		{"together too much", func(_ *preflight.Facts, w *preflight.Wanted) {
			w.All, w.Demand = preflight.Demand{vpcs: 3}, preflight.Demand{vpcs: 1}
		}, []string{
			who, "ok region: eu-central-1 is enabled",
			"fail quota: 1 more VPCs in eu-central-1, 3 with the other clusters: 3 of 5 are used",
		}},
		{"nothing to make", func(_ *preflight.Facts, w *preflight.Wanted) { w.Demand = preflight.Demand{} }, []string{who, "ok region: eu-central-1 is enabled"}},
		{"a region that is off", func(f *preflight.Facts, _ *preflight.Wanted) { f.Enabled = false }, []string{who, "fail region: eu-central-1 is not enabled for account 1"}},
		{"regions that may not be listed", func(f *preflight.Facts, w *preflight.Wanted) { f.Enabled, f.RegionErr, w.Demand = false, "denied", nil }, []string{
			who, "warn region: whether eu-central-1 is enabled cannot be told: denied",
		}},
		{"another account", func(f *preflight.Facts, _ *preflight.Wanted) { f.Account = "2" }, []string{
			"fail account: the credentials are of account 2 (arn:aws:iam::1:user/ada), and the cluster is for 1",
		}},
		{"nobody", func(f *preflight.Facts, _ *preflight.Wanted) { f.Err = "expired" }, []string{"fail account: AWS does not accept the credentials: expired"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, w := good, wanted
			test.change(&f, &w)
			var got []string
			for _, finding := range (Cloud{}).Judge(f, w) {
				got = append(got, strings.Join([]string{string(finding.Level), finding.Check + ":", finding.Message}, " "))
				assert.Check(t, (finding.Level == preflight.OK) == (finding.Remedy == ""),
					"%s, with the remedy %q", finding.Message, finding.Remedy)
			}
			assert.DeepEqual(t, got, test.want)
		})
	}
}
