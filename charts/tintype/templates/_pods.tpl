{{/* Pod Security "restricted" and stricter. */}}
{{- define "tintype.podSecurity" -}}
runAsNonRoot: true
{{- /* OpenShift assigns each namespace its user and group ids, and rejects pods that name others. */}}
{{- if ne .Values.platform "openshift" }}
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "tintype.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "tintype.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Priority class of a program: its own, or that of the release: (dict "root" $ "values" .Values.operator). */}}
{{- define "tintype.priority" -}}
{{- if .values.priorityClassName }}priorityClassName: {{ .values.priorityClassName }}
{{- else if .root.Values.priorityClass.create }}priorityClassName: {{ include "tintype.clusterName" .root }}
{{- end -}}
{{- end }}

{{/* Labels of a program's pods: (dict "root" $ "component" "operator" "section" "operator" "values" .Values.operator). */}}
{{- define "tintype.podLabels" -}}
{{- include "tintype.selector" . }}
{{- include "tintype.extraLabels" . }}
{{- end }}

{{/* Labels of the chart cannot be overridden, because Services, NetworkPolicies and the operator select pods by them. */}}
{{- define "tintype.extraLabels" -}}
{{- $own := include "tintype.selector" . | fromYaml -}}
{{- range $name, $value := .values.podLabels }}
{{- if hasKey $own $name }}{{ fail (printf "%s.podLabels sets %s, which the chart sets itself: remove it" $.section $name) }}{{ end }}
{{- if hasPrefix "tintype.dev/" $name }}{{ fail (printf "%s.podLabels sets %s, which the operator sets itself: remove it" $.section $name) }}{{ end }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{/*
The environment of a program and its extraEnv. Duplicates are rejected, because Kubernetes uses the last of two entries with the same name.
(dict "section" "operator" "values" .Values.operator "own" <YAML list>)
*/}}
{{- define "tintype.environment" -}}
{{- $names := dict -}}
{{- range fromYamlArray .own }}{{ $_ := set $names .name true }}{{ end -}}
{{- .own }}
{{- range .values.extraEnv }}
{{- if hasKey $names .name }}{{ fail (printf "%s.extraEnv sets %s, which the chart sets itself: change the chart's value for it, or remove it here" $.section .name) }}{{ end }}
{{- $_ := set $names .name true }}
            - {{ toJson . }}
{{- end }}
{{- end }}

{{/* Node placement of a pod, from the `gateway`, `operator` or `minio` values. */}}
{{- define "tintype.placement" -}}
nodeSelector:
  {{- toYaml (merge (deepCopy (.nodeSelector | default dict)) (dict "kubernetes.io/os" "linux")) | nindent 2 }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Spreads replicas over nodes if possible. */}}
{{- define "tintype.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tintype.selector" . | nindent 8 }}
{{- end }}

{{/* Environment of all programs. */}}
{{- define "tintype.commonEnvironment" -}}
- { name: TINTYPE_NAMESPACE, valueFrom: { fieldRef: { fieldPath: metadata.namespace } } }
- { name: TINTYPE_LOG_LEVEL, value: {{ .Values.logLevel | quote }} }
- { name: TINTYPE_METRICS_PORT, value: "9090" }
- { name: TINTYPE_PUBLIC_URL, value: {{ include "tintype.publicUrl" . | quote }} }
{{- with .Values.tracing.endpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ . | quote }} }
- { name: OTEL_TRACES_SAMPLER_ARG, value: {{ $.Values.tracing.sampleRatio | quote }} }
{{- end }}
{{- with .Values.tracing.headersSecret }}
- { name: OTEL_EXPORTER_OTLP_HEADERS, valueFrom: { secretKeyRef: { name: {{ . }}, key: headers } } }
{{- end }}
{{- end }}

{{/* Liveness and readiness probes on the metrics port, which responds even if the main port is overloaded. */}}
{{- define "tintype.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: metrics }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}

{{/*
Resources of a container that is small or ends soon. It takes the CPU limit of the component whose values are given, because a namespace with a
ResourceQuota for limits.cpu refuses pods without one. Call with values, requests and limits.
*/}}
{{- define "tintype.smallResources" -}}
{{- $limits := deepCopy .limits }}
{{- with ((.values.resources | default dict).limits | default dict).cpu }}
{{- $_ := set $limits "cpu" . }}
{{- end }}
requests: {{ .requests | toJson }}
limits: {{ $limits | toJson }}
{{- end }}
