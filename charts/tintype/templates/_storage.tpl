{{/* The chart must know one store, and only one. */}}
{{- define "tintype.storageCheck" -}}
{{- if and .Values.minio.enabled .Values.storage.external.endpoint }}
{{- fail "storage.external.endpoint is set, so set minio.enabled to false" }}
{{- end }}
{{- if not (or .Values.minio.enabled .Values.storage.external.endpoint) }}
{{- fail "minio.enabled is false, so set storage.external.endpoint" }}
{{- end }}
{{- with .Values.storage.external }}
{{- if and .endpoint (not .existingSecret) (not (and .accessKey .secretKey)) }}
{{- fail "storage.external needs existingSecret, or accessKey and secretKey" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tintype.storageEndpoint" -}}
{{- include "tintype.storageCheck" . -}}
{{- if .Values.minio.enabled }}http://{{ include "tintype.fullname" . }}-minio:9000{{ else }}{{ .Values.storage.external.endpoint }}{{ end -}}
{{- end }}

{{- define "tintype.storagePort" -}}
{{- $endpoint := include "tintype.storageEndpoint" . | urlParse -}}
{{- $port := regexFind ":[0-9]+$" $endpoint.host | trimPrefix ":" -}}
{{- default (ternary "443" "80" (eq $endpoint.scheme "https")) $port -}}
{{- end }}

{{/* Secret of one program's access key: (dict "root" $ "user" "gateway"). */}}
{{- define "tintype.storageSecret" -}}
{{- $made := printf "%s-storage-%s" (include "tintype.fullname" .root) .user -}}
{{- $external := .root.Values.storage.external -}}
{{- $minio := .root.Values.minio -}}
{{- if $minio.enabled }}{{ ternary $minio.existingGatewaySecret $minio.existingOperatorSecret (eq .user "gateway") | default $made }}
{{- else if eq .user "gateway" }}{{ coalesce $external.gatewayExistingSecret $external.existingSecret $made }}
{{- else }}{{ coalesce $external.existingSecret $made }}
{{- end -}}
{{- end }}

{{/* Where the bucket is and who asks: (dict "root" $ "user" "gateway"). */}}
{{- define "tintype.storageEnvironment" -}}
{{- $secret := include "tintype.storageSecret" . -}}
- { name: TINTYPE_STORAGE_ENDPOINT, value: {{ include "tintype.storageEndpoint" .root | quote }} }
- { name: TINTYPE_STORAGE_REGION, value: {{ .root.Values.storage.region | quote }} }
- { name: TINTYPE_STORAGE_BUCKET, value: {{ .root.Values.storage.bucket | quote }} }
- { name: TINTYPE_STORAGE_ACCESS_KEY, valueFrom: { secretKeyRef: { name: {{ $secret }}, key: access-key } } }
- { name: TINTYPE_STORAGE_SECRET_KEY, valueFrom: { secretKeyRef: { name: {{ $secret }}, key: secret-key } } }
{{- end }}

{{/*
A password that is made once: what the cluster holds wins, so that an upgrade never changes it.
(dict "root" $ "secret" <name> "key" <key>), already base64.
*/}}
{{- define "tintype.keptPassword" -}}
{{- $existing := lookup "v1" "Secret" .root.Release.Namespace .secret -}}
{{- $data := (default dict $existing).data | default dict -}}
{{- get $data .key | default (randAlphaNum 40 | b64enc) -}}
{{- end }}

{{- define "tintype.minioRootSecret" -}}
{{ .Values.minio.existingRootSecret | default (printf "%s-minio-root" (include "tintype.fullname" .)) }}
{{- end }}
