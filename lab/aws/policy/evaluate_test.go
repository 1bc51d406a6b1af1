package policy

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	hubRole   = "arn:aws:iam::111122223333:role/hub-argocd"
	spokeRole = "arn:aws:iam::111122223333:role/spoke-argocd-spoke"
)

func policyOf(statement string) string {
	return `{"Version":"2012-10-17","Statement":[` + statement + `]}`
}

func TestJudgeIdentity(t *testing.T) {
	q := Inquiry{
		Action: "sts:AssumeRole", Resource: spokeRole,
		Context: map[string][]string{"aws:principaltag/cluster": {"spoke"}, "aws:principaltag/star": {"*"}},
	}
	const allowAll = `{"Effect":"Allow","Action":"*","Resource":"*"}`
	for statements, want := range map[string]Verdict{
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"` + spokeRole + `"}`:                                           Allowed,
		`{"Effect":"Allow","Action":"STS:assume*","Resource":"arn:aws:iam::*:role/*-argocd-spoke"}`:                             Allowed,
		`{"Effect":"Allow","Action":"sts:AssumeRol?","Resource":["arn:aws:s3:::x","*"]}`:                                        Allowed,
		`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`:                                                                 Allowed,
		`{"Effect":"Allow","Action":"sts:AssumeRole","NotResource":"arn:aws:iam::*:role/admin"}`:                                Allowed,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/${aws:PrincipalTag/cluster}-*"}`:           Allowed,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/${aws:PrincipalTag/none, 'spoke'}-*"}`:     Allowed,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/${aws:PrincipalTag/none}*"}`:               silent,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/${aws:PrincipalTag/star}"}`:                silent,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::*:role/${*}"}`:                                    silent,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"` + hubRole + `"}`:                                             silent,
		`{"Effect":"Allow","Action":"sts:TagSession","Resource":"*"}`:                                                           silent,
		`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"arn:aws:iam::111122223333:role/spoke"}`:                        silent,
		`{"Effect":"Allow","NotAction":"sts:*","Resource":"*"}`:                                                                 silent,
		`{"Effect":"Allow","Action":"sts:*","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalTag/cluster":"other"}}}`:  silent,
		allowAll + `,{"Effect":"Deny","Action":"sts:*","Resource":"*"}`:                                                         denied,
		`{"Effect":"Deny","Action":"sts:*","Resource":"*"},` + allowAll:                                                         denied,
		allowAll + `,{"Effect":"Deny","Action":"sts:*","Resource":"*","Condition":{"Null":{"aws:PrincipalTag/cluster":true}}}`:  Allowed,
		allowAll + `,{"Effect":"Deny","Action":"sts:*","Resource":"*","Condition":{"Null":{"aws:PrincipalTag/cluster":false}}}`: denied,
	} {
		assert.Check(t, is.Equal(q.Judge(Identity, policyOf(statements)), want), "%v", statements)
	}
	assert.Check(t, is.Equal(q.Judge(Identity), silent))
	got := q.Judge(Identity, policyOf(allowAll), policyOf(`{"Effect":"Deny","Action":"*","Resource":"*"}`))
	assert.Check(t, got == denied, "a denial in another document: %d", got)
}

