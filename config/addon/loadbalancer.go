package addon

import (
	"tombolo/config/field"
	"tombolo/config/strict"
)

// LoadBalancerOptions are the options of aws-load-balancer-controller.
type LoadBalancerOptions struct {
	// WebACLs lets the controller attach web ACLs of AWS WAF to application load
	// balancers. Default false.
	WebACLs bool `yaml:"webACLs,omitempty"`
}

var loadBalancerOptionsFields = field.Of[LoadBalancerOptions](map[string]field.Descriptor{
	"WebACLs": {Rule: strict.Rule{Default: false}, Change: field.Changes("the role's policy changes, and the engine follows the values")},
})

var _ = register(Addon{
	Name:      "aws-load-balancer-controller",
	Summary:   "Makes AWS load balancers for Services and Ingresses.",
	Namespace: "kube-system",
	Stage:     LoadBalancerController,
	NotOn: notOnAzure("makes load balancers of AWS",
		"remove it: AKS makes the load balancers of Services itself"),
}, definition[LoadBalancerOptions]{
	Fields: loadBalancerOptionsFields,
	Needs: func(in Input[LoadBalancerOptions]) Needs {
		statements := loadBalancerStatements(in.Facts)
		if in.Options.WebACLs {
			statements = append(statements, webACLStatements(in.Facts)...)
		}
		return Needs{Identities: []Identity{{ServiceAccount: "aws-load-balancer-controller", Statements: statements}}}
	},
	Values: func(in Input[LoadBalancerOptions], out Outputs) map[string]any {
		// Its env is a mapping: https://github.com/kubernetes-sigs/aws-load-balancer-controller/tree/main/helm/aws-load-balancer-controller
		return with(map[string]any{
			"clusterName":    in.NameInCloud(),
			"region":         in.Region,
			"vpcId":          out.VPCID,
			"serviceAccount": serviceAccount("aws-load-balancer-controller", out.Made[RoleARN]),
			// tombolo destroy finds leftovers by that of the cluster.
			"defaultTags": in.tagsBut(equalsInKey),
			// Off is what its role may not do: always the classic WAF and Shield.
			"enableWafv2":  in.Options.WebACLs,
			"enableWaf":    false,
			"enableShield": false,
		}, "env", in.proxyVariables())
	},
})
