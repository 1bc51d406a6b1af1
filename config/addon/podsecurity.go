package addon

// podSecurity labels a namespace with what its pods may do: a level of the Pod
// Security Standards, enforced by the API server.
func podSecurity(level string) map[string]string {
	return map[string]string{"pod-security.kubernetes.io/enforce": level}
}

// monitoring is the namespace of what observes the cluster.
const monitoring = "monitoring"

// monitoringLabels are the labels of monitoring, the same for each of its
// addons. Privileged is needed by three: Prometheus' node exporter looks at the
// host's processes, network and file systems, Alloy and Promtail read /var/log/pods.
func monitoringLabels() map[string]string { return podSecurity("privileged") }
