package aws

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil/rpcerror"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// fault adds a fault.
func (a *bench) fault(f standin.Fault) {
	a.T.Helper()
	if _, err := a.Cloud.AddFault(f); err != nil {
		a.T.Fatal(err)
	}
}

func anyVpc() props { return props{"cidrBlock": "10.0.0.0/16"} }

func TestFaultsInTheWay(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault standin.Fault
		want  string // empty: the provider copes
	}{
		{"throttled a little", standin.Fault{Kind: standin.FaultThrottled, Operation: standin.OpCreate, Type: "Vpc", Count: 3}, ""},
		{
			"throttled",
			standin.Fault{Kind: standin.FaultThrottled, Operation: standin.OpCreate, Type: ec2.VPCType, Count: 4},
			"creating EC2 VPC: operation error EC2: CreateVpc, exceeded maximum number of attempts, 4, https response error StatusCode: 503, RequestID: ID, api error RequestLimitExceeded: Request limit exceeded.",
		},
		{
			"server error",
			standin.Fault{Kind: standin.FaultServerError, Operation: standin.OpCreate, Type: "*", Count: 4},
			"creating EC2 VPC: operation error EC2: CreateVpc, exceeded maximum number of attempts, 4, https response error StatusCode: 500, RequestID: ID, api error InternalError: An internal error has occurred",
		},
		{
			"quota",
			standin.Fault{Kind: standin.FaultQuota, Operation: standin.OpCreate, Type: ec2.VPCType},
			"creating EC2 VPC: operation error EC2: CreateVpc, https response error StatusCode: 400, RequestID: ID, api error VpcLimitExceeded: The maximum number of VPCs has been reached.",
		},
		{"slow", standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpCreate, Type: ec2.VPCType, Delay: time.Millisecond}, ""},
		{"another type", standin.Fault{Kind: standin.FaultQuota, Operation: standin.OpCreate, Type: ec2.SubnetType}, ""},
		{"another operation", standin.Fault{Kind: standin.FaultThrottled, Operation: standin.OpUpdate, Type: ec2.VPCType, Count: 9}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAccount(t)
			a.fault(test.fault)
			made, err := a.Try(ec2.VPCType, "net", anyVpc())
			if test.want == "" {
				assert.Check(t, err == nil && made.ID != "", "made %v, %v", made, err)
				return
			}
			assert.Check(t, err != nil && strings.Contains(withoutRequestID(err.Error()), test.want), "got  %v\nwant %s", err, test.want)
			left := a.Cloud.Inventory()
			assert.Check(t, len(left) == 0, "made all the same: %v", left)
		})
	}
}

// withoutRequestID replaces the id of a request, which is random.
func withoutRequestID(text string) string {
	before, after, ok := strings.Cut(text, "RequestID: ")
	if _, rest, more := strings.Cut(after, ","); ok && more {
		return before + "RequestID: ID," + rest
	}
	return text
}

func TestLostAnswer(t *testing.T) {
	a := newAccount(t)
	a.fault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: standin.OpCreate, Type: ec2.VPCType})
	_, err := a.Try(ec2.VPCType, "net", anyVpc())
	refuses(t, err, `creating EC2 VPC: operation error EC2: CreateVpc, https response error StatusCode: 0, RequestID: , request send failed, `+
		`Post "https://ec2.eu-central-1.amazonaws.com/": net/http: timeout awaiting response headers`)
	made := a.Cloud.Inventory()
	assert.Assert(t, len(made) == 1 && made[0].Type == ec2.VPCType, "made %v", made)
	left := a.Cloud.Faults()
	assert.Check(t, len(left) == 0, "the fault has happened, and waits still: %v", left)
	vpc := &thing{Token: ec2.VPCType, Name: "net", ID: a.Cloud.Inventory()[0].ID}
	a.fault(standin.Fault{Kind: standin.FaultAnswerLost, Operation: standin.OpDelete, Type: ec2.VPCType})
	refuses(t, a.Delete(vpc), "deleting EC2 VPC ("+vpc.ID+"): operation error EC2: DeleteVpc, https response error StatusCode: 0")
	if err := a.Delete(vpc); err != nil || len(a.Cloud.Inventory()) > 0 {
		t.Errorf("deleted again: %v, left %v", err, a.Cloud.Inventory())
	}
}

