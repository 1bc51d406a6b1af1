package aws

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/kms"
	"tombolo/lab/aws/secretsmanager"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/ssm"
	"tombolo/lab/aws/sts"
)

// service is one that speaks AWS's JSON protocol, over HTTP.
type service struct {
	*bench
	client *http.Client
	user   sigv4.Credentials
}

func newService(t *testing.T) *service {
	a := newAccount(t)
	server := httptest.NewServer(jsonapi.Handler(sts.Accounts{a.Cloud}, secretsmanager.Service(), ssm.Service()))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	assert.NilError(t, err)
	return &service{a, &http.Client{Transport: toServer{address.Host}}, sts.UserCredentials(a.Cloud)}
}

// role is a session of a role that has one statement.
func (s *service) role(name, statement string) sigv4.Credentials {
	s.T.Helper()
	s.Make(iam.RoleType, name, props{"name": name, "assumeRolePolicy": roleTrust(homeUser, `"sts:AssumeRole"`)})
	s.Make(iam.RolePolicyType, name, props{"role": name, "name": "all", "policy": policyOf(statement)})
	made, err := sts.Accounts{s.Cloud}.Assume(s.user, sts.Role{ARN: "arn:aws:iam::111122223333:role/" + name, Session: "pod"})
	assert.NilError(s.T, err)
	return made
}

// signed is a request as AWS's SDK makes it.
func (s *service) signed(by sigv4.Credentials, host, target string, in any) *http.Request {
	s.T.Helper()
	body, err := json.Marshal(in)
	assert.NilError(s.T, err)
	r, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, "https://"+host+".eu-central-1.amazonaws.com/", bytes.NewReader(body))
	assert.NilError(s.T, err)
	r.Header.Set("X-Amz-Target", target)
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	sum := sha256.Sum256(body)
	c := awssdk.Credentials{AccessKeyID: by.AccessKeyID, SecretAccessKey: by.SecretAccessKey, SessionToken: by.SessionToken}
	assert.NilError(s.T, v4.NewSigner().SignHTTP(s.T.Context(), c, r, hex.EncodeToString(sum[:]), host, "eu-central-1", time.Now()))
	return r
}

// send returns what is answered, and the code and message of a refusal.
func (s *service) send(r *http.Request) (answer map[string]any, refusal string) {
	s.T.Helper()
	resp, err := s.client.Do(r)
	assert.NilError(s.T, err)
	defer resp.Body.Close()
	assert.NilError(s.T, json.NewDecoder(resp.Body).Decode(&answer))
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Sprintf("%d %s: %s", resp.StatusCode, answer["__type"], answer["Message"])
	}
	return answer, ""
}

func (s *service) call(by sigv4.Credentials, operation string, in props) (map[string]any, string) {
	s.T.Helper()
	return s.send(s.signed(by, "secretsmanager", "secretsmanager."+operation, in))
}

func (s *service) must(by sigv4.Credentials, operation string, in props) map[string]any {
	s.T.Helper()
	answer, refusal := s.call(by, operation, in)
	assert.Equal(s.T, refusal, "", operation)
	return answer
}

