// rbac: tintype.dev/accounts get,list,watch
// rbac: tintype.dev/accounts/status patch

// Sets the Ready condition of each Account.

import { isNotFound } from '@tintype/crds/client/kube-error'
import type { Lister } from '@tintype/crds/client/lister'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { Account } from '@tintype/crds/kinds/account'
import type { Plans } from '@tintype/crds/usage/plans'
import { readObject } from '../kube/read-object.ts'
import { decide } from './decide.ts'

export interface AccountDeps {
  accounts: Pick<Lister<Account>, 'get'>
  store: Pick<Resource<Account>, 'patch'>
  seen: Pick<Reflector<Account>, 'observe'>
  plans: Plans
  now: () => Date
}

/** Reconciles one Account. */
export async function reconcileAccount(key: string, { accounts, store, seen, plans, now }: AccountDeps): Promise<void> {
  const cached = accounts.get(key)
  if (!cached || cached.metadata.deletionTimestamp !== undefined) return
  const account = readObject('Account', Account, cached)
  const conditions = decide(account, plans, now())
  if (!conditions) return
  const { name, namespace, resourceVersion } = account.metadata
  try {
    seen.observe(await store.patch(name, mergePatch({ status: { conditions } }, { resourceVersion }), { namespace, subresource: 'status' }))
  } catch (failure) {
    if (!isNotFound(failure)) throw failure
  }
}
