import t from 'tap'
import { decide } from '../../../../../operator/src/controllers/account/decide.ts'
import { anAccount, at } from '../../../../support/fakes/builders.ts'

t.test('decide reports whether the requests of an account are accepted', async (t) => {
  t.match(decide(anAccount(), at(0)), [{ type: 'Ready', status: 'True', reason: 'Active' }])
  t.match(decide(anAccount({ spec: { suspended: true } }), at(0)), [{ type: 'Ready', status: 'False', reason: 'Suspended' }])
})

t.test('decide writes nothing when the condition is up to date', async (t) => {
  const account = anAccount()
  const conditions = decide(account, at(0))!
  t.equal(decide({ ...account, status: { conditions } }, at(60)), undefined)
  const suspended = { ...account, spec: { ...account.spec, suspended: true }, status: { conditions } }
  t.match(decide(suspended, at(60)), [{ lastTransitionTime: at(60).toISOString() }])
})

t.test('decide observes generation 0 of an account without a generation', async (t) => {
  const { generation: _, ...metadata } = anAccount().metadata
  t.match(decide({ ...anAccount(), metadata }, at(0)), [{ observedGeneration: 0 }])
})
