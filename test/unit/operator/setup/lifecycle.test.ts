import t from 'tap'
import { withOwnRules } from '../../../../operator/src/setup/lifecycle.ts'

t.test('withOwnRules replaces our rules and leaves those of others', async (t) => {
  const theirs = { ID: 'theirs', Status: 'Enabled', Filter: { Prefix: 'reports/' } }
  const first = withOwnRules([theirs] as never, 400)
  const second = withOwnRules(first.Rule, 500)
  t.strictSame(second.Rule[0], theirs)
  t.equal(second.Rule.length, first.Rule.length)
  t.match(
    second.Rule.find(({ ID }) => ID === 'tintype-users'),
    { Filter: { Prefix: 'users/' }, Expiration: { Days: 501 } },
  )
})
