import t from 'tap'
import { accountDefinition } from '../../../../crds/src/kinds/account.ts'
import { definitions } from '../../../../crds/src/kinds/all.ts'
import { apiKeyDefinition } from '../../../../crds/src/kinds/api-key.ts'
import { webhookDefinition } from '../../../../crds/src/kinds/webhook.ts'
import { findNameProblem, nameRules } from '../../../../crds/src/schema/object-names.ts'

t.test('findNameProblem names the limit, and what to do', async (t) => {
  t.equal(findNameProblem(accountDefinition, 'a'.repeat(63)), undefined)
  t.equal(findNameProblem(accountDefinition, 'a'.repeat(64)), 'the name of an Account must be at most 63 characters: use a shorter name')
  t.match(findNameProblem(accountDefinition, 'a.b'), /^the name of an Account must not contain dots: use lower-case/)
  t.equal(findNameProblem(webhookDefinition, `${'w'.repeat(236)}.w`), undefined)
  t.match(findNameProblem(webhookDefinition, 'w'.repeat(239)), /^the name of a Webhook must be at most 238 characters/)
  t.equal(findNameProblem(apiKeyDefinition, 'k'.repeat(253)), undefined)
})

t.test('every rule about a name applies to the creation only, and its message has the limit', async (t) => {
  for (const definition of definitions) {
    for (const { rule, message, optionalOldSelf } of nameRules(definition)) {
      t.match(rule, /^oldSelf\.hasValue\(\) \|\| /)
      t.equal(optionalOldSelf, true)
      t.match(message, new RegExp(`${definition.names?.maxLength} characters|dots`))
    }
  }
})
