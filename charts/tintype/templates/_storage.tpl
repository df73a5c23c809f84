{{/* Exactly one store must be configured. */}}
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
{{- if eq (toString .pathStyle) "false" }}
{{- range $url := list .endpoint $.Values.storage.publicUrl }}
{{- $host := (urlParse $url).hostname }}
{{- if or (contains ":" $host) (regexMatch "^[0-9.]+$" $host) }}
{{- fail (printf "storage.external.pathStyle is false, but the IP address %s has no subdomain for the bucket. Set it to true, or use a host name in %s" $host $url) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Name of the objects of the bundled store. Each store has a volume of its own. */}}
{{- define "tintype.storeName" -}}
{{ include "tintype.fullname" . }}-{{ .Values.store }}
{{- end }}

{{- define "tintype.storageEndpoint" -}}
{{- include "tintype.storageCheck" . -}}
{{- if .Values.minio.enabled }}http://{{ include "tintype.storeName" . }}:9000{{ else }}{{ .Values.storage.external.endpoint }}{{ end -}}
{{- end }}

{{- define "tintype.storagePort" -}}
{{- $endpoint := include "tintype.storageEndpoint" . | urlParse -}}
{{- $port := regexFind ":[0-9]+$" $endpoint.host | trimPrefix ":" -}}
{{- default (ternary "443" "80" (eq $endpoint.scheme "https")) $port -}}
{{- end }}

{{/* Identities of the bundled store. */}}
{{- define "tintype.storageUsers" -}}
operator gateway uploads links
{{- end }}

{{/* Secret of one identity's access key, empty for an identity that an external store does not have: (dict "root" $ "user" "gateway"). */}}
{{- define "tintype.storageSecret" -}}
{{- $made := printf "%s-storage-%s" (include "tintype.fullname" .root) .user -}}
{{- $external := .root.Values.storage.external -}}
{{- $minio := .root.Values.minio -}}
{{- if $minio.enabled }}{{ get $minio (printf "existing%sSecret" (title .user)) | default $made }}
{{- else if eq .user "uploads" }}{{ $external.uploadsExistingSecret }}
{{- else if eq .user "links" }}{{ $external.linksExistingSecret }}
{{- else if eq .user "gateway" }}{{ coalesce $external.gatewayExistingSecret $external.existingSecret $made }}
{{- else }}{{ coalesce $external.existingSecret $made }}
{{- end -}}
{{- end }}

{{/* ConfigMap with the authority of an external store's certificate. Empty: the system's authorities. */}}
{{- define "tintype.storageCa" -}}
{{- if not .Values.minio.enabled }}{{ .Values.storage.external.caConfigMap }}{{ end -}}
{{- end }}

{{/*
The keys of an external store as files, which change with their Secrets while a program runs. Keys of the bundled store change with an upgrade, which
restarts the pods after the store knows them. (dict "root" $ "user" "gateway" "signer" "links")
*/}}
{{- define "tintype.storageKeysVolume" -}}
{{- if not .root.Values.minio.enabled }}
- name: storage-keys
  projected:
    defaultMode: 288
    sources:
      - secret:
          name: {{ include "tintype.storageSecret" . }}
          items: [{ key: access-key, path: access-key }, { key: secret-key, path: secret-key }]
      {{- with include "tintype.storageSecret" (dict "root" .root "user" .signer) }}
      - secret:
          name: {{ . }}
          items: [{ key: access-key, path: signer-access-key }, { key: secret-key, path: signer-secret-key }]
      {{- end }}
{{- end }}
{{- end }}

