package pulumicli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
)

func pre(op apitype.OpType, token, name string, custom bool) events.EngineEvent {
	e := apitype.EngineEvent{ResourcePreEvent: &apitype.ResourcePreEvent{Metadata: apitype.StepEventMetadata{
		Op: op, URN: "urn:pulumi:demo-core::tombolo::" + token + "::" + name, Type: token,
		New: &apitype.StepEventStateMetadata{Type: token, Custom: custom},
	}}}
	return events.EngineEvent{EngineEvent: e}
}

func TestProgramThatGivesUpBeforeAnythingIsMade(t *testing.T) {
	p := New(Options{})
	guard := errors.New("the AWS credentials are of account 1, but the cluster file allows 2 only; use credentials of 2")
	rec := &Recorder{}
	rec.Record(pre(apitype.OpCreate, backend.RootType, "s", false))
	rec.Record(pre(apitype.OpCreate, "pulumi:providers:aws", "aws", true))
	f := Failed{Stack: "demo-core", Operation: "up", Err: errors.New("exit status 255"), Record: rec, Program: guard}

	err := p.Failure(t.Context(), f)
	var precondition *fault.Error
	assert.Check(t, errors.As(err, &precondition) && errors.Is(err, guard) && err.Error() == guard.Error(), "error is %T: %v", err, err)

	rec.Record(pre(apitype.OpCreate, "aws:ec2/vpc:Vpc", "demo-vpc", true))
	var command *Error
	err = p.Failure(t.Context(), f)
	assert.Check(t, errors.As(err, &command), "error after a creation is %T: %v", err, err)
}

func TestReasonsAreFewAndShort(t *testing.T) {
	rec := &Recorder{}
	for i := range 5 {
		rec.addError(&apitype.DiagnosticEvent{Message: fmt.Sprintf("error %d %s", i, strings.Repeat("x", 2*maxReason))})
	}
	rec.addError(&apitype.DiagnosticEvent{Message: "update failed"})
	got := Failed{Record: rec}.reasons()
	assert.Check(t, len(got) == maxReasons+1 && got[maxReasons] == "and 2 more", "%d reasons, the last is %q", len(got), got[len(got)-1])
	assert.Check(t, len(got[0]) <= maxReason+len("…"), "a reason is %d bytes long", len(got[0]))
}

func TestInterruptedNamesWhatWasUnderWay(t *testing.T) {
	rec := &Recorder{}
	rec.Record(pre(apitype.OpCreate, "aws:eks/cluster:Cluster", "demo", true))
	err := Interrupted(Failed{Stack: "demo-core", Operation: "up", Record: rec}, errors.New("stop"))
	want := "up demo-core: interrupted during create aws:eks/cluster:Cluster demo; run the same command again to go on from there"
	assert.Error(t, err, want)
}

func TestRemedies(t *testing.T) {
	for reason, want := range map[string]string{
		"api error ExpiredToken: x":                                "renew the cloud credentials",
		"AccessDenied: not you":                                    "allow the action",
		"DependencyViolation: vpc-1 has a user":                    "remove what still uses the resource",
		"no resource plugin 'aws' found":                           "build the plugins",
		"MountTargetConflict: one exists":                          "a run that was killed may have left",
		"something else":                                           "resolve the cause",
		`Status=403 Code="LinkedAuthorizationFailed" Message="no"`: "give the identity in use a role",
		`Status=400 Code="AzureKeyVaultKmsValidateIdentityPermissionCustomerError" Message="no"`:     "wait some minutes until the role",
		"AzureCLICredential: ERROR: Please run 'az login' to setup account.":                         "sign in with `az login`",
		`Code="MissingSubscriptionRegistration" Message="not registered"`:                            "register the resource provider",
		`Code="ConflictError" Message="A vault with the same name already exists in deleted state."`: "bring the vault back",
		`Code="SoftDeletedVaultDoesNotExist" Message="none"`:                                         "take recoverVault out",
		`Code="StorageAccountAlreadyTaken" Message="The storage account named x is already taken."`:  "rename the cluster",
		`Code="NetworkAclsValidationFailure" Message="SubnetsNotProvisioned:Cannot proceed"`:         "run the same command again",
		`Code="QuotaExceeded" Message="exceeding approved standardDSv5Family Cores quota"`:           "ask the cloud for a higher quota",
		`Code="InUseSubnetCannotBeDeleted" Message="Subnet is in use"`:                               "remove what still uses",
		`Code="UpgradeBlockedOnDeprecatedAPIUsage" Message="Detected recent usage"`:                  "have what uses the deprecated APIs",
		"S3: ListObjectsV2, NoSuchBucket: none":                                                      "make the bucket",
		"unable to open bucket s3://b?endpoin=":                                                      "make the bucket",
	} {
		got := remedyFor(reason)
		assert.Check(t, strings.HasPrefix(got, want), "remedy for %q is %q, want %s…", reason, got, want)
	}
}

// TestReasonHidesPasswords: the CLI repeats the backend's URL.
func TestReasonHidesPasswords(t *testing.T) {
	got := Reason("could not connect to postgres://ada:s3cret@db:5432/state?sslmode=require: connection refused")
	want := "could not connect to postgres://ada:xxxxx@db:5432/state?sslmode=require: connection refused"
	assert.Check(t, got == want, "got %s, want %s", got, want)
}
