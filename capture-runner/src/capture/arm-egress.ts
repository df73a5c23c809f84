import type { EgressPolicy } from '../egress/policy.ts'
import type { EgressSession } from '../egress/session.ts'
import type { NetworkPlan } from '../plan/network.ts'

/** Arms a capture's egress session with the pool's rules and the client's proxy. */
export function armEgress(session: Pick<EgressSession, 'arm'>, policy: EgressPolicy, { proxy, isOffline }: NetworkPlan): void {
  // A session that was never armed refuses everything.
  if (isOffline) return
  session.arm(proxy === undefined ? policy : withProxy(policy, proxy))
}

function withProxy(policy: EgressPolicy, proxy: NonNullable<NetworkPlan['proxy']>): EgressPolicy {
  const { parentProxy } = policy
  return { ...policy, parentProxy: { ...proxy, ...(parentProxy?.chosenBy === 'operator' ? { via: parentProxy } : {}) } }
}
