import { keyOf } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { ReflectorEvent } from '@tintype/crds/client/reflector'
import { MAX_DELIVERIES } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'

// Limit of webhooks that receive one event. kubectl can create more webhooks than status.deliveries can hold. The oldest receive events; a
// condition of the others says why they do not.

/** Maximum number of an account's webhooks that receive one event. One more entry is reserved for the URL of the request. */
export const MAX_RECEIVERS = MAX_DELIVERIES - 1

const countsForLimit = (webhook: Webhook): boolean => isActive(webhook) && !webhook.spec.isDefault

const isOlder = (a: Webhook, b: Webhook): boolean =>
  a.metadata.creationTimestamp === b.metadata.creationTimestamp
    ? a.metadata.name < b.metadata.name
    : a.metadata.creationTimestamp < b.metadata.creationTimestamp

/** True when `siblings` (all of the account) contain so many older active webhooks that this one receives no events. */
export function isBeyondLimit(webhook: Webhook, siblings: readonly Webhook[]): boolean {
  if (siblings.length <= MAX_RECEIVERS || !countsForLimit(webhook)) return false
  const { namespace } = webhook.metadata
  const older = siblings.filter(
    (sibling) => sibling.metadata.namespace === namespace && countsForLimit(sibling) && isOlder(sibling, webhook),
  )
  return older.length >= MAX_RECEIVERS
}

/** Keys to reconcile after a change: the webhook itself and, above the limit, those of its account that may gain or lose a place. */
export function affectedKeys({ object, old, type }: ReflectorEvent<Webhook>, webhooks: Pick<Lister<Webhook>, 'byIndex'>): string[] {
  const siblings = webhooks.byIndex(ACCOUNT_INDEX, accountOf(object))
  const isSame = type === 'modified' && old !== undefined && countsForLimit(old) === countsForLimit(object)
  return isSame || siblings.length < MAX_RECEIVERS ? [keyOf(object)] : [...new Set([keyOf(object), ...siblings.map(keyOf)])]
}
