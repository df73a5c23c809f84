{{/* Prefix of the names of all objects, short enough for every suffix. */}}
{{- define "tintype.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* The same for objects without a namespace: releases with the same name in different namespaces must not collide. */}}
{{- define "tintype.clusterName" -}}
{{- $name := include "tintype.fullname" . -}}
{{- if eq .Release.Namespace $name }}{{ $name }}{{ else }}{{ .Release.Namespace }}-{{ $name }}{{ end -}}
{{- end }}

{{- define "tintype.selector" -}}
app.kubernetes.io/name: tintype
app.kubernetes.io/instance: {{ include "tintype.fullname" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of an object: (dict "root" $ "component" "api-gateway"). */}}
{{- define "tintype.labels" -}}
{{ include "tintype.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Reference of an image: (dict "root" $ "image" .Values.operator.image). */}}
{{- define "tintype.image" -}}
{{- $registry := .root.Values.image.registry | required "image.registry is empty: build and push the images with `npm run images -- --push <registry>`, then set image.registry to it" -}}
{{ trimSuffix "/" $registry }}/{{ .image.name }}:{{ coalesce .image.tag .root.Values.image.tag .root.Chart.AppVersion }}
{{- end }}

{{/* Public URL of the API: the value, or that of the Ingress, or that of the HTTPRoute's first host name without a wildcard. */}}
{{- define "tintype.publicUrl" -}}
{{- if .Values.gateway.publicUrl }}{{ .Values.gateway.publicUrl }}
{{- else if and .Values.ingress.enabled .Values.ingress.host }}{{ ternary "https" "http" .Values.ingress.tls.enabled }}://{{ .Values.ingress.host }}
{{- else if .Values.httpRoute.enabled }}
{{- $hosts := list }}{{ range .Values.httpRoute.hostnames }}{{ if not (hasPrefix "*" .) }}{{ $hosts = append $hosts . }}{{ end }}{{ end }}
{{- with first $hosts }}{{ $.Values.httpRoute.scheme }}://{{ . }}{{ end }}
{{- end -}}
{{- end }}

{{/* The mode for the RunnerPool. YAML parses an unquoted `off` as false. */}}
{{- define "tintype.sandboxMode" -}}
{{- if kindIs "bool" .Values.sandbox.mode }}off{{ else }}{{ .Values.sandbox.mode }}{{ end -}}
{{- end }}

{{- define "tintype.installedProfile" -}}
profiles/{{ include "tintype.clusterName" . }}-chromium.json
{{- end }}

{{- define "tintype.localhostProfile" -}}
{{- if .Values.sandbox.localhostProfile }}{{ .Values.sandbox.localhostProfile }}
{{- else if .Values.seccompInstaller.enabled }}{{ include "tintype.installedProfile" . }}
{{- end -}}
{{- end }}

{{- define "tintype.runnerStatusPolicyName" -}}
{{ include "tintype.clusterName" . }}-runner-status
{{- end }}

{{- define "tintype.trustedSpecPolicyName" -}}
{{ include "tintype.clusterName" . }}-trusted-spec
{{- end }}

{{- define "tintype.trustedStatusPolicyName" -}}
{{ include "tintype.clusterName" . }}-trusted-status
{{- end }}

{{/* User name of a service account of the release: (dict "root" $ "account" "operator"). */}}
{{- define "tintype.userName" -}}
system:serviceaccount:{{ .root.Release.Namespace }}:{{ include "tintype.fullname" .root }}-{{ .account }}
{{- end }}

{{/* Numbers in values are floats, so 300000 would print as 3e+05. */}}
{{- define "tintype.integers" -}}
{{- $texts := list }}{{- range . }}{{- $texts = append $texts (. | int64 | toString) }}{{- end }}{{ join "," $texts }}
{{- end }}

{{/*
Adds missing values, because `helm upgrade --reuse-values` passes only the values of the chart that was installed before. Every template starts with
it. Plans and values nested deeper than two levels stay unchanged, because an absent key may have a meaning there.
*/}}
{{- define "tintype.presets" -}}
{{- range $section, $preset := .Files.Get "files/values.yaml" | fromYaml -}}
{{- if not (hasKey $.Values $section) -}}
{{- $_ := set $.Values $section $preset -}}
{{- else if and (kindIs "map" $preset) (ne $section "plans") -}}
{{- range $name, $value := $preset -}}
{{- if not (hasKey (index $.Values $section) $name) -}}
{{- $_ := set (index $.Values $section) $name $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
