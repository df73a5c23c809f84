import { type KeyRing, signMarker } from '../../../crds/src/crypto/signatures.ts'
import type { IgnoredObject } from '../../../crds/src/records/ignored-objects.ts'

/** The keys of a release. */
export const ring: KeyRing = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }

/** Dependencies for checks of marks, without a report. */
export const markChecks = { ring, report: () => {} }

/** The text of a mark, signed with {@link ring}. */
export const signed = (key: string): string => signMarker(key, ring)

/** Collects reports as `kind reason key`. */
export function collectIgnored() {
  const ignored: string[] = []
  const report = ({ kind, reason, key }: IgnoredObject): void => void ignored.push(`${kind} ${reason} ${key}`)
  return { ignored, report }
}
