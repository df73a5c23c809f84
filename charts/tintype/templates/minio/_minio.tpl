{{/* Containers of MinIO, below `spec` of the pod. */}}
{{- define "tintype.store.minio" -}}
containers:
  - name: minio
    image: {{ include "tintype.image" (dict "root" $ "image" .Values.minio.image) | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args: [server, --address, ":9000", --certs-dir, /tmp/certs, /data]
    env:
      - { name: MINIO_ROOT_USER, valueFrom: { secretKeyRef: { name: {{ include "tintype.minioRootSecret" . }}, key: root-user } } }
      - { name: MINIO_ROOT_PASSWORD, valueFrom: { secretKeyRef: { name: {{ include "tintype.minioRootSecret" . }}, key: root-password } } }
      - { name: MINIO_REGION, value: {{ .Values.storage.region | quote }} }
      {{- range $variable, $value := .Files.Get "files/minio.yaml" | fromYaml }}
      - { name: {{ $variable }}, value: {{ $value | quote }} }
      {{- end }}
    ports:
      - { name: s3, containerPort: 9000 }
    startupProbe:
      httpGet: { path: /minio/health/live, port: s3 }
      periodSeconds: 1
      timeoutSeconds: 2
      failureThreshold: 120
    livenessProbe:
      httpGet: { path: /minio/health/live, port: s3 }
      periodSeconds: 20
      timeoutSeconds: 10
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /minio/health/ready, port: s3 }
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
{{- end }}