func TestJudgeTrust(t *testing.T) {
	q := Inquiry{Action: "sts:AssumeRole", Resource: spokeRole, Principals: map[string][]string{
		"AWS": {"111122223333", "arn:aws:iam::111122223333:root", hubRole, "arn:aws:sts::111122223333:assumed-role/hub-argocd/x"},
	}}
	statement := func(principal string) string {
		return fmt.Sprintf(`{"Effect":"Allow","Action":"sts:AssumeRole",%s}`, principal)
	}
	for statements, want := range map[string]Verdict{
		statement(`"Principal":{"AWS":"` + hubRole + `"}`):                                            Allowed,
		statement(`"Principal":{"AWS":["` + spokeRole + `","111122223333"]}`):                         Allowed,
		statement(`"Principal":{"AWS":"arn:aws:iam::111122223333:root"}`):                             Allowed,
		statement(`"Principal":{"AWS":"arn:aws:sts::111122223333:assumed-role/hub-argocd/x"}`):        Allowed,
		statement(`"Principal":{"AWS":"*"}`):                                                          Allowed,
		statement(`"Principal":"*"`):                                                                  Allowed,
		statement(`"NotPrincipal":{"AWS":"` + spokeRole + `"}`):                                       Allowed,
		statement(`"NotPrincipal":{"AWS":"` + hubRole + `"}`):                                         silent,
		statement(`"Principal":{"AWS":"` + spokeRole + `"}`):                                          silent,
		statement(`"Principal":{"AWS":"arn:aws:iam::111122223333:role/hub-*"}`):                       silent,
		statement(`"Principal":{"Service":"eks.amazonaws.com"}`):                                      silent,
		statement(`"Principal":{"Federated":"` + hubRole + `"}`):                                      silent,
		statement(`"Principal":"*"`) + `,{"Effect":"Deny","Action":"sts:AssumeRole","Principal":"*"}`: denied,
	} {
		assert.Check(t, is.Equal(q.Judge(Trust, policyOf(statements)), want), "%v", statements)
	}
}

