package addon

var _ = register(Addon{
	Name:      "metrics-server",
	Summary:   "Reports the use of CPU and memory to kubectl top and to autoscalers.",
	Namespace: "kube-system",
	Stage:     Others,
	NotOn: notOnAzure("is already there: AKS brings its own metrics-server",
		"remove it"),
}, definition[none]{})
