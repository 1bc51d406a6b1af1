package addon

import "tombolo/config/strict"

// HeadlampOptions are the options of headlamp.
type HeadlampOptions struct {
	// Host under which people reach it, by istio's Gateway. Default: none; then only
	// kubectl port-forward does.
	Host string `yaml:"host,omitempty"`
}

var _ = register(Addon{
	Name:            "headlamp",
	Summary:         "Shows the cluster in a browser.",
	Namespace:       "headlamp",
	NamespaceLabels: podSecurity("baseline"),
	Stage:           Others,
}, definition[HeadlampOptions]{
	Rules: map[string]strict.Rule{"HeadlampOptions.Host": hosts},
	Values: func(in Input[HeadlampOptions], _ Outputs) map[string]any {
		host := in.Options.Host
		if !in.routed(host) {
			return map[string]any{}
		}
		return map[string]any{"httpRoute": map[string]any{"enabled": true, "hostnames": []any{host}, "parentRefs": gatewayRefs()}}
	},
	Check: func(o HeadlampOptions, all Selection) []Problem { return checkHost("headlamp", o.Host, false, all) },
})
