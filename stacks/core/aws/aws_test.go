package aws

import "testing"

func TestPrincipal(t *testing.T) {
	for caller, want := range map[string]string{
		"arn:aws:sts::111122223333:assumed-role/ops/someone@example.com": "arn:aws:iam::111122223333:role/ops",
		"arn:aws-cn:sts::111122223333:assumed-role/ops/x":                "arn:aws-cn:iam::111122223333:role/ops",
		"arn:aws:iam::111122223333:user/someone":                         "arn:aws:iam::111122223333:user/someone",
		"arn:aws:sts::111122223333:federated-user/x":                     "arn:aws:sts::111122223333:federated-user/x",
		"nonsense": "nonsense",
	} {
		if got := principal(caller); got != want {
			t.Errorf("%s: %s, expected %s", caller, got, want)
		}
	}
}
