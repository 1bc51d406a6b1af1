{{- /* The team's Application, and its project. */}}
{{- define "application" -}}
{{ required "cluster.name is missing" .Values.cluster.name }}-{{ .Release.Name }}
{{- end }}

{{- define "labels" -}}
tombolo/cluster: {{ .Values.cluster.name | quote }}
tombolo/system: {{ .Release.Name | quote }}
{{- end }}
