import type { KeyRing } from '../../../crds/src/crypto/key-ring.ts'
import { newOpeningKey, type OpeningKeys } from '../../../crds/src/crypto/sealed.ts'

/** Keys of links in the events of these tests. */
export const ring: KeyRing = { current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } }

/** Keys that open the signing secrets of these tests. */
export const openingKeys: OpeningKeys = [newOpeningKey('k1')]
