import type { KeyRing } from '../../../crds/src/download-link.ts'

/** Keys of links in the events of these tests. */
export const ring: KeyRing = { current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } }
