package addon

var _ = register(Addon{
	Name:      "metrics-server",
	Summary:   "Reports the use of CPU and memory to kubectl top and to autoscalers.",
	Namespace: "kube-system",
	Stage:     Others,
}, definition[none]{})
