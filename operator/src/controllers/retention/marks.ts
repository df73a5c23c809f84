import type { KeyRing } from '@tintype/crds/crypto/download-link'
import { isSignedMarker, MAX_MARKER_BYTES, signMarker } from '@tintype/crds/crypto/signed-markers'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { goneKey, tombstoneKey } from '@tintype/crds/records/storage-keys'
import { isFuture } from '@tintype/crds/records/stored-json'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import type { Storage } from '../../storage/storage.ts'

/** Dependencies for checking marks. */
export interface MarkChecks {
  /** Signs and verifies marks of this release. */
  ring: KeyRing
  /** Called for objects that are treated as absent. */
  report: ReportIgnored
}

/** Writes the mark that a record is deleted. */
export async function writeTombstone(account: string, id: string, { storage, ring }: { storage: Pick<Storage, 'write'>; ring: KeyRing }) {
  const key = tombstoneKey(account, id)
  await storage.write(key, signMarker(key, ring))
}

/**
 * Whether a program of this release marked a record as deleted. A mark without a signature, as earlier versions wrote them, deletes
 * nothing: it only hides the record.
 */
export async function isDeletionConfirmed(
  account: string,
  id: string,
  { storage, ring, report }: MarkChecks & { storage: Pick<Storage, 'readText'> },
): Promise<boolean> {
  const key = tombstoneKey(account, id)
  const text = await unlessTooLarge('tombstone', key, storage.readText(key, MAX_MARKER_BYTES), report)
  if (text === undefined) return false
  const isSigned = isSignedMarker(key, text, ring)
  if (!isSigned && text !== '') report({ kind: 'tombstone', reason: 'content', key })
  return isSigned
}

const signed = (account: string, since: string): string => `${goneKey(account)}\n${since}`

/** Content of the mark of a deleted account: the time of the deletion and a signature. */
export const toGoneText = (account: string, since: Date, ring: KeyRing): string =>
  `${since.toISOString()} ${signMarker(signed(account, since.toISOString()), ring)}`

/** True for text in the format of such a mark, with or without a signature. */
export const isGoneText = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z( [\w.-]+)?$/.test(text)

/** Reads the time of a mark; undefined for a mark that this release did not sign, so that the grace period starts again. */
export function readGoneText(account: string, text: string, ring: KeyRing, now: Date): Date | undefined {
  const [since = '', signature = ''] = text.split(' ')
  const at = new Date(since)
  return isSignedMarker(signed(account, since), signature, ring) && !isFuture(at, now) ? at : undefined
}
