import type { EgressPolicy } from '../egress/policy.ts'
import type { EgressSession } from '../egress/session.ts'
import type { NetworkPlan } from '../plan/network.ts'

/** Opens a capture's way out as far as the pool's rules and the client's wishes go: not at all for one that is offline. */
export function openExit(exit: Pick<EgressSession, 'arm'>, policy: EgressPolicy, { proxy, isOffline }: NetworkPlan): void {
  // A way out that was never opened refuses everything.
  if (isOffline) return
  exit.arm(proxy === undefined ? policy : withProxy(policy, proxy))
}

function withProxy(policy: EgressPolicy, proxy: NonNullable<NetworkPlan['proxy']>): EgressPolicy {
  const { parentProxy } = policy
  return { ...policy, parentProxy: { ...proxy, ...(parentProxy?.chosenBy === 'operator' ? { via: parentProxy } : {}) } }
}
