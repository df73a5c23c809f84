import { presign, type StorageAccess } from '@tintype/crds/presign'
import { parseObjectKey } from '@tintype/crds/storage-keys'
import type { SignStoreLink } from '../routes/links.ts'
import { contentTypeOf, dispositionOf } from '../translate/file-headers.ts'

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
