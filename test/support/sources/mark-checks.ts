import type { KeyRing } from '../../../crds/src/crypto/download-link.ts'
import { signMarker } from '../../../crds/src/crypto/signed-markers.ts'
import type { IgnoredObject } from '../../../crds/src/records/ignored-objects.ts'

/** A release's keys. */
export const ring: KeyRing = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }

/** What marks are checked with, where nobody looks at what is reported. */
export const markChecks = { ring, report: () => {} }

/** The text of a mark, as the programs of {@link ring}'s release sign it. */
export const signed = (key: string): string => signMarker(key, ring)

/** Collects what is reported: `kind reason key`. */
export function collectIgnored() {
  const ignored: string[] = []
  const report = ({ kind, reason, key }: IgnoredObject): void => void ignored.push(`${kind} ${reason} ${key}`)
  return { ignored, report }
}
