{{/* Containers of versitygw, below `spec` of the pod. */}}
{{- define "tintype.store.versitygw" -}}
initContainers:
  - name: directories
    image: {{ include "tintype.image" (dict "root" $ "image" .Values.operator.image) | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [mkdir, -p, /data/files, /data/users]
    resources:
      {{- include "tintype.smallResources" (dict "values" $.Values.minio "requests" (dict "cpu" "10m" "memory" "16Mi" "ephemeral-storage" "16Mi") "limits" (dict "memory" "64Mi" "ephemeral-storage" "16Mi")) | nindent 6 }}
    securityContext:
      {{- include "tintype.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - { name: data, mountPath: /data }
containers:
  - name: versitygw
    image: {{ include "tintype.image" (dict "root" $ "image" .Values.versitygw.image) | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    # The users are on the volume, beside the files of buckets.
    args: [--port, ":9000", --iam-dir, /data/users, --health, /health, --keep-alive, --quiet, posix, /data/files]
    env:
      - { name: ROOT_ACCESS_KEY, valueFrom: { secretKeyRef: { name: {{ include "tintype.minioRootSecret" . }}, key: root-user } } }
      - { name: ROOT_SECRET_KEY, valueFrom: { secretKeyRef: { name: {{ include "tintype.minioRootSecret" . }}, key: root-password } } }
      - { name: VGW_REGION, value: {{ .Values.storage.region | quote }} }
    ports:
      - { name: s3, containerPort: 9000 }
    startupProbe:
      httpGet: { path: /health, port: s3 }
      periodSeconds: 1
      timeoutSeconds: 2
      failureThreshold: 120
    livenessProbe:
      httpGet: { path: /health, port: s3 }
      periodSeconds: 20
      timeoutSeconds: 10
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /health, port: s3 }
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: 2
    resources:
      {{- toYaml .Values.minio.resources | nindent 6 }}
    securityContext:
      {{- include "tintype.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - { name: data, mountPath: /data }
      - { name: tmp, mountPath: /tmp }
  # versitygw has no lifecycle rules. This deletes expired files from its volume.
  - name: expiry
    image: {{ include "tintype.image" (dict "root" $ "image" .Values.operator.image) | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args: [expire-files, /data/files]
    env:
      - { name: TINTYPE_STORAGE_KIND, value: versitygw }
      - { name: TINTYPE_STORAGE_BUCKET, value: {{ .Values.storage.bucket | quote }} }
      - { name: TINTYPE_RETENTION_RECORD_DAYS, value: {{ .Values.retention.recordDays | int64 | quote }} }
      - { name: TINTYPE_PLANS, value: {{ .Values.plans | toJson | quote }} }
    resources:
      {{- include "tintype.smallResources" (dict "values" $.Values.minio "requests" (dict "cpu" "10m" "memory" "64Mi" "ephemeral-storage" "16Mi") "limits" (dict "memory" "256Mi" "ephemeral-storage" "64Mi")) | nindent 6 }}
    securityContext:
      {{- include "tintype.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - { name: data, mountPath: /data }
{{- end }}
