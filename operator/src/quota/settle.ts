// rbac: tintype.dev/screenshots get

import type { Resource } from '@tintype/crds/client/resource'
import { isScreenshotIdName, toId } from '@tintype/crds/identifiers/names'
import type { Reservation } from '@tintype/crds/kinds/account-usage'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { recordKey, tombstoneKey } from '@tintype/crds/records/storage-keys'
import type { Storage } from '../storage/storage.ts'
import type { Settlement } from './decide.ts'

/** What is asked about a name that was reserved. */
export interface SettleContext {
  /** Whether a Screenshot of that name is here, or was lately. */
  hasSeen: (name: string) => boolean
  screenshots: Pick<Resource<Screenshot>, 'find'>
  storage: Pick<Storage, 'exists'>
}

/**
 * Finds out which objects of a reservation were never made. Nobody works under it any more, so none of them will be. Any doubt keeps a unit spent:
 * who creates, downloads and deletes in a loop must never lower the count.
 * @throws when the API server or the bucket cannot be asked; then nothing is settled
 */
export async function settle(account: string, reservation: Reservation, context: SettleContext): Promise<Settlement> {
  const { names } = reservation
  const gone = await Promise.all(names.map((name) => wasNeverMade(account, name, context)))
  return { reservation, neverMade: names.filter((_, index) => gone[index]) }
}

/** The API server first: what leaves it for the archive, or is deleted over REST, is in the bucket before. */
async function wasNeverMade(account: string, name: string, { hasSeen, screenshots, storage }: SettleContext): Promise<boolean> {
  if (!isScreenshotIdName(name) || hasSeen(name)) return false
  if (await screenshots.find(name)) return false
  const id = toId(name)
  return !(await storage.exists(tombstoneKey(account, id))) && !(await storage.exists(recordKey(account, id)))
}
