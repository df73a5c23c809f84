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
    message: a runner may patch the status of a Screenshot and nothing else
    reason: Forbidden
  - expression: >-
      variables.podName != '' && variables.podUid != '' && has(variables.before.runner)
      && variables.before.runner.pod == variables.podName && variables.before.runner.uid == variables.podUid
    message: this pod does not hold the claim of this Screenshot
    reason: Forbidden
  - expression: >-
      has(variables.before.phase) && variables.before.phase == 'Running'
      && has(variables.after.phase) && variables.after.phase in ['Completed', 'Failed']
    message: a runner may end a capture that runs, once
    reason: Forbidden
  - expression: >-
      variables.after.all(field, field in ['phase', 'result', 'conditions', 'completionTime']
      || (field in variables.before && variables.before[field] == variables.after[field]))
      && variables.before.all(field, field in variables.after)
    message: a runner may write phase, result, conditions and completionTime only
    reason: Forbidden
  - expression: >-
      variables.reportsStatus && object.metadata.?labels == oldObject.metadata.?labels
      && object.metadata.?annotations == oldObject.metadata.?annotations
      && object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences
      && object.metadata.?finalizers == oldObject.metadata.?finalizers && object.spec == oldObject.spec
    message: a runner may not change metadata or spec
    reason: Forbidden
  - expression: has(variables.after.completionTime) && has(variables.after.result)
    message: a report has a result and a completionTime
  - expression: >-
      has(variables.after.phase) && (variables.after.phase == 'Failed' ? has(variables.result.error)
      : has(variables.result.format) && has(variables.result.fileSizeBytes) && !has(variables.result.error))
    message: a completed capture has a format and a size, a failed one an error
  - expression: >-
      (!has(variables.result.fileSizeBytes) || variables.result.fileSizeBytes <= {{ .Values.capture.maxFileBytes | int64 }})
      && (!has(variables.result.width) || variables.result.width <= 1000000)
      && (!has(variables.result.height) || variables.result.height <= 1000000)
      && (!has(variables.result.artifacts) || variables.result.artifacts.all(artifact,
      artifact.fileSizeBytes <= {{ .Values.capture.maxFileBytes | int64 }}))
    message: the result is out of bounds
  - expression: >-
      variables.conditions.all(condition, condition.type in ['Succeeded', 'Finished'])
      && variables.conditions.exists(condition, condition.type == 'Finished' && condition.status == 'True')
      && variables.conditions.exists(condition, condition.type == 'Succeeded'
      && condition.status == (has(variables.after.phase) && variables.after.phase == 'Completed' ? 'True' : 'False'))
    message: the conditions must say Finished, and Succeeded as the phase does
{{- end }}

{{/* The format that operator/src/controllers/guard compares: operations and resources of each rule, then the trimmed expressions, one per line. */}}
{{- define "tintype.policyHash" -}}
{{- $policy := fromYaml . -}}
{{- $expressions := list -}}
{{- range $policy.matchConstraints.resourceRules -}}
{{- $expressions = append $expressions (printf "%s %s" (join "," .operations) (join "," .resources)) -}}
{{- end -}}
{{- range concat $policy.matchConditions $policy.variables $policy.validations -}}
{{- $expressions = append $expressions (trim .expression) -}}
{{- end -}}
{{- join "\n" $expressions | sha256sum -}}
{{- end }}
