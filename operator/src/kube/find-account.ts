import type { ObjectKey } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { Account } from '@tintype/crds/kinds/account'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'

/** An Account from the informer cache, unless it was deleted: one with finalizers remains there, and its objects must not act any more. */
export function findAccount(key: ObjectKey, accounts: Pick<Lister<Account>, 'get'>): Account | undefined {
  const account = accounts.get(key)
  return account && isBeingDeleted(account) ? undefined : account
}
