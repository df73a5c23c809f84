import type { StorageAccess } from '@tintype/crds/crypto/presign'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import type { PrivateOptions } from '@tintype/crds/options/private'

/** Where to copy the screenshot. Secret, because it contains the key. */
export interface CopyPlan extends StorageAccess {
  /** With placeholders in braces. */
  path: string
}

/** Builds the plan for the copy; undefined if none is requested. */
export function buildCopy(options: EffectiveOptions, secrets: PrivateOptions = {}): { copy?: CopyPlan } {
  const { storageBucket: bucket, storageEndpoint: endpoint, storageRegion: region, storagePath: path, storagePathStyle } = options
  const { storageAccessKeyId: accessKey, storageSecretAccessKey: secretKey } = secrets
  if (bucket === undefined || endpoint === undefined || accessKey === undefined || secretKey === undefined) return {}
  return { copy: { bucket, endpoint, region, accessKey, secretKey, path, ...(storagePathStyle ? {} : { pathStyle: false }) } }
}

/** Values of the placeholders. */
export interface CopyNames {
  id: string
  /** URL of the page. */
  url: string
  format: string
  now: Date
}

/** The object key of the copy. */
export function toCopyKey(path: string, { id, url, format, now }: CopyNames): string {
  const { hostname } = new URL(url)
  // Markup has no host, and an IPv6 address is not valid in a key.
  const host = hostname.replace(/[^-.a-z0-9]/g, '-') || 'none'
  const names: Record<string, string> = { id, host, date: now.toISOString().slice(0, 10), format }
  return path.replace(/\{(\w+)\}/g, (braces, name: string) => names[name] ?? braces)
}
