package builtin

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: web, ports: [{containerPort: 80}], resources: {requests: {cpu: 1, memory: 64Mi}}}
`

func TestRefused(t *testing.T) {
	for name, test := range map[string]struct{ old, new, path, want string }{
		"all is well":          {"", "", "", ""},
		"unknown field":        {"replicas: 1", "replica: 1", "spec.replica", "Deployment has no field spec.replica"},
		"unknown field below":  {"image: web", "imag: web", "spec.template.spec.containers.[].imag", "has no field spec.template.spec.containers[0].imag"},
		"case of a field":      {"containerPort", "containerport", "spec.template.spec.containers.[].ports.[].containerport", "has no field"},
		"number in a label":    {"labels: {app: web}}\nspec", "labels: {app: 1}}\nspec", "metadata.labels", "is a number, and has to be text"},
		"text for a number":    {"replicas: 1", "replicas: one", "spec.replicas", "is text, and has to be a number"},
		"quantity as number":   {"64Mi", "64", "", ""},
		"version of no kind":   {"apps/v1", "apps/v2", "apiVersion", "Kubernetes has no Deployment in apps/v2"},
		"kind of no version":   {"kind: Deployment", "kind: Deploymet", "kind", "Kubernetes has no Deploymet in apps/v1"},
		"version that is gone": {"apps/v1", "extensions/v1beta1", "apiVersion", "serves extensions/v1beta1 of Deployment until 1.15, and the cluster has 1.33"},
		"name":                 {"name: web, labels", "name: Web, labels", "metadata.name", `"Web" is no name`},
		"kind of others":       {"apps/v1", "example.com/v1", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Refused(strings.Replace(deployment, test.old, test.new, 1), "1.33")
			if test.want == "" {
				assert.Check(t, len(got) == 0, "%+v", got)
				return
			}
			assert.Check(t, len(got) == 1 && strings.Join(got[0].Path, ".") == test.path && strings.Contains(got[0].Message, test.want), "%+v", got)
		})
	}
}

func TestRefusedOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: example.com/v1, kind: It, metadata: {labels: {a: 1}}}":                     "metadata.labels is a number",
		"{apiVersion: example.com/v1, kind: It, metadata: {annotations: {a: true}}}":             "metadata.annotations is a bool",
		"{apiVersion: example.com/v1, kind: It, metadata: {name: it}, spec: {any: 1}}":           "",
		"{apiVersion: policy/v1beta1, kind: PodDisruptionBudget}":                                "until 1.24",
		"{apiVersion: policy/v1beta1, kind: PodSecurityPolicy}":                                  "Kubernetes has no PodSecurityPolicy in policy/v1beta1",
		"{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition}":             "until 1.21",
		"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}":                  "",
		"{apiVersion: autoscaling/v2beta2, kind: HorizontalPodAutoscaler}":                       "Kubernetes has no HorizontalPodAutoscaler in autoscaling/v2beta2",
		"{apiVersion: v1, kind: ConfigMap, data: {a: yes}}":                                      "data is a bool",
		"{apiVersion: v1, kind: ConfigMap, data: {a: '1'}, binaryData: {b: YQ==}}":               "",
		"{apiVersion: v1, kind: Service, spec: {ports: [{port: http}]}}":                         "spec.ports.port is text",
		"{apiVersion: v1, kind: Service, spec: {ports: [{port: 80, targetPort: http}]}}":         "",
		"{apiVersion: batch/v1, kind: CronJob, spec: {schedule: '* * * * *', suspended: true}}":  "no field spec.suspended",
		"{apiVersion: v1, kind: Namespace, metadata: {name: a.b}}":                               "no name of a namespace",
		"{apiVersion: v1, kind: Service, metadata: {name: 1a}}":                                  "no name of a Service",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: 'A:b'}}": "",
		"{apiVersion: example.com/v1, kind: It, metadata: {name: a_b}}":                          "is no name",
	} {
		got := Refused(text, "1.33")
		if want == "" {
			assert.Check(t, len(got) == 0, "%s: %+v", text, got)
			continue
		}
		assert.Check(t, len(got) == 1 && strings.Contains(got[0].Message, want), "%s: %+v", text, got)
	}
}
