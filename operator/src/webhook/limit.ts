import { keyOf } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { ReflectorEvent } from '@tintype/crds/client/reflector'
import { MAX_DELIVERIES } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'

// An account may have more webhooks than status.deliveries has places for: by kubectl, nobody counts them. The oldest are told of
// things; the others say why they are not.

/** Index of webhooks by the account whose events they receive. */
export const BY_ACCOUNT = 'delivery/account'

/** Webhooks of an account that are told of things; the last place is for the request's own address. */
export const MAX_RECEIVERS = MAX_DELIVERIES - 1

const counts = (webhook: Webhook): boolean => isActive(webhook) && !webhook.spec.isDefault

const isOlder = (a: Webhook, b: Webhook): boolean =>
  a.metadata.creationTimestamp === b.metadata.creationTimestamp
    ? a.metadata.name < b.metadata.name
    : a.metadata.creationTimestamp < b.metadata.creationTimestamp

/** True when so many older webhooks among `siblings` (all of the account) are active that none is left for this one. */
export function isBeyondLimit(webhook: Webhook, siblings: readonly Webhook[]): boolean {
  if (siblings.length <= MAX_RECEIVERS || !counts(webhook)) return false
  const { namespace } = webhook.metadata
  const older = siblings.filter((sibling) => sibling.metadata.namespace === namespace && counts(sibling) && isOlder(sibling, webhook))
  return older.length >= MAX_RECEIVERS
}

/** Whom a change concerns: itself, and where there are too many, those who may get its place or lose theirs to it. */
export function keysConcernedBy({ object, old, type }: ReflectorEvent<Webhook>, webhooks: Pick<Lister<Webhook>, 'byIndex'>): string[] {
  const siblings = webhooks.byIndex(BY_ACCOUNT, accountOf(object))
  const isSame = type === 'modified' && old !== undefined && counts(old) === counts(object)
  return isSame || siblings.length < MAX_RECEIVERS ? [keyOf(object)] : [...new Set([keyOf(object), ...siblings.map(keyOf)])]
}
