{{/*
Only the programs of the release write the status of these kinds, because they trust what it says: a status names files in the bucket, results of
other records, and the pod that may report. The conditions let claims and reports pass first. The policy runner-status restricts runners. The operator owns
every field except the two of the gateway. A status can refer to objects of every account, so a repair by a person needs the verb `repair` on all of them.
*/}}
{{- define "tintype.trustedStatusPolicy" -}}
{{- $runner := include "tintype.userName" (dict "root" . "account" "capture-runner") | squote -}}
{{- $operator := include "tintype.userName" (dict "root" . "account" "operator") | squote -}}
{{- $gateway := include "tintype.userName" (dict "root" . "account" "api-gateway") | squote -}}
failurePolicy: Fail
matchConstraints:
  namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ .Release.Namespace }} }
  resourceRules:
    - apiGroups: [tintype.dev]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [screenshots/status, screenshotschedules/status, webhooks/status, apikeys/status]
matchConditions:
  - name: is-not-a-claim-or-report
    expression: >-
      request.userInfo.username != {{ $runner }}
      && (request.userInfo.username != {{ $operator }} || request.resource.resource == 'apikeys')
variables:
  - name: isProgram
    expression: request.userInfo.username in [{{ $operator }}, {{ $gateway }}]
  # The operator gets here with apikeys only.
  - name: ownFields
    expression: >-
      request.userInfo.username == {{ $operator }} ? ['conditions', 'secretText'] :
      request.resource.resource == 'apikeys' ? ['lastUsedTime', 'sessionsNotBefore'] : []
  - name: before
    expression: "has(oldObject.status) ? oldObject.status : {}"
  - name: after
    expression: "has(object.status) ? object.status : {}"
validations:
  - expression: >-
      variables.isProgram
      || authorizer.group('tintype.dev').resource('accounts').namespace(request.namespace).check('repair').allowed()
    message: "status: only the programs of the release may write it. To repair it, ask for the verb repair on all accounts."
    reason: Forbidden
  - expression: >-
      !variables.isProgram
      || (variables.after.all(field, field in variables.ownFields
      || (field in variables.before && variables.before[field] == variables.after[field]))
      && variables.before.all(field, field in variables.ownFields || field in variables.after))
    messageExpression: "'status: this program may change only [' + variables.ownFields.join(', ') + '] of ' + request.resource.resource + '. Remove other fields.'"
    reason: Forbidden
{{- end }}
