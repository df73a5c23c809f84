import type { StorageAccess } from '@tintype/crds/crypto/presign'
import type { EffectiveOptions } from '@tintype/crds/options/catalogue'
import type { PrivateOptions } from '@tintype/crds/options/private'

/** Where a second copy of the picture goes. Secret: it holds the key. */
export interface CopyPlan extends StorageAccess {
  /** With names in braces. */
  path: string
}

/** Works out the copy; undefined when none is asked for. */
export function buildCopy(options: EffectiveOptions, secrets: PrivateOptions = {}): { copy?: CopyPlan } {
  const { storageBucket: bucket, storageEndpoint: endpoint, storageRegion: region, storagePath: path } = options
  const { storageAccessKeyId: accessKey, storageSecretAccessKey: secretKey } = secrets
  if (bucket === undefined || endpoint === undefined || accessKey === undefined || secretKey === undefined) return {}
  return { copy: { bucket, endpoint, region, accessKey, secretKey, path } }
}

/** What the names in a path stand for. */
export interface CopyNames {
  id: string
  /** Address of the page. */
  url: string
  format: string
  now: Date
}

/** The key of the copy. */
export function toCopyKey(path: string, { id, url, format, now }: CopyNames): string {
  const { hostname } = new URL(url)
  // A page that was sent along has no host; an IPv6 address no legal name.
  const host = hostname.replace(/[^-.a-z0-9]/g, '-') || 'none'
  const names: Record<string, string> = { id, host, date: now.toISOString().slice(0, 10), format }
  return path.replace(/\{(\w+)\}/g, (braces, name: string) => names[name] ?? braces)
}
