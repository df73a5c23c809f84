{{/*
A user who creates, changes or deletes an object of an account needs the verb `use` on accounts/<name>. Only the gateway may set certain fields: with
a sealed text or the hash of a key that was copied from another object, the programs of the release would act for the wrong account. The gateway and
the operator are exempt, because they check access themselves. The garbage collector and the namespace controller are exempt, because they delete
objects and remove finalizers after the owner or namespace is gone. A controller manager without service account credentials uses its own name.
On DELETE `object` is null, in matchConditions too: read oldObject.
*/}}
{{- define "tintype.trustedSpecPolicy" -}}
failurePolicy: Fail
matchConstraints:
  namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: {{ .Release.Namespace }} }
  resourceRules:
    - apiGroups: [tintype.dev]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE, DELETE]
      resources: [screenshots, screenshotschedules, webhooks, apikeys]
matchConditions:
  - name: is-not-a-program-of-the-release-or-cluster
    expression: >-
      !(request.userInfo.username in [{{ include "tintype.userName" (dict "root" . "account" "api-gateway") | squote }},
      {{ include "tintype.userName" (dict "root" . "account" "operator") | squote }},
      'system:serviceaccount:kube-system:generic-garbage-collector', 'system:serviceaccount:kube-system:namespace-controller',
      'system:kube-controller-manager'])
  # Labels contain hashes of keys, annotations request deletions, owners and finalizers decide when an object is deleted, and managed fields what an apply removes.
  - name: changes-what-an-account-owns
    expression: >-
      request.operation != 'UPDATE' || object.spec != oldObject.spec || object.metadata.?labels != oldObject.metadata.?labels
      || object.metadata.?annotations != oldObject.metadata.?annotations || object.metadata.?finalizers != oldObject.metadata.?finalizers
      || object.metadata.?ownerReferences != oldObject.metadata.?ownerReferences
      || object.metadata.?managedFields != oldObject.metadata.?managedFields
variables:
  - name: subject
    expression: "request.operation == 'DELETE' ? oldObject : object"
  - name: account
    expression: "has(variables.subject.spec.accountName) ? variables.subject.spec.accountName : 'default'"
  - name: previousAccount
    expression: "request.operation == 'UPDATE' && has(oldObject.spec.accountName) ? oldObject.spec.accountName : 'default'"
  - name: accounts
    expression: authorizer.group('tintype.dev').resource('accounts').namespace(request.namespace)
  - name: secrets
    expression: authorizer.group('').resource('secrets').namespace(request.namespace)
  # A schedule has the fields of the Screenshots that it creates in its template.
  - name: source
    expression: "request.operation == 'DELETE' ? oldObject.spec : has(object.spec.template) ? object.spec.template : object.spec"
  - name: oldSource
    expression: "request.operation == 'CREATE' ? object.spec : has(oldObject.spec.template) ? oldObject.spec.template : oldObject.spec"
  # Who has the verb use may set the capture policy of an ApiKey. What objects keep of it can be removed, as another object would have none.
  - name: gatewayFields
    expression: >-
      request.operation == 'DELETE' ? [] :
      ['sealedOptions', 'optionsObject', 'hiddenOptions', 'cacheAs', 'cachedFrom', 'baseline', 'reservation', 'signingSecrets', 'scheduleRef', 'capturePolicy'].filter(field,
      field in variables.source && !(field == 'capturePolicy' && request.resource.resource == 'apikeys') && !(request.operation == 'UPDATE' && field in variables.oldSource && variables.source[field] == variables.oldSource[field]))
  - name: hashLabels
    expression: >-
      request.operation == 'DELETE' ? [] :
      ['tintype.dev/hash-1', 'tintype.dev/hash-2'].filter(label, object.metadata.?labels[?label].orValue('')
      != (request.operation == 'UPDATE' ? oldObject.metadata.?labels[?label].orValue('') : ''))
  - name: namedSecrets
    expression: >-
      request.operation == 'DELETE' ? [] :
      (has(variables.source.privateOptionsSecretRef) ? [variables.source.privateOptionsSecretRef.name] : [])
      + (has(object.spec.existingSecret) ? [object.spec.existingSecret] : [])
  - name: keptOptions
    expression: "request.operation != 'UPDATE' ? [] : ['sealedOptions', 'optionsObject'].filter(field, field in variables.source)"
  # What decides who receives private options: with ignoreHttpsErrors, anybody between runner and page. An option that is removed sends them nowhere.
  - name: newReceivers
    expression: >-
      variables.keptOptions.size() == 0 ? [] : (variables.source.url != variables.oldSource.url ? ['url'] : [])
      + ['htmlBaseUrl', 'proxy', 'storageEndpoint', 'headersScope', 'ignoreHttpsErrors'].filter(option,
      !(variables.source.?options[?option].orValue('') in [dyn(''), dyn('same_origin'), dyn(false), dyn(variables.oldSource.?options[?option].orValue(''))]))
  # Code in the page can put private options into the picture. Without the page's policy, that can be code of others.
  - name: newCode
    expression: >-
      variables.keptOptions.size() == 0 ? [] : ['scripts', 'scriptUrls', 'initScript', 'waitForFunction', 'html', 'markdown', 'bypassCsp'].filter(option,
      !(variables.source.?options[?option].orValue('') in [dyn(''), dyn(false), dyn(variables.oldSource.?options[?option].orValue(''))]))
  - name: isScreenshot
    expression: request.resource.resource == 'screenshots'
  - name: newFinalizers
    expression: >-
      request.operation == 'DELETE' ? [] :
      object.metadata.?finalizers.orValue([]).filter(finalizer, !(finalizer in ['foregroundDeletion', 'orphan'])
      && !(request.operation == 'UPDATE' && finalizer in oldObject.metadata.?finalizers.orValue([])))
