import type { Link } from '@tintype/crds/download-link'
import { presign, type StorageAccess } from '@tintype/crds/presign'
import { parseObjectKey } from '@tintype/crds/storage-keys'
import { contentTypeOf, dispositionOf } from '../translate/files/file-headers.ts'

/** Makes an address at the store's own host; `signedAt` may lie in the past, so that the same address comes out for a while. */
export type SignStoreLink = (link: Link, signedAt: Date) => string

/**
 * Links that lead to the store under the address that the world knows it by: such an address is signed with its host, so it
 * must be made for that one. The store answers with our type and disposition, not with what an upload said.
 */
export function buildStoreLinks(access: StorageAccess): SignStoreLink {
  return ({ key, expires, attachment }, signedAt) => {
    const { id = '', extension = '' } = parseObjectKey(key) ?? {}
    const query = {
      'response-content-type': contentTypeOf(extension),
      'response-content-disposition': dispositionOf(`${id}.${extension}`, extension, attachment),
    }
    return presign(access, { method: 'GET', key, query, expiresSeconds: expires - signedAt.getTime() / 1_000, now: signedAt })
  }
}
