package policy

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestRenderSortsConditionsAndLeavesOutWhatIsEmpty(t *testing.T) {
	got, err := Render(
		Statement{Effect: Allow, Action: []string{"s3:GetObject"}, Resource: []string{"arn:aws:s3:::b/*"}},
		Statement{Sid: "Two", Effect: Allow, Action: []string{"s3:PutObject"}, Condition: Conditions{
			"StringLike":   {"b": {"2", "1"}, "a": {"x"}},
			"StringEquals": {"c": {"y"}},
		}},
	)
	assert.NilError(t, err)
	const want = `{"Version":"2012-10-17","Statement":[` +
		`{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]},` +
		`{"Sid":"Two","Effect":"Allow","Action":["s3:PutObject"],"Condition":{"StringEquals":{"c":["y"]},"StringLike":{"a":["x"],"b":["2","1"]}}}]}`
	assert.Check(t, is.Equal(got, want))
}

func TestRequireTLS(t *testing.T) {
	got, err := Render(RequireTLS("sqs", "arn:aws:sqs:eu-central-1:111122223333:q"))
	assert.NilError(t, err)
	const want = `{"Version":"2012-10-17","Statement":[{"Sid":"RequireTLS","Effect":"Deny","Principal":{"AWS":"*"},` +
		`"Action":["sqs:*"],"Resource":["arn:aws:sqs:eu-central-1:111122223333:q"],` +
		`"Condition":{"Bool":{"aws:SecureTransport":["false"]}}}]}`
	assert.Check(t, is.Equal(got, want))
}
