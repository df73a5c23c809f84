// rbac: tintype.dev/screenshots get

import type { Resource } from '@tintype/crds/client/resource'
import { isScreenshotIdName, toId } from '@tintype/crds/identifiers/names'
import type { Reservation } from '@tintype/crds/kinds/account-usage'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { recordKey, tombstoneKey } from '@tintype/crds/records/storage-keys'
import type { Storage } from '../../storage/storage.ts'
import type { Settlement } from './decide.ts'

/** Sources that show whether a reserved name was created. */
export interface SettleContext {
  /** Whether a Screenshot of that name is in the cache or was recently. */
  hasSeen: (name: string) => boolean
  screenshots: Pick<Resource<Screenshot>, 'find'>
  storage: Pick<Storage, 'exists'>
}

/**
 * Finds the objects of a reservation that were never created. Its holder has ended, so they will not be created. In case of doubt a unit
 * stays charged: a client that creates, downloads and deletes in a loop must not reduce its usage.
 * @throws when the API server or the bucket is unavailable; then nothing is settled
 */
export async function settle(account: string, reservation: Reservation, context: SettleContext): Promise<Settlement> {
  const { names } = reservation
  const isNeverMade = await Promise.all(names.map((name) => wasNeverMade(account, name, context)))
  return { reservation, neverMade: names.filter((_, index) => isNeverMade[index]) }
}

/** Check the API server first: archived records and REST deletions are written to the bucket before the object is deleted. */
async function wasNeverMade(account: string, name: string, { hasSeen, screenshots, storage }: SettleContext): Promise<boolean> {
  if (!isScreenshotIdName(name) || hasSeen(name)) return false
  if (await screenshots.find(name)) return false
  const id = toId(name)
  return !(await storage.exists(tombstoneKey(account, id))) && !(await storage.exists(recordKey(account, id)))
}