// TestSecretVersions: what is put is fetched, the version before by its label or its id, and
// what is scheduled for deletion by nobody.
func TestSecretVersions(t *testing.T) {
	s := newService(t)
	first := s.must(s.user, "CreateSecret", props{"Name": "demo/db", "SecretString": "one", "ClientRequestToken": strings.Repeat("a", 32)})
	arn := first["ARN"].(string)
	assert.Check(t, is.Regexp(`^arn:aws:secretsmanager:eu-central-1:111122223333:secret:demo/db-[A-Z2-7]{6}$`, arn))
	second := s.must(s.user, "PutSecretValue", props{"SecretId": "demo/db", "SecretString": "two"})
	s.must(s.user, "PutSecretValue", props{"SecretId": arn, "SecretBinary": []byte{0, 1}})

	binary := s.must(s.user, "GetSecretValue", props{"SecretId": "demo/db"})
	assert.DeepEqual(t, binary["SecretBinary"], "AAE=")
	assert.DeepEqual(t, binary["VersionStages"], []any{"AWSCURRENT"})
	_, text := binary["SecretString"]
	assert.Check(t, !text)
	before := s.must(s.user, "GetSecretValue", props{"SecretId": arn[:len(arn)-7], "VersionStage": "AWSPREVIOUS"})
	assert.Equal(t, before["SecretString"], "two")
	assert.Equal(t, before["VersionId"], second["VersionId"])
	oldest := s.must(s.user, "GetSecretValue", props{"SecretId": "demo/db", "VersionId": first["VersionId"]})
	assert.Equal(t, oldest["SecretString"], "one")
	described := s.must(s.user, "DescribeSecret", props{"SecretId": "demo/db"})
	assert.Equal(t, len(described["VersionIdsToStages"].(map[string]any)), 2)

	for _, test := range []struct {
		operation string
		in        props
		want      string
	}{
		{"GetSecretValue", props{"SecretId": "demo/d"}, "ResourceNotFoundException: Secrets Manager can't find the specified secret."},
		{"GetSecretValue", props{"SecretId": "demo/db", "VersionStage": "x"}, "ResourceNotFoundException: Secrets Manager can't find the specified secret value for staging label: x"},
		{"GetSecretValue", props{"SecretId": "demo/db", "VersionId": "x"}, "ResourceNotFoundException: Secrets Manager can't find the specified secret value for VersionId: x"},
		{"GetSecretValue", props{"SecretId": "demo/db", "VersionId": first["VersionId"], "VersionStage": "AWSCURRENT"}, "InvalidRequestException: You provided a VersionStage that is not associated to the provided VersionId."},
		{"GetSecretValue", props{}, "ValidationException: 1 validation error detected: Value null at 'secretId'"},
		{"CreateSecret", props{"Name": "demo/db"}, "ResourceExistsException: The operation failed because the secret demo/db already exists."},
		{"CreateSecret", props{"Name": "a b"}, "ValidationException: Invalid name."},
		{"CreateSecret", props{"Name": "a", "SecretString": "x", "SecretBinary": []byte{1}}, "InvalidParameterException: You can't specify both"},
		{"PutSecretValue", props{"SecretId": "demo/db"}, "InvalidRequestException: You must provide either SecretString or SecretBinary."},
		{"PutSecretValue", props{"SecretId": "demo/db", "SecretString": strings.Repeat("x", 65537)}, "ValidationException: 1 validation error detected: Value at 'secretString'"},
		{"PutSecretValue", props{"SecretId": "demo/db", "SecretString": "x", "ClientRequestToken": strings.Repeat("a", 32)}, "ResourceExistsException: You can't use ClientRequestToken"},
		{"DeleteSecret", props{"SecretId": "demo/db", "RecoveryWindowInDays": 5}, "InvalidParameterException: The RecoveryWindowInDays value must be between 7 and 30 days (inclusive)."},
		{"RotateSecret", props{"SecretId": "demo/db"}, "UnknownOperationException"},
	} {
		_, refusal := s.call(s.user, test.operation, test.in)
		assert.Check(t, is.Contains(refusal, "400 "+test.want), test.operation)
	}
	s.must(s.user, "DeleteSecret", props{"SecretId": "demo/db"})
	_, refusal := s.call(s.user, "GetSecretValue", props{"SecretId": "demo/db"})
	assert.Check(t, is.Contains(refusal, "InvalidRequestException: You can't perform this operation on the secret because it was marked for deletion."))
	_, refusal = s.call(s.user, "CreateSecret", props{"Name": "demo/db"})
	assert.Check(t, is.Contains(refusal, "already scheduled for deletion."))
	s.must(s.user, "CreateSecret", props{"Name": "demo/other", "SecretString": "x"})
	s.must(s.user, "DeleteSecret", props{"SecretId": "demo/other", "ForceDeleteWithoutRecovery": true})
	s.must(s.user, "CreateSecret", props{"Name": "demo/other"})
}

// TestSecretsByRole: a role fetches what its policies name, and is told of what they do not
// as AWS tells it.
func TestSecretsByRole(t *testing.T) {
	s := newService(t)
	for _, name := range []string{"demo/db", "other/db"} {
		s.must(s.user, "CreateSecret", props{"Name": name, "SecretString": "of " + name})
	}
	reader := s.role("reader", `{"Effect":"Allow","Action":"secretsmanager:GetSecretValue","Resource":"arn:aws:secretsmanager:eu-central-1:111122223333:secret:demo/*"}`)
	assert.Equal(t, s.must(reader, "GetSecretValue", props{"SecretId": "demo/db"})["SecretString"], "of demo/db")
	const me = "User: arn:aws:sts::111122223333:assumed-role/reader/pod is not authorized to perform: "
	for _, test := range []struct {
		operation string
		in        props
		want      string
	}{
		{"GetSecretValue", props{"SecretId": "other/db"}, me + "secretsmanager:GetSecretValue on resource: other/db because no identity-based policy allows the secretsmanager:GetSecretValue action"},
		{"GetSecretValue", props{"SecretId": "none/db"}, me + "secretsmanager:GetSecretValue on resource: none/db"},
		{"PutSecretValue", props{"SecretId": "demo/db", "SecretString": "x"}, me + "secretsmanager:PutSecretValue on resource: demo/db"},
		{"CreateSecret", props{"Name": "demo/mine"}, me + "secretsmanager:CreateSecret on resource: demo/mine"},
		{"ListSecrets", props{}, me + "secretsmanager:ListSecrets on resource: *"},
	} {
		_, refusal := s.call(reader, test.operation, test.in)
		assert.Check(t, is.Contains(refusal, "400 AccessDeniedException: "+test.want))
	}
	_, refusal := s.call(reader, "GetSecretValue", props{"SecretId": "demo/none"})
	assert.Check(t, is.Contains(refusal, "ResourceNotFoundException"), "what it may read and does not exist")
}

