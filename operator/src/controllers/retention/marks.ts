import { isSignedMarker, type KeyRing, signMarker } from '@tintype/crds/crypto/signatures'
import { isFuture } from '@tintype/crds/records/ignored-objects'
import { deletedAccountKey } from '@tintype/crds/records/storage-keys'

const signed = (account: string, since: string): string => `${deletedAccountKey(account)}\n${since}`

/** Content of the mark of a deleted account: the time of the deletion and a signature. */
export const toDeletionText = (account: string, since: Date, ring: KeyRing): string =>
  `${since.toISOString()} ${signMarker(signed(account, since.toISOString()), ring)}`

/** True for text in the format of such a mark, with or without a signature. */
export const isDeletionText = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z( [\w.-]+)?$/.test(text)

/** Reads the time of a mark; undefined for a mark that this release did not sign, so that the grace period starts again. */
export function readDeletionText(account: string, text: string, ring: KeyRing, now: Date): Date | undefined {
  const [since = '', signature = ''] = text.split(' ')
  const at = new Date(since)
  return isSignedMarker(signed(account, since), signature, ring) && !isFuture(at, now) ? at : undefined
}
