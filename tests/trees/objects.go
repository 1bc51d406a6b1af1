package trees

import (
	"fmt"
	"strings"
)

// object writes one of Kubernetes' own kinds. in is its namespace, "" for one that somebody else gives it;
// value is a text for its fields, which may be a variable.
type object func(m *maker, name, in, value string) string

// objects are the kinds that trees are made of.
var objects = []object{configMap, secret, deployment, service, serviceAccount, role, cronJob}

// head begins an object.
func head(version, kind, name, in string) string {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", version, kind, name)
	if in != "" {
		text += "  namespace: " + in + "\n"
	}
	return text
}

func configMap(m *maker, name, in, value string) string {
	text := head("v1", "ConfigMap", name, in)
	if m.chance(40) {
		text += "  labels:\n    app.kubernetes.io/part-of: NAME\n    tier: \"1\"\n"
	}
	text += "data:\n  region: " + value + "\n  port: \"8080\"\n"
	if m.chance(50) {
		text += "  verbose: \"true\"\n"
	}
	if m.chance(40) {
		text += "  settings.yaml: |\n    server:\n      port: 8080\n      host: " + value + "\n"
	}
	return text
}

func secret(m *maker, name, in, value string) string {
	return head("v1", "Secret", name, in) + one(m, "type: Opaque\n", "") + "stringData:\n  user: " + value + "\n  password: \"12345\"\n"
}

func deployment(m *maker, name, in, value string) string {
	text := head("apps/v1", "Deployment", name, in) + `spec:
  replicas: 2
  selector:
    matchLabels:
      app: ` + name + `
  template:
    metadata:
      labels:
        app: ` + name + `
    spec:
      containers:
        - name: web
          image: registry.example.com/web:1.2
          ports:
            - containerPort: 8080
          env:
            - name: REGION
              value: ` + value + `
            - name: RETRIES
              value: "3"
`
	if m.chance(50) {
		text += "          args: [\"--port\", \"8080\", --quiet]\n"
	}
	if m.chance(50) {
		text += "          resources:\n            requests: {cpu: 100m, memory: 64Mi}\n            limits:\n              memory: 128Mi\n"
	}
	return text
}

func service(m *maker, name, in, _ string) string {
	return head("v1", "Service", name, in) + "spec:\n  selector: {app: web, tier: front}\n  ports:\n    - name: http\n      port: 80\n      targetPort: " + one(m, "8080", "http") + "\n"
}

func serviceAccount(m *maker, name, in, value string) string {
	text := head("v1", "ServiceAccount", name, in)
	if m.chance(50) {
		text += "  annotations:\n    example.com/region: " + value + "\n"
	}
	return text
}

func role(m *maker, name, in, _ string) string {
	text := head("rbac.authorization.k8s.io/v1", "Role", name, in)
	return text + "rules:\n  - apiGroups: [\"\"]\n    resources: [pods, services]\n    verbs: " + one(m, "[get, list]", "[\"get\", \"watch\"]") + "\n"
}

func cronJob(m *maker, name, in, value string) string {
	return head("batch/v1", "CronJob", name, in) + `spec:
  schedule: "` + one(m, "*/5 * * * *", "0 3 * * 1") + `"
  suspend: true
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: job
              image: registry.example.com/job:1
              command: [job, "--region", ` + flow(value) + `]
`
}

// flow is a value inside a list on one line, where the braces of a variable would be a mapping's.
func flow(value string) string {
	if strings.Contains(value, "${") && !strings.HasPrefix(value, `"`) {
		return `"` + value + `"`
	}
	return value
}
