package addon

// Labels of cluster files that say what watches a cluster.
const (
	// MonitoringLabel turns on what watches a cluster: see Monitoring.
	MonitoringLabel = "monitoring"
	// LoggingLabel has the platform tree collect a cluster's logs.
	LoggingLabel = "logging"
	// LabelOn is the value of both, and of the labels of addons on a registration.
	LabelOn = "on"
)

// Monitoring are the addons that a cluster with the labels has by MonitoringLabel: metrics and their
// alerts; with its logs, also the store that makes alerts of events, the exporter of these, and
// what collects both: Promtail where the cluster has chosen that, else Alloy.
func Monitoring(labels map[string]string, chosen Selection) []string {
	if labels[MonitoringLabel] != LabelOn {
		return nil
	}
	if logging, said := labels[LoggingLabel]; said && logging != LabelOn {
		return []string{"kube-prometheus-stack"}
	}
	collector := "alloy"
	if _, has := chosen["promtail"]; has {
		collector = "promtail"
	}
	return []string{"kube-prometheus-stack", "event-exporter", "loki", collector}
}
