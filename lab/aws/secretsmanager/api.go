package secretsmanager

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/jsonapi"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
)

// Service is Secrets Manager's API, as far as people and External Secrets use it. It judges
// the policies of the caller's role, and asks for the key of a secret that has one of its own.
func Service() jsonapi.Service {
	return jsonapi.Service{Name: "secretsmanager", Target: "secretsmanager", Call: call}
}

// The codes and messages of
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html, in
// the words that the service answers with.
const (
	notFound         = "ResourceNotFoundException"
	invalidRequest   = "InvalidRequestException"
	invalidParameter = "InvalidParameterException"
	resourceExists   = "ResourceExistsException"

	noSecret = "Secrets Manager can't find the specified secret."
)

// input has the members of all operations.
type input struct {
	SecretID     string `json:"SecretId"`
	Name         string
	Description  string
	KMSKeyID     string `json:"KmsKeyId"`
	VersionID    string `json:"VersionId"`
	VersionStage string
	Token        string  `json:"ClientRequestToken"`
	SecretString *string `json:"SecretString"`
	SecretBinary []byte  `json:"SecretBinary"`
	Force        bool    `json:"ForceDeleteWithoutRecovery"`
	Window       int     `json:"RecoveryWindowInDays"`
}

// request is one whose caller may make it.
type request struct {
	who    sts.Caller
	cloud  *standin.Cloud
	region string
	in     input
	// secret that it is about; nil for one that does not exist yet.
	secret *standin.Record
}

// operations are done under the account's lock.
var operations = map[string]func(request) (any, error){
	"CreateSecret": createOperation, "PutSecretValue": putOperation, "GetSecretValue": getOperation,
	"DescribeSecret": always(describeOperation), "ListSecretVersionIds": always(versionsOperation), "DeleteSecret": deleteOperation, "ListSecrets": always(listOperation),
}

// unnamed operations are about no one secret.
var unnamed = []string{"CreateSecret", "ListSecrets"}

func call(who sts.Caller, region, operation string, body []byte) (any, error) {
	run := operations[operation]
	if run == nil {
		return nil, jsonapi.Unknown(operation)
	}
	r := request{who: who, cloud: who.Cloud(), region: region}
	if err := jsonapi.Decode(body, &r.in); err != nil {
		return nil, err
	}
	named := !slices.Contains(unnamed, operation)
	if named && r.in.SecretID == "" {
		return nil, jsonapi.Refusef("ValidationException", "1 validation error detected: Value null at 'secretId' failed to satisfy constraint: Member must not be null")
	}
	if named {
		unlock := r.cloud.Lock()
		r.secret = find(r.cloud, region, r.in.SecretID)
		unlock()
	}
	if err := r.permitted(operation); err != nil {
		return nil, err
	}
	defer r.cloud.Lock()()
	switch {
	case named && r.secret == nil && scheduled(r.cloud, region, r.in.SecretID):
		return nil, jsonapi.Refusef(invalidRequest, "You can't perform this operation on the secret because it was marked for deletion.")
	case named && r.secret == nil:
		return nil, jsonapi.Refusef(notFound, noSecret)
	}
	return run(r)
}

// permitted asks the caller's policies: for the secret, and for its key.
func (r request) permitted(operation string) error {
	action, asked := "secretsmanager:"+operation, cmp.Or(r.in.SecretID, r.in.Name, "*")
	resource := asked
	switch {
	case r.secret != nil:
		resource = r.secret.ID
	case !strings.HasPrefix(asked, "arn:") && asked != "*":
		resource = account.ARNIn(r.cloud, r.region, "secretsmanager", "secret:"+asked)
	}
	if !r.who.May(action, resource, nil) {
		return jsonapi.Denied(r.who, action, asked)
	}
	if operation != "GetSecretValue" || r.secret == nil {
		return nil
	}
	key := r.secret.Outputs.Str("kmsKeyId")
	if key == "" || key == "alias/aws/secretsmanager" {
		return nil
	}
	if !strings.HasPrefix(key, "arn:") {
		key = account.ARNIn(r.cloud, r.region, "kms", "key/"+key)
	}
	// The suffix is the same in all partitions:
	// https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#viaService_table
	through := "secretsmanager." + r.region + ".amazonaws.com"
	if !r.who.May("kms:Decrypt", key, map[string][]string{"kms:viaservice": {through}}) {
		return jsonapi.Refusef("AccessDeniedException", "Access to KMS is not allowed")
	}
	return nil
}

// described is what operations answer of a secret.
type described struct {
	ARN           string
	Name          string
	Description   string              `json:",omitempty"`
	KMSKeyID      string              `json:"KmsKeyId,omitempty"`
	VersionID     string              `json:"VersionId,omitempty"`
	VersionStages []string            `json:",omitempty"`
	SecretString  *string             `json:",omitempty"`
	SecretBinary  []byte              `json:",omitempty"`
	CreatedDate   float64             `json:",omitempty"`
	DeletionDate  float64             `json:",omitempty"`
	Stages        map[string][]string `json:"VersionIdsToStages,omitempty"`
}

func about(secret *standin.Record) described {
	return described{ARN: secret.ID, Name: secret.Outputs.Str("name")}
}

