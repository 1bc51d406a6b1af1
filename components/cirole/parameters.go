package cirole

import (
	"strings"

	"tombolo/components/identity"
)

// Assuming is the statement by which a role assumes roles of other accounts.
func Assuming(roles []string) identity.Statement {
	return identity.Statement{Sid: "AssumeRolesOfAccounts", Actions: []string{"sts:AssumeRole"}, Resources: roles}
}

// ReadingParameters is the statement by which previews read parameters of an account,
// by their names, of which a * at the end stands for all that begin so. It does not keep
// a SecureString back that AWS's own key encrypts: the policy of that key lets everybody
// in who may call GetParameter
// (https://docs.aws.amazon.com/kms/latest/developerguide/services-parameter-store.html).
func ReadingParameters(partition, account string, parameters []string) identity.Statement {
	s := identity.Statement{Sid: "ReadParameters", Actions: []string{"ssm:GetParameter"}}
	for _, name := range parameters {
		s.Resources = append(s.Resources, "arn:"+partition+":ssm:*:"+account+":parameter/"+strings.TrimPrefix(name, "/"))
	}
	return s
}
