{{/*
Who makes or changes an object for an account must be allowed to use that account: verb `use` on accounts/<name>. Fields that only the gateway
can have a reason to set are refused to everybody else: a sealed text or the hash of a key, copied from another object, would make the programs
of the release act for the wrong account. The gateway and the operator have checked by other means.
*/}}
{{- define "tintype.trustedSpecPolicy" -}}
failurePolicy: Fail
matchConstraints:
  namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ .Release.Namespace }} }
  resourceRules:
    - apiGroups: [tintype.dev]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [screenshots, webhooks, apikeys]
matchConditions:
  - name: is-not-a-program-of-the-release
    expression: >-
      !(request.userInfo.username in [{{ include "tintype.userName" (dict "root" . "account" "api-gateway") | squote }},
      {{ include "tintype.userName" (dict "root" . "account" "operator") | squote }}])
  # The cluster's garbage collector touches finalizers and owners only, and must not be hindered. Labels hold the hashes of keys, annotations ask
  # for deletions.
  - name: changes-what-an-account-owns
    expression: >-
      request.operation == 'CREATE' || object.spec != oldObject.spec || object.metadata.?labels != oldObject.metadata.?labels
      || object.metadata.?annotations != oldObject.metadata.?annotations
variables:
  - name: account
    expression: "has(object.spec.accountName) ? object.spec.accountName : 'default'"
  - name: previousAccount
    expression: "request.operation == 'UPDATE' && has(oldObject.spec.accountName) ? oldObject.spec.accountName : 'default'"
  - name: accounts
    expression: authorizer.group('tintype.dev').resource('accounts').namespace(request.namespace)
  - name: secrets
    expression: authorizer.group('').resource('secrets').namespace(request.namespace)
  - name: gatewayFields
    expression: >-
      ['sealedOptions', 'optionsObject', 'hiddenOptions', 'cacheAs', 'cachedFrom', 'reservation', 'signingSecrets', 'sealedLinkSecret'].filter(field, field in object.spec
      && !(request.operation == 'UPDATE' && field in oldObject.spec && object.spec[field] == oldObject.spec[field]))
  - name: hashLabels
    expression: >-
      ['tintype.dev/hash-1', 'tintype.dev/hash-2'].filter(label, object.metadata.?labels[?label].orValue('')
      != (request.operation == 'UPDATE' ? oldObject.metadata.?labels[?label].orValue('') : ''))
  - name: namedSecrets
    expression: >-
      (has(object.spec.privateOptionsSecretRef) ? [object.spec.privateOptionsSecretRef.name] : [])
      + (has(object.spec.existingSecret) ? [object.spec.existingSecret] : [])
validations:
  - expression: variables.accounts.name(variables.account).check('use').allowed()
    messageExpression: "'you may not use the account ' + variables.account + ': it takes the verb use on accounts/' + variables.account"
    reason: Forbidden
  - expression: request.operation == 'CREATE' || variables.accounts.name(variables.previousAccount).check('use').allowed()
    messageExpression: "'you may not use the account ' + variables.previousAccount + ': it takes the verb use on accounts/' + variables.previousAccount"
    reason: Forbidden
  - expression: variables.gatewayFields.size() == 0
    messageExpression: "variables.gatewayFields.join(', ') + ': set by the gateway only'"
    reason: Forbidden
  - expression: variables.hashLabels.size() == 0
    messageExpression: "variables.hashLabels.join(', ') + ': set by the gateway and the operator only; name an existingSecret instead'"
    reason: Forbidden
  # What one cannot read oneself one cannot have sent to a page, or made into a key, either.
  - expression: variables.namedSecrets.all(name, variables.secrets.name(name).check('get').allowed())
    messageExpression: "'you may not read the Secret ' + variables.namedSecrets.join(', ')"
    reason: Forbidden
{{- end }}
