import type { KeyRing } from '../../../crds/src/crypto/download-link.ts'
import { newOpeningKey, type OpeningKeys } from '../../../crds/src/crypto/sealed.ts'

/** Keys of links in the events of these tests. */
export const ring: KeyRing = { current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } }

/** Open the signing secrets that these tests seal. */
export const openingKeys: OpeningKeys = [newOpeningKey('k1')]