// TestSecretOfAKey: a secret with a key of its own needs the key, too.
func TestSecretOfAKey(t *testing.T) {
	s := newService(t)
	key := s.Make(kms.KeyType, "key", props{})
	s.must(s.user, "CreateSecret", props{"Name": "demo/db", "KmsKeyId": key.Out["arn"], "SecretString": "hidden"})
	const read = `{"Effect":"Allow","Action":"secretsmanager:GetSecretValue","Resource":"*"}`
	without := s.role("without", read)
	_, refusal := s.call(without, "GetSecretValue", props{"SecretId": "demo/db"})
	assert.Check(t, is.Contains(refusal, "AccessDeniedException: Access to KMS is not allowed"))
	with := s.role("with", read+`,{"Effect":"Allow","Action":"kms:Decrypt","Resource":"`+key.Out.Str("arn")+
		`","Condition":{"StringEquals":{"kms:ViaService":"secretsmanager.eu-central-1.amazonaws.com"}}}`)
	assert.Equal(t, s.must(with, "GetSecretValue", props{"SecretId": "demo/db"})["SecretString"], "hidden")
}

// TestUnidentifiedRequests are refused with the codes of the JSON protocol.
func TestUnidentifiedRequests(t *testing.T) {
	s := newService(t)
	in := props{"SecretId": secretsmanager.LabSecret}
	for name, test := range map[string]struct {
		change func(r *http.Request) *http.Request
		want   string
	}{
		"unsigned": {func(r *http.Request) *http.Request { r.Header.Del("Authorization"); return r }, "MissingAuthenticationTokenException: Request is missing Authentication Token"},
		"another secret": {func(*http.Request) *http.Request {
			by := s.user
			by.SecretAccessKey = "guessed"
			return s.signed(by, "secretsmanager", "secretsmanager.GetSecretValue", in)
		}, "InvalidSignatureException: The request signature we calculated does not match"},
		"another account": {func(*http.Request) *http.Request {
			return s.signed(sigv4.Credentials{AccessKeyID: "AKIAOTHER", SecretAccessKey: "x"}, "secretsmanager", "secretsmanager.GetSecretValue", in)
		}, "UnrecognizedClientException: The security token included in the request is invalid"},
		"another service": {func(*http.Request) *http.Request {
			r := s.signed(s.user, "ssm", "secretsmanager.GetSecretValue", in)
			r.URL.Host = "secretsmanager.eu-central-1.amazonaws.com"
			return r
		}, "InvalidSignatureException: Credential should be scoped to service secretsmanager"},
		"another's operation": {func(*http.Request) *http.Request {
			return s.signed(s.user, "secretsmanager", "AmazonSSM.GetParameter", in)
		}, "UnknownOperationException"},
	} {
		_, refusal := s.send(test.change(s.signed(s.user, "secretsmanager", "secretsmanager.GetSecretValue", in)))
		assert.Check(t, is.Contains(refusal, "400 "+test.want), name)
	}
	answer, refusal := s.send(s.signed(s.user, "secretsmanager", "secretsmanager.GetSecretValue", in))
	assert.Equal(t, refusal, "")
	assert.Check(t, is.Contains(answer["SecretString"], `"dbname":"authentik"`), "the account's own secret")
}

// TestParametersByRole: Parameter Store answers a role by its policies, and decrypts when it
// is asked to.
func TestParametersByRole(t *testing.T) {
	s := newService(t)
	s.Make(ssm.ParameterType, "a", props{"name": "/demo/key", "type": "SecureString", "value": "hunter2"})
	reader := s.role("reader", `{"Effect":"Allow","Action":"ssm:GetParameter","Resource":"arn:aws:ssm:eu-central-1:111122223333:parameter/demo/*"}`)
	get := func(in props) (map[string]any, string) {
		answer, refusal := s.send(s.signed(reader, "ssm", "AmazonSSM.GetParameter", in))
		parameter, _ := answer["Parameter"].(map[string]any)
		return parameter, refusal
	}
	found, refusal := get(props{"Name": "/demo/key", "WithDecryption": true})
	assert.Equal(t, refusal, "")
	assert.Equal(t, found["Value"], "hunter2")
	found, _ = get(props{"Name": "/demo/key"})
	assert.Check(t, found["Value"] != "hunter2")
	_, refusal = get(props{"Name": "/demo/none"})
	assert.Check(t, is.Contains(refusal, "400 ParameterNotFound"))
	_, refusal = get(props{"Name": "/other/key"})
	assert.Check(t, is.Contains(refusal, "400 AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/reader/pod is not authorized to perform: ssm:GetParameter on resource: arn:aws:ssm:eu-central-1:111122223333:parameter/other/key"))
}