func TestNotFoundAfterCreation(t *testing.T) {
	a := newAccount(t)
	a.fault(standin.Fault{Kind: standin.FaultNotFound, Operation: standin.OpCreate, Type: ec2.VPCType, Count: standin.Attempts - 1})
	vpc := a.Make(ec2.VPCType, "net", anyVpc())
	a.fault(standin.Fault{Kind: standin.FaultNotFound, Operation: standin.OpCreate, Type: ec2.SubnetType, Count: standin.Attempts})
	_, err := a.Try(ec2.SubnetType, "a", props{"vpcId": vpc.ID, "cidrBlock": "10.0.0.0/24"})
	refuses(t, err, "create: couldn't find resource (4 retries)")
	rpc, _ := rpcerror.FromError(err)
	if len(rpc.Details()) != 1 {
		t.Fatalf("details are %v", rpc.Details())
	}
	if left, ok := rpc.Details()[0].(*pulumirpc.ErrorResourceInitFailed); !ok || !strings.HasPrefix(left.Id, "subnet-") {
		t.Errorf("the engine does not get the id of what was made: %v", rpc.Details()[0])
	}
}

func TestNotFoundWhenRead(t *testing.T) {
	a := newAccount(t)
	vpc := a.Make(ec2.VPCType, "net", anyVpc())
	a.fault(standin.Fault{Kind: standin.FaultNotFound, Operation: standin.OpRead, Type: ec2.VPCType})
	for _, want := range []string{"", vpc.ID} {
		res, err := a.Server.Read(t.Context(), &pulumirpc.ReadRequest{Urn: standintest.URN(ec2.VPCType, "net"), Id: vpc.ID})
		if err != nil || res.Id != want {
			t.Errorf("read as %q, %v; want %q", res.GetId(), err, want)
		}
	}
}

func TestFaultOfAFunction(t *testing.T) {
	a := newAccount(t)
	a.fault(standin.Fault{Kind: standin.FaultServerError, Operation: standin.OpInvoke, Type: "getAvailabilityZones", Count: 4})
	_, err := a.Invoke("aws:index/getAvailabilityZones:getAvailabilityZones", nil)
	refuses(t, err, "invoking aws:index/getAvailabilityZones:getAvailabilityZones: reading getAvailabilityZones: "+
		"operation error EC2: GetAvailabilityZones, exceeded maximum number of attempts, 4, https response error StatusCode: 500")
}

func TestCancelEndsASlowRequest(t *testing.T) {
	a := newAccount(t)
	a.fault(standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpCreate, Type: ec2.VPCType, Delay: time.Hour})
	failed := make(chan error, 1)
	go func() { _, err := a.Try(ec2.VPCType, "net", anyVpc()); failed <- err }()
	a.Eventually("the creation waits", func() bool { return len(a.Cloud.Faults()) == 0 })
	if _, err := a.Server.Cancel(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	refuses(t, <-failed, standin.ErrCancelled.Error())
}

func TestAddFaultRefuses(t *testing.T) {
	a := newAccount(t)
	for _, test := range []struct {
		fault standin.Fault
		want  string
	}{
		{standin.Fault{Kind: "gone"}, `add a fault: there is no kind "gone"; use one of answer-lost, not-found, quota, server-error, slow, throttled`},
		{standin.Fault{Kind: standin.FaultQuota, Operation: standin.OpRead}, `add a fault: quota cannot happen to "read"; use create`},
		{standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpRead, Type: "Vpcs"}, "add a fault: the AWS stand-in does not know the resource type Vpcs; did you mean aws:ec2/vpc:Vpc?"},
		{standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpInvoke, Type: "getVpd"}, "add a fault: the AWS stand-in does not know the function getVpd; did you mean aws:ec2/getVpc:getVpc?"},
		{standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpRead, Type: ec2.VPCType, Count: -1}, "add a fault: count and delay cannot be negative"},
	} {
		_, err := a.Cloud.AddFault(test.fault)
		assert.Check(t, err != nil && err.Error() == test.want, "got  %v\nwant %s", err, test.want)
	}
}

func TestClearFaults(t *testing.T) {
	a := newAccount(t)
	for range 3 {
		a.fault(standin.Fault{Kind: standin.FaultSlow, Operation: standin.OpCreate, Type: ec2.VPCType})
	}
	if n := a.Cloud.ClearFaults(2, 7); n != 1 || len(a.Cloud.Faults()) != 2 {
		t.Errorf("cleared %d, left %v", n, a.Cloud.Faults())
	}
	if n := a.Cloud.ClearFaults(); n != 2 || len(a.Cloud.Faults()) != 0 {
		t.Errorf("cleared %d, left %v", n, a.Cloud.Faults())
	}
}

func TestWireKeepsOtherErrors(t *testing.T) {
	refuses(t, standin.Wire(errors.New("no")), "1 error occurred:\n\t* no")
}
