import t from 'tap'
import { armEgress } from '../../../../capture-runner/src/capture/arm-egress.ts'
import type { EgressPolicy, ParentProxy } from '../../../../capture-runner/src/egress/policy.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../crds/src/addresses/address-rules.ts'

const policy: EgressPolicy = { rules: DEFAULT_EGRESS_RULES, maxBytes: 1 }
const proxy: ParentProxy = { url: 'http://proxy.example:3128', direct: [], chosenBy: 'user' }
const own: ParentProxy = { url: 'http://operator.example', direct: ['*.example'], chosenBy: 'operator' }

/** The policies that the session was armed with. */
const opened = (given: EgressPolicy, plan: Parameters<typeof armEgress>[2]): EgressPolicy[] => {
  const armed: EgressPolicy[] = []
  armEgress({ arm: (one) => void armed.push(one) }, given, plan)
  return armed
}

t.test('armEgress uses the pool’s rules', async (t) => {
  t.strictSame(opened(policy, {}), [policy])
})

t.test('armEgress never arms the session of an offline capture', async (t) => {
  t.strictSame(opened(policy, { isOffline: true, proxy }), [])
})

t.test('armEgress uses the client’s proxy, reached through the operator’s', async (t) => {
  t.strictSame(opened(policy, { proxy }), [{ ...policy, parentProxy: proxy }])
  t.strictSame(opened({ ...policy, parentProxy: own }, { proxy }), [{ ...policy, parentProxy: { ...proxy, via: own } }])
})
