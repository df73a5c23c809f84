import t from 'tap'
import { DEFAULT_PLANS, longestRetention } from '../../../../../crds/src/usage/plans.ts'
import { expiryDays } from '../../../../../operator/src/stores/expiry-days.ts'
import { withOwnRules } from '../../../../../operator/src/stores/minio/lifecycle.ts'

t.test('withOwnRules replaces rules of Tintype and keeps others', async (t) => {
  const theirs = { ID: 'theirs', Status: 'Enabled', Filter: { Prefix: 'reports/' } }
  const first = withOwnRules([theirs] as never, expiryDays({ fileDays: 30, recordDays: 400 }))
  const second = withOwnRules(first.Rule, expiryDays({ fileDays: 90, recordDays: 500 }))
  t.strictSame(second.Rule[0], theirs)
  t.equal(second.Rule.length, first.Rule.length)
  t.match(
    second.Rule.find(({ ID }) => ID === 'tintype-users'),
    { Filter: { Prefix: 'users/' }, Expiration: { Days: 91 } },
  )
})

t.test('the store keeps files for the longest retention of all plans, not as long as records', async (t) => {
  const plans = { ...DEFAULT_PLANS, scale: { ...DEFAULT_PLANS.scale, retentionDays: 3_650 } }
  const { Rule: rules } = withOwnRules([], expiryDays({ fileDays: longestRetention(plans), recordDays: 400 }))
  t.match(
    rules.find(({ ID }) => ID === 'tintype-users'),
    { Expiration: { Days: 3_651 } },
  )
})
