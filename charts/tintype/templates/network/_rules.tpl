{{/* Peers of the release: (dict "root" $ "component" "minio"). */}}
{{- define "tintype.peer" -}}
podSelector:
  matchLabels:
    {{- include "tintype.selector" . | nindent 4 }}
{{- end }}

{{/* DNS on any address, because the cluster's resolver may be in kube-system, on the node, or outside. */}}
{{- define "tintype.egressDns" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end }}

{{- define "tintype.egressApiServer" -}}
- ports:
    {{- range .Values.networkPolicy.apiServer.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with .Values.networkPolicy.apiServer.cidrs }}
  to:
    {{- range . }}
    - { ipBlock: { cidr: {{ . | quote }} } }
    {{- end }}
  {{- end }}
{{- end }}

{{- define "tintype.egressStorage" -}}
- ports:
    - { protocol: TCP, port: {{ include "tintype.storagePort" . }} }
  {{- if .Values.minio.enabled }}
  to:
    - {{- include "tintype.peer" (dict "root" . "component" .Values.store) | nindent 6 }}
  {{- else if .Values.storage.external.cidrs }}
  to:
    {{- range .Values.storage.external.cidrs }}
    - { ipBlock: { cidr: {{ . | quote }} } }
    {{- end }}
  {{- end }}
{{- end }}

{{/* The collector of spans, on any address. */}}
{{- define "tintype.egressTracing" -}}
{{- with .Values.tracing.endpoint }}
{{- $endpoint := urlParse . }}
{{- $port := regexFind ":[0-9]+$" $endpoint.host | trimPrefix ":" }}
- ports:
    - { protocol: TCP, port: {{ default (ternary "443" "80" (eq $endpoint.scheme "https")) $port }} }
{{- end }}
{{- end }}

{{/*
Public addresses. Excludes the ranges that crds/src/addresses/address-rules.ts rejects (a unit test compares them) and IPv4 ranges that the values
deny: (dict "denied" <CIDRs>).
*/}}
{{- define "tintype.egressPublic" -}}
- ports:
    - { protocol: TCP, port: 80 }
    - { protocol: TCP, port: 443 }
    - { protocol: TCP, port: 1024, endPort: 65535 }
  to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 0.0.0.0/8
          - 10.0.0.0/8
          - 100.64.0.0/10
          - 127.0.0.0/8
          - 168.63.129.16/32
          - 169.254.0.0/16
          - 172.16.0.0/12
          - 192.0.0.0/24
          - 192.0.2.0/24
          - 192.88.99.0/24
          - 192.168.0.0/16
          - 198.18.0.0/15
          - 198.51.100.0/24
          - 203.0.113.0/24
          - 224.0.0.0/4
          - 240.0.0.0/4
          {{- range .denied }}
          {{- if not (contains ":" .) }}
          - {{ . | quote }}
          {{- end }}
          {{- end }}
    - ipBlock:
        cidr: 2000::/3
        except: ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]
{{- end }}

{{/* Private ranges that values allow: a list of CIDRs. */}}
{{- define "tintype.egressRanges" -}}
{{- with . }}
- to:
    {{- range . }}
    - { ipBlock: { cidr: {{ . | quote }} } }
    {{- end }}
{{- end }}
{{- end }}