func TestConditionsHold(t *testing.T) {
	q := Inquiry{Context: map[string][]string{
		"aws:a": {"one"}, "aws:many": {"one", "two"}, "aws:number": {"10"}, "aws:time": {"2026-01-02T03:04:05Z"},
		"aws:ip": {"192.0.2.7"}, "aws:true": {"true"}, "aws:arn": {hubRole}, "aws:name": {"one"}, "aws:glob": {"o*e"},
	}}
	for condition, want := range map[string]bool{
		`{}`:                                                               true,
		`{"StringEquals":{"aws:A":"one"}}`:                                 true,
		`{"StringEquals":{"aws:a":"One"}}`:                                 false,
		`{"StringEquals":{"aws:a":"o*"}}`:                                  false,
		`{"StringEquals":{"aws:a":["x","one"]}}`:                           true,
		`{"StringEquals":{"aws:a":"one","aws:name":"two"}}`:                false,
		`{"StringEquals":{"aws:a":"one"},"StringLike":{"aws:name":"t*"}}`:  false,
		`{"StringEquals":{"aws:a":"${aws:name}"}}`:                         true,
		`{"StringEquals":{"aws:a":"${aws:missing}"}}`:                      false,
		`{"StringEquals":{"aws:glob":"o${*}e"}}`:                           true,
		`{"StringLike":{"aws:a":"${aws:glob}"}}`:                           false,
		`{"StringEquals":{"aws:missing":"one"}}`:                           false,
		`{"StringEqualsIfExists":{"aws:missing":"one"}}`:                   true,
		`{"StringEqualsIfExists":{"aws:a":"two"}}`:                         false,
		`{"StringNotEquals":{"aws:a":"one"}}`:                              false,
		`{"StringNotEquals":{"aws:a":["two","one"]}}`:                      false,
		`{"StringNotEquals":{"aws:a":"two"}}`:                              true,
		`{"StringNotEquals":{"aws:missing":"two"}}`:                        true,
		`{"StringEqualsIgnoreCase":{"aws:a":"ONE"}}`:                       true,
		`{"StringNotEqualsIgnoreCase":{"aws:a":"ONE"}}`:                    false,
		`{"StringLike":{"aws:a":"o?e"}}`:                                   true,
		`{"StringLike":{"aws:a":"o"}}`:                                     false,
		`{"StringNotLike":{"aws:a":"o*"}}`:                                 false,
		`{"ForAllValues:StringEquals":{"aws:many":["one","two","three"]}}`: true,
		`{"ForAllValues:StringEquals":{"aws:many":["one"]}}`:               false,
		`{"ForAllValues:StringEquals":{"aws:missing":["one"]}}`:            true,
		`{"ForAllValues:StringNotEquals":{"aws:many":["two"]}}`:            false,
		`{"ForAnyValue:StringEquals":{"aws:many":["two"]}}`:                true,
		`{"ForAnyValue:StringEquals":{"aws:many":["three"]}}`:              false,
		`{"ForAnyValue:StringNotEquals":{"aws:many":["two"]}}`:             true,
		`{"ForAnyValue:StringNotEquals":{"aws:missing":["two"]}}`:          false,
		`{"ForAnyValue:StringLikeIfExists":{"aws:missing":["two"]}}`:       true,
		`{"NumericEquals":{"aws:number":10}}`:                              true,
		`{"NumericNotEquals":{"aws:number":"10.0"}}`:                       false,
		`{"NumericLessThan":{"aws:number":"10"}}`:                          false,
		`{"NumericLessThanEquals":{"aws:number":"10"}}`:                    true,
		`{"NumericGreaterThan":{"aws:number":"9"}}`:                        true,
		`{"NumericGreaterThanEquals":{"aws:number":"11"}}`:                 false,
		`{"NumericEquals":{"aws:a":"10"}}`:                                 false,
		`{"DateLessThan":{"aws:time":"2026-01-02T03:04:06Z"}}`:             true,
		`{"DateGreaterThan":{"aws:time":"2026-01-03"}}`:                    false,
		`{"DateGreaterThanEquals":{"aws:time":"1767323045"}}`:              true,
		`{"DateEquals":{"aws:time":"2026-01-02T04:04:05+01:00"}}`:          true,
		`{"DateNotEquals":{"aws:time":"2026-01-02T03:04Z"}}`:               true,
		`{"Bool":{"aws:true":"true"}}`:                                     true,
		`{"Bool":{"aws:true":false}}`:                                      false,
		`{"Bool":{"aws:missing":"true"}}`:                                  false,
		`{"BoolIfExists":{"aws:missing":"true"}}`:                          true,
		`{"BinaryEquals":{"aws:a":"one"}}`:                                 true,
		`{"IpAddress":{"aws:ip":["198.51.100.0/24","192.0.2.0/24"]}}`:      true,
		`{"IpAddress":{"aws:ip":"192.0.2.8"}}`:                             false,
		`{"NotIpAddress":{"aws:ip":"192.0.2.7"}}`:                          false,
		`{"IpAddress":{"aws:a":"192.0.2.0/24"}}`:                           false,
		`{"ArnEquals":{"aws:arn":"arn:aws:iam::*:role/hub-*"}}`:            true,
		`{"ArnLike":{"aws:arn":"arn:aws:iam::111122223333:role/spoke-*"}}`: false,
		`{"ArnLike":{"aws:arn":"arn:*hub-argocd"}}`:                        false,
		`{"ArnNotLike":{"aws:arn":"arn:aws:iam::1111222233*:role/*"}}`:     false,
		`{"ArnNotEquals":{"aws:arn":"arn:aws:iam::*:user/*"}}`:             true,
		`{"Null":{"aws:missing":"true"}}`:                                  true,
		`{"Null":{"aws:a":true}}`:                                          false,
		`{"Null":{"aws:a":"false"}}`:                                       true,
	} {
		statement := fmt.Sprintf(`{"Effect":"Allow","Action":"*","Resource":"*","Condition":%s}`, condition)
		assert.Check(t, is.Equal(q.Judge(Identity, policyOf(statement)) == Allowed, want), "%v", condition)
	}
}

// TestEveryOperator compares equal values by each operator that IAM takes.
func TestEveryOperator(t *testing.T) {
	values := map[string]string{"Numeric": "1", "Date": "2026-01-02", "Ip": "192.0.2.7", "Arn": hubRole}
	for _, operator := range conditionOperators {
		if operator == "Null" {
			continue
		}
		value := "true"
		for kind, v := range values {
			if strings.Contains(operator, kind) {
				value = v
			}
		}
		q := Inquiry{Context: map[string][]string{"aws:a": {value}}}
		want := !strings.Contains(operator, "Not") && !strings.HasSuffix(operator, "Than")
		got := q.holds(operator, "aws:a", []string{value})
		assert.Check(t, got == want, "%s of equal values: %t", operator, got)
	}
}
