import t from 'tap'
import { openExit } from '../../../../capture-runner/src/capture/exit-policy.ts'
import type { EgressPolicy, ParentProxy } from '../../../../capture-runner/src/egress/policy.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../crds/src/addresses/address-rules.ts'

const policy: EgressPolicy = { rules: DEFAULT_EGRESS_RULES, maxBytes: 1 }
const proxy: ParentProxy = { url: 'http://proxy.example:3128', direct: [], chosenBy: 'user' }
const own: ParentProxy = { url: 'http://operator.example', direct: ['*.example'], chosenBy: 'operator' }

/** What the exit was armed with. */
const opened = (given: EgressPolicy, plan: Parameters<typeof openExit>[2]): EgressPolicy[] => {
  const armed: EgressPolicy[] = []
  openExit({ arm: (one) => void armed.push(one) }, given, plan)
  return armed
}

t.test('openExit opens by the rules of the pool', async (t) => {
  t.strictSame(opened(policy, {}), [policy])
})

t.test('openExit never opens for a capture that is offline', async (t) => {
  t.strictSame(opened(policy, { isOffline: true, proxy }), [])
})

t.test('openExit leads through the client’s proxy, and through the operator’s to it', async (t) => {
  t.strictSame(opened(policy, { proxy }), [{ ...policy, parentProxy: proxy }])
  t.strictSame(opened({ ...policy, parentProxy: own }, { proxy }), [{ ...policy, parentProxy: { ...proxy, via: own } }])
})
