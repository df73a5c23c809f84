import { z } from 'zod'

// A second copy of the file, in a store of the caller's own. Off unless whoever runs the service allows it; its credentials are in private.ts.

/** What a name in braces stands for in storage_path. */
export const STORAGE_PATH_NAMES = ['id', 'host', 'date', 'format'] as const

/** The caller's own store. */
export const storageOptions = {
  storageBucket: z
    .string()
    .max(63)
    .regex(/^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$/)
    .describe('Bucket of your own that the picture is copied to, besides the one of this service. Default: none.'),
  storageEndpoint: z
    .string()
    .max(512)
    .regex(/^https:\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/)
    .describe('Address of the S3-compatible store with storage_bucket: https, host and port. Default: none.'),
  storageRegion: z
    .string()
    .max(64)
    .regex(/^[-A-Za-z0-9]{1,64}$/)
    .describe('Region of storage_bucket, at most 64 characters. Default: us-east-1.'),
  storagePath: z
    .string()
    .max(512)
    .regex(/^[-A-Za-z0-9!_.*'(){}/ ]+$/)
    .describe(
      'Name of the copy, at most 512 characters; {id}, {host}, {date} and {format} stand for the screenshot, the page’s host, the day in UTC and the format. Default: {id}.{format}.',
    ),
}

export const storageDefaults = { storageRegion: 'us-east-1', storagePath: '{id}.{format}' }

const BRACES = /\{[^{}]*\}/g
const KNOWN: ReadonlySet<string> = new Set(STORAGE_PATH_NAMES.map((name) => `{${name}}`))

/** True for a path that stays below the bucket and whose braces are known. */
export const isStoragePath = (path: string): boolean =>
  (path.match(BRACES) ?? []).every((braces) => KNOWN.has(braces)) &&
  !/[{}]/.test(path.replace(BRACES, '')) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