// seconds is a time as the protocol has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func createOperation(r request) (any, error) {
	if !secretName.MatchString(r.in.Name) {
		return nil, jsonapi.Refusef("ValidationException", "Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@!")
	}
	if why := taken(r.cloud, r.region, r.in.Name); why != nil {
		return nil, why
	}
	given := r.in.value()
	if given != nil {
		if err := given.check(); err != nil {
			return nil, err
		}
	}
	secret, err := add(r.cloud, r.region, standin.Props{"name": r.in.Name, "description": r.in.Description, "kmsKeyId": r.in.KMSKeyID})
	if err != nil || given == nil {
		return about(secret), err
	}
	return putInto(r, secret, *given)
}

func putOperation(r request) (any, error) {
	given := r.in.value()
	if given == nil {
		return nil, jsonapi.Refusef(invalidRequest, "You must provide either SecretString or SecretBinary.")
	}
	if err := given.check(); err != nil {
		return nil, err
	}
	return putInto(r, r.secret, *given)
}

func putInto(r request, secret *standin.Record, given value) (any, error) {
	version, err := put(r.cloud, secret, cmp.Or(r.in.Token, newVersionID()), given)
	if err != nil {
		return nil, err
	}
	answer := about(secret)
	answer.VersionID, answer.VersionStages = version.Outputs.Str("versionId"), version.Outputs.List("versionStages")
	return answer, nil
}

func getOperation(r request) (any, error) {
	version, err := r.version()
	if err != nil {
		return nil, err
	}
	answer := about(r.secret)
	answer.VersionID, answer.VersionStages = version.Outputs.Str("versionId"), version.Outputs.List("versionStages")
	answer.CreatedDate = seconds(version.Created)
	v, err := valueOf(version)
	answer.SecretString, answer.SecretBinary = v.text, v.binary
	return answer, err
}

// version that a request means: the current one by default.
func (r request) version() (*standin.Record, error) {
	stage := r.in.VersionStage
	if r.in.VersionID == "" {
		stage = cmp.Or(stage, current)
	}
	for _, v := range versions(r.cloud, r.secret) {
		ofID := r.in.VersionID == "" || v.Outputs.Str("versionId") == r.in.VersionID
		ofStage := stage == "" || slices.Contains(v.Outputs.List("versionStages"), stage)
		switch {
		case ofID && ofStage:
			return v, nil
		case ofID && r.in.VersionID != "":
			return nil, jsonapi.Refusef(invalidRequest, "You provided a VersionStage that is not associated to the provided VersionId.")
		}
	}
	if r.in.VersionID != "" {
		return nil, jsonapi.Refusef(notFound, "Secrets Manager can't find the specified secret value for VersionId: %s", r.in.VersionID)
	}
	return nil, jsonapi.Refusef(notFound, "Secrets Manager can't find the specified secret value for staging label: %s", stage)
}

// always is an operation that nothing refuses once its secret is found.
func always(answer func(request) any) func(request) (any, error) {
	return func(r request) (any, error) { return answer(r), nil }
}

func describeOperation(r request) any {
	answer := about(r.secret)
	answer.Description, answer.KMSKeyID = r.secret.Outputs.Str("description"), r.secret.Outputs.Str("kmsKeyId")
	answer.CreatedDate, answer.Stages = seconds(r.secret.Created), map[string][]string{}
	for _, v := range versions(r.cloud, r.secret) {
		if stages := v.Outputs.List("versionStages"); len(stages) > 0 {
			answer.Stages[v.Outputs.Str("versionId")] = stages
		}
	}
	return answer
}

func versionsOperation(r request) any {
	list := []described{}
	for _, v := range versions(r.cloud, r.secret) {
		if stages := v.Outputs.List("versionStages"); len(stages) > 0 {
			list = append(list, described{VersionID: v.Outputs.Str("versionId"), VersionStages: stages, CreatedDate: seconds(v.Created)})
		}
	}
	return map[string]any{"ARN": r.secret.ID, "Name": r.secret.Outputs.Str("name"), "Versions": list}
}

func listOperation(r request) any {
	list := []described{}
	for secret := range r.cloud.Each(secretType, r.region) {
		list = append(list, about(secret))
	}
	return map[string]any{"SecretList": list}
}

func deleteOperation(r request) (any, error) {
	if r.in.Force && r.in.Window != 0 {
		return nil, jsonapi.Refusef(invalidParameter, "You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.")
	}
	if window := cmp.Or(r.in.Window, usualWindow); window < 7 || window > usualWindow {
		return nil, jsonapi.Refusef(invalidParameter, "The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).")
	}
	answer := about(r.secret)
	if !r.in.Force {
		gone := r.secret.Clone()
		gone.Status = standin.StatusPendingDeletion
		answer.DeletionDate = seconds(r.cloud.Now().AddDate(0, 0, cmp.Or(r.in.Window, usualWindow)))
		return answer, r.cloud.Put(gone)
	}
	for _, v := range versions(r.cloud, r.secret) {
		if err := r.cloud.Forget(v); err != nil {
			return nil, err
		}
	}
	answer.DeletionDate = seconds(r.cloud.Now())
	return answer, r.cloud.Forget(r.secret)
}