validations:
  - expression: variables.accounts.name(variables.account).check('use').allowed()
    messageExpression: "'not allowed to use the account ' + variables.account + '. Ask for the verb use on accounts/' + variables.account"
    reason: Forbidden
  - expression: request.operation != 'UPDATE' || variables.accounts.name(variables.previousAccount).check('use').allowed()
    messageExpression: "'not allowed to use the account ' + variables.previousAccount + '. Ask for the verb use on accounts/' + variables.previousAccount"
    reason: Forbidden
  - expression: variables.gatewayFields.size() == 0
    messageExpression: "'only the gateway may set ' + variables.gatewayFields.join(', ') + '. Remove it, or use the REST API.'"
    reason: Forbidden
  - expression: variables.hashLabels.size() == 0
    messageExpression: "'only the gateway and the operator may set ' + variables.hashLabels.join(', ') + '. Remove it, and set spec.existingSecret instead.'"
    reason: Forbidden
  # This scope covers all accounts, so only a user of all accounts may grant it, or change a key that has it.
  - expression: request.operation == 'DELETE' || !('admin:read' in object.spec.?scopes.orValue([])) || variables.accounts.check('use').allowed()
    message: "spec.scopes: admin:read covers all accounts. Ask for the verb use on all accounts, or remove the scope."
    reason: Forbidden
  # A user must not use a Secret, for a page or as a key, that the user cannot read.
  - expression: variables.namedSecrets.all(name, variables.secrets.name(name).check('get').allowed())
    messageExpression: "'not allowed to read the Secret ' + variables.namedSecrets.join(', ') + '. Ask for the verb get on it, or name another Secret.'"
    reason: Forbidden
  # Private options are for the URL, the proxy and the store that their sender named.
  - expression: variables.newReceivers.size() == 0
    messageExpression: "'template: the hidden options are for the present ' + variables.newReceivers.join(', ') + '. Change it with PATCH in the REST API, or remove '
      + variables.keptOptions.join(', ') + ' and hiddenOptions too.'"
    reason: Forbidden
  - expression: variables.newCode.size() == 0
    messageExpression: "'template: ' + variables.newCode.join(', ') + ' could show the hidden options. Change it with PATCH in the REST API, or remove '
      + variables.keptOptions.join(', ') + ' and hiddenOptions too.'"
    reason: Forbidden
  # A name of this form contains a time. A time in the future would be the first in every list and never expire.
  - expression: request.operation != 'CREATE' || !variables.isScreenshot || !object.metadata.name.matches('^scr-[0-7][0-9a-hjkmnp-tv-z]{25}$')
    message: "metadata.name: only the gateway may create names of scr- and 26 characters, because they contain a time. Choose another name. The status contains the id."
    reason: Forbidden
  # The secret of links follows from such a name. Its key may have been another account's, whose holders still know the secret.
  - expression: >-
      request.operation != 'CREATE' || request.resource.resource != 'apikeys'
      || !object.metadata.name.matches('^key-[0-7][0-9a-hjkmnp-tv-z]{25}$') || variables.accounts.check('use').allowed()
    message: "metadata.name: with a name of key- and 26 characters, links of a deleted key would work again. Choose another name, or ask for the verb use on all accounts."
    reason: Forbidden
  # With a finalizer, deleted objects would stay in the Kubernetes API forever. The garbage collector removes the two allowed ones.
  - expression: variables.newFinalizers.size() == 0
    messageExpression: "'metadata.finalizers: only foregroundDeletion and orphan are allowed, because others keep a deleted object forever. Remove ' + variables.newFinalizers.join(', ')"
    reason: Forbidden
{{- end }}
