package addon

var _ = register(Addon{
	Name:      "metrics-server",
	Summary:   "Tells the use of CPU and memory to kubectl top and the autoscalers.",
	Namespace: "kube-system",
	Stage:     Others,
}, definition[none]{})