{{/* Environment for the bucket, the identity of requests, and the identity that presigns URLs: (dict "root" $ "user" "gateway" "signer" "links"). */}}
{{- define "tintype.storageEnvironment" -}}
{{- $secret := include "tintype.storageSecret" . -}}
- { name: TINTYPE_STORAGE_ENDPOINT, value: {{ include "tintype.storageEndpoint" .root | quote }} }
- { name: TINTYPE_STORAGE_REGION, value: {{ .root.Values.storage.region | quote }} }
- { name: TINTYPE_STORAGE_BUCKET, value: {{ .root.Values.storage.bucket | quote }} }
{{- if and (not .root.Values.minio.enabled) (eq (toString .root.Values.storage.external.pathStyle) "false") }}
- { name: TINTYPE_STORAGE_PATH_STYLE, value: "false" }
{{- end }}
- { name: TINTYPE_STORAGE_ACCESS_KEY, valueFrom: { secretKeyRef: { name: {{ $secret }}, key: access-key } } }
- { name: TINTYPE_STORAGE_SECRET_KEY, valueFrom: { secretKeyRef: { name: {{ $secret }}, key: secret-key } } }
{{- if not .root.Values.minio.enabled }}
- { name: TINTYPE_STORAGE_KEYS_DIRECTORY, value: /etc/tintype/storage-keys }
{{- end }}
{{- if include "tintype.storageCa" .root }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/tintype/storage-ca/ca.crt }
{{- end }}
{{- with include "tintype.storageSecret" (dict "root" .root "user" .signer) }}
- { name: TINTYPE_STORAGE_{{ upper $.signer }}_ACCESS_KEY, valueFrom: { secretKeyRef: { name: {{ . }}, key: access-key } } }
- { name: TINTYPE_STORAGE_{{ upper $.signer }}_SECRET_KEY, valueFrom: { secretKeyRef: { name: {{ . }}, key: secret-key } } }
{{- end }}
{{- end }}

{{/*
The key of an identity of the bundled store, as YAML in base64: the existing one of the cluster, or a new one. Generated once per
rendering, because the Secret and the pods' annotation must match. (dict "root" $ "user" "gateway")
*/}}
{{- define "tintype.storageKey" -}}
{{- $made := get .root.Values "madeStorageKeys" | default dict -}}
{{- if not (hasKey $made .user) -}}
{{- $secret := printf "%s-storage-%s" (include "tintype.fullname" .root) .user -}}
{{- $data := (lookup "v1" "Secret" .root.Release.Namespace $secret | default dict).data | default dict -}}
{{- if not (and (get $data "access-key") (get $data "secret-key")) -}}
{{- $data = dict "access-key" (randAlphaNum 20 | b64enc) "secret-key" (randAlphaNum 40 | b64enc) -}}
{{- end -}}
{{- $_ := set $made .user (pick $data "access-key" "secret-key") -}}
{{- $_ := set .root.Values "madeStorageKeys" $made -}}
{{- end -}}
{{- get $made .user | toYaml -}}
{{- end }}

{{/* Changes with the keys, so that pods restart with a new key: (dict "root" $ "users" (list "gateway" "links")). */}}
{{- define "tintype.storageChecksum" -}}
{{- $root := .root -}}
{{- $texts := list -}}
{{- range $user := .users -}}
{{- $secret := include "tintype.storageSecret" (dict "root" $root "user" $user) -}}
{{- $own := printf "%s-storage-%s" (include "tintype.fullname" $root) $user -}}
{{- if and $root.Values.minio.enabled (eq $secret $own) -}}
{{- $texts = append $texts (include "tintype.storageKey" (dict "root" $root "user" $user)) -}}
{{- else if $secret -}}
{{- $metadata := (lookup "v1" "Secret" $root.Release.Namespace $secret | default dict).metadata | default dict -}}
{{- $texts = append $texts (printf "%s %s" $secret (get $metadata "resourceVersion")) -}}
{{- end -}}
{{- end -}}
{{- join "\n" $texts | sha256sum -}}
{{- end }}

{{/*
The root user of the bundled store, as YAML in base64: the existing one of the cluster, or a new one. Generated once per
rendering, because the Secret and the pod's annotation must match.
*/}}
{{- define "tintype.minioRootKey" -}}
{{- if not (hasKey .Values "madeRootKey") -}}
{{- $secret := printf "%s-root" (include "tintype.storeName" .) -}}
{{- $found := (lookup "v1" "Secret" .Release.Namespace $secret | default dict).data | default dict -}}
{{- $user := get $found "root-user" | default (randAlphaNum 20 | b64enc) -}}
{{- $password := get $found "root-password" | default (randAlphaNum 40 | b64enc) -}}
{{- $_ := set .Values "madeRootKey" (dict "root-user" $user "root-password" $password) -}}
{{- end -}}
{{- .Values.madeRootKey | toYaml -}}
{{- end }}

{{- define "tintype.minioRootSecret" -}}
{{ .Values.minio.existingRootSecret | default (printf "%s-root" (include "tintype.storeName" .)) }}
{{- end }}
