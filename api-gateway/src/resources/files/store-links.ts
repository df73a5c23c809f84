import { presign, type StorageAccess } from '@tintype/crds/crypto/presign'
import type { Link } from '@tintype/crds/crypto/signatures'
import { parseObjectKey } from '@tintype/crds/records/storage-keys'
import { contentTypeOf, dispositionOf } from './file-headers.ts'

/** Presigns a URL of the object store. `signedAt` may be in the past, so that clients get the same URL for a while. */
export type SignStoreLink = (link: Link, signedAt: Date) => string

/**
 * Builds presigned URLs with the public host of the object store, because the host is part of the signature. The store responds with the content
 * type and disposition from the URL, not with those of the upload.
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
