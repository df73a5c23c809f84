{{/*
Restricts the token of a runner: it may write the result of the capture that its own pod has claimed, once.
A runner cannot forge pod name and uid in a projected token, because the API server sets them. Every expression checks all its preconditions,
because Kubernetes evaluates all expressions for each request, regardless of the other results.
*/}}
{{- define "tintype.runnerStatusPolicy" -}}
failurePolicy: Fail
matchConstraints:
  resourceRules:
    - apiGroups: [tintype.dev]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE, DELETE, CONNECT]
      resources: ["*/*"]
matchConditions:
  - name: is-a-runner
    expression: request.userInfo.username == {{ include "tintype.userName" (dict "root" . "account" "capture-runner") | squote }}
variables:
  - name: reportsStatus
    expression: >-
      request.operation == 'UPDATE' && request.resource.resource == 'screenshots' && has(request.subResource) && request.subResource == 'status'
  - name: podName
    expression: >-
      has(request.userInfo.extra) && 'authentication.kubernetes.io/pod-name' in request.userInfo.extra
      ? request.userInfo.extra['authentication.kubernetes.io/pod-name'][0] : ''
  - name: podUid
    expression: >-
      has(request.userInfo.extra) && 'authentication.kubernetes.io/pod-uid' in request.userInfo.extra
      ? request.userInfo.extra['authentication.kubernetes.io/pod-uid'][0] : ''
  - name: before
    expression: "variables.reportsStatus && has(oldObject.status) ? oldObject.status : {}"
  - name: after
    expression: "variables.reportsStatus && has(object.status) ? object.status : {}"
  - name: result
    expression: "has(variables.after.result) ? variables.after.result : {}"
  - name: conditions
    expression: "has(variables.after.conditions) ? variables.after.conditions : []"
validations:
  - expression: variables.reportsStatus
    message: a runner may only update the status of a Screenshot. Use another service account for this request.
    reason: Forbidden
  - expression: >-
      variables.podName != '' && variables.podUid != '' && has(variables.before.runner)
      && variables.before.runner.pod == variables.podName && variables.before.runner.uid == variables.podUid
    message: this pod does not hold the claim of this Screenshot. Only the pod in status.runner may report a result.
    reason: Forbidden
  - expression: >-
      has(variables.before.phase) && variables.before.phase == 'Running'
      && has(variables.after.phase) && variables.after.phase in ['Completed', 'Failed']
    message: "status.phase: a runner may only change Running to Completed or Failed, once. Send no further report."
    reason: Forbidden
  - expression: >-
      variables.after.all(field, field in ['phase', 'result', 'conditions', 'completionTime']
      || (field in variables.before && variables.before[field] == variables.after[field]))
      && variables.before.all(field, field in variables.after)
    message: a runner may only change status.phase, status.result, status.conditions and status.completionTime. Remove other fields from the report.
    reason: Forbidden
  - expression: >-
      variables.reportsStatus && object.metadata.?labels == oldObject.metadata.?labels
      && object.metadata.?annotations == oldObject.metadata.?annotations
      && object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences
      && object.metadata.?finalizers == oldObject.metadata.?finalizers && object.spec == oldObject.spec
    message: a runner must not change metadata or spec. Remove both from the report.
    reason: Forbidden
  - expression: has(variables.after.completionTime) && has(variables.after.result)
    message: a report needs status.result and status.completionTime. Add the missing field.
  - expression: >-
      has(variables.after.phase) && (variables.after.phase == 'Failed' ? has(variables.result.error)
      : has(variables.result.format) && has(variables.result.fileSizeBytes) && !has(variables.result.error))
    message: "status.result: phase Completed needs format and fileSizeBytes, and phase Failed needs error. Add the missing field."
  - expression: >-
      (!has(variables.result.fileSizeBytes) || variables.result.fileSizeBytes <= {{ .Values.capture.maxFileBytes | int64 }})
      && (!has(variables.result.width) || variables.result.width <= 1000000)
      && (!has(variables.result.height) || variables.result.height <= 1000000)
      && (!has(variables.result.artifacts) || variables.result.artifacts.all(artifact,
      artifact.fileSizeBytes <= {{ .Values.capture.maxFileBytes | int64 }}))
    message: "status.result: a file may have at most {{ .Values.capture.maxFileBytes | int64 }} bytes, and a side at most 1000000 pixels. Report a smaller result."
  - expression: >-
      variables.conditions.all(condition, condition.type in ['Succeeded', 'Finished'])
      && variables.conditions.exists(condition, condition.type == 'Finished' && condition.status == 'True')
      && variables.conditions.exists(condition, condition.type == 'Succeeded'
      && condition.status == (has(variables.after.phase) && variables.after.phase == 'Completed' ? 'True' : 'False'))
    message: "status.conditions: Finished must be True, Succeeded must be True for phase Completed and False for phase Failed. Remove other conditions."
{{- end }}

{{/* The format that operator/src/controllers/guard compares: labels of the namespaces, operations and resources of each rule, then the trimmed expressions, one per line. */}}
{{- define "tintype.policyHash" -}}
{{- $policy := fromYaml . -}}
{{- $expressions := list (dig "namespaceSelector" "matchLabels" dict $policy.matchConstraints | toJson) -}}
{{- range $policy.matchConstraints.resourceRules -}}
{{- $expressions = append $expressions (printf "%s %s" (join "," .operations) (join "," .resources)) -}}
{{- end -}}
{{- range concat $policy.matchConditions $policy.variables $policy.validations -}}
{{- $expressions = append $expressions (trim .expression) -}}
{{- end -}}
{{- join "\n" $expressions | sha256sum -}}
{{- end }}
