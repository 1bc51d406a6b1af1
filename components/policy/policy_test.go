package policy

import "testing"

func TestRenderSortsConditionsAndLeavesOutWhatIsEmpty(t *testing.T) {
	got, err := Render(
		Statement{Effect: Allow, Action: []string{"s3:GetObject"}, Resource: []string{"arn:aws:s3:::b/*"}},
		Statement{Sid: "Two", Effect: Allow, Action: []string{"s3:PutObject"}, Condition: Conditions{
			"StringLike":   {"b": {"2", "1"}, "a": {"x"}},
			"StringEquals": {"c": {"y"}},
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Version":"2012-10-17","Statement":[` +
		`{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["arn:aws:s3:::b/*"]},` +
		`{"Sid":"Two","Effect":"Allow","Action":["s3:PutObject"],"Condition":{"StringEquals":{"c":["y"]},"StringLike":{"a":["x"],"b":["2","1"]}}}]}`
	if got != want {
		t.Errorf("document is\n%s\nexpected\n%s", got, want)
	}
}

func TestRequireTLS(t *testing.T) {
	got, err := Render(RequireTLS("sqs", "arn:aws:sqs:eu-central-1:111122223333:q"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"Version":"2012-10-17","Statement":[{"Sid":"RequireTLS","Effect":"Deny","Principal":{"AWS":"*"},` +
		`"Action":["sqs:*"],"Resource":["arn:aws:sqs:eu-central-1:111122223333:q"],` +
		`"Condition":{"Bool":{"aws:SecureTransport":["false"]}}}]}`
	if got != want {
		t.Errorf("document is\n%s\nexpected\n%s", got, want)
	}
}
