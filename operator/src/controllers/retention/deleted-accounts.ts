// rbac: tintype.dev/screenshots delete
// rbac: tintype.dev/apikeys delete
// rbac: tintype.dev/webhooks delete
// rbac: tintype.dev/screenshotschedules delete

// Deleted accounts and their remaining data. The time of the deletion is stored in the bucket, so that it outlives leaders. It is written
// at the deletion itself, or when data of a missing account is found. Kubernetes deletes the usage object with its owner, the Account.

import { isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeObject } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { Resource } from '@tintype/crds/client/resource'
import { isSignedMarker, type KeyRing, signMarker } from '@tintype/crds/crypto/signatures'
import { prefixOf } from '@tintype/crds/records/folders'
import { isFuture, parseKeys } from '@tintype/crds/records/ignored-objects'
import { deletedAccountKey } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import type { MarkChecks } from '@tintype/crds/storage/archive'
import { listPages, readStored } from '@tintype/crds/storage/stored-objects'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import type { Storage } from '../../storage/storage.ts'

/** Objects of one kind in the Kubernetes API, indexed by account. */
export interface OwnedKind {
  ofAccount: (account: string) => readonly KubeObject[]
  remove: (object: KubeObject) => Promise<void>
}

interface DeletedAccountsOptions extends MarkChecks {
  storage: Pick<Storage, 'list' | 'readText' | 'write' | 'remove'>
  /** Schedules, Screenshots, keys and webhooks. */
  kinds: readonly OwnedKind[]
  /**
   * Time after the deletion within which the account can be recreated with all its data: an accidental deletion must not lose years of
   * pictures.
   */
  graceMilliseconds: number
  now: () => Date
}

const PARALLEL = 16

/** A kind whose informer cache has an index by account. The uid precondition protects a new object of the same name. */
export function ownedKind<T extends KubeObject>(lister: Pick<Lister<T>, 'byIndex'>, store: Pick<Resource<T>, 'delete'>): OwnedKind {
  return {
    ofAccount: (account) => lister.byIndex(ACCOUNT_INDEX, account),
    remove: async ({ metadata: { name, uid } }) => {
      await store.delete(name, { uid }).catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error
      })
    },
  }
}

export class DeletedAccounts {
  readonly #options: DeletedAccountsOptions

  constructor(options: DeletedAccountsOptions) {
    this.#options = options
  }

  /** Names of accounts that are marked as deleted. */
  async marked(): Promise<Set<string>> {
    const { storage, report } = this.#options
    const accounts = new Set<string>()
    for await (const keys of listPages(prefixOf('gone'), storage)) {
      for (const account of parseKeys('gone', keys, report)) accounts.add(account)
    }
    return accounts
  }

  /** Removes the mark: the account exists again. */
  async forget(account: string): Promise<void> {
    await this.#options.storage.remove([deletedAccountKey(account)])
  }

  /** True when a missing account has been deleted for longer than the grace period. Without a valid mark the grace period starts now. */
  async isPastGrace(account: string): Promise<boolean> {
    const { storage, graceMilliseconds, now, ring, report } = this.#options
    const key = deletedAccountKey(account)
    const text = await readStored('gone', key, { storage, report })
    const since = text === undefined ? undefined : readDeletionText(account, text, ring, now())
    if (since) return now().getTime() - since.getTime() >= graceMilliseconds
    // The signing key may have been rotated.
    if (text !== undefined) report({ kind: 'gone', reason: isDeletionText(text) ? 'unconfirmed' : 'content', key })
    await storage.write(key, toDeletionText(account, now(), ring))
    return false
  }

  /** Deletes an account's objects from the Kubernetes API. Returns their number. */
  async removeObjects(account: string, mayContinue: () => boolean): Promise<number> {
    let count = 0
    for (const { ofAccount, remove } of this.#options.kinds) {
      await mapConcurrently(ofAccount(account), PARALLEL, async (object) => {
        if (!mayContinue()) return
        await remove(object)
        count++
      })
    }
    return count
  }
}

const signed = (account: string, since: string): string => `${deletedAccountKey(account)}\n${since}`

/** Content of the mark of a deleted account: the time of the deletion and a signature. */
export const toDeletionText = (account: string, since: Date, ring: KeyRing): string =>
  `${since.toISOString()} ${signMarker(signed(account, since.toISOString()), ring)}`

/** True for text in the format of such a mark, with or without a signature. */
const isDeletionText = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z( [\w.-]+)?$/.test(text)

/** Reads the time of a mark; undefined for a mark that this release did not sign, so that the grace period starts again. */
export function readDeletionText(account: string, text: string, ring: KeyRing, now: Date): Date | undefined {
  const [since = '', signature = ''] = text.split(' ')
  const at = new Date(since)
  return isSignedMarker(signed(account, since), signature, ring) && !isFuture(at, now) ? at : undefined
}
