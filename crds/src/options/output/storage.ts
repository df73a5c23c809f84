import { z } from 'zod'
import { withAsciiForm } from '../../text/ascii-form.ts'
import { option } from '../rules/option-rules.ts'

// A copy of the file in a bucket of the caller. Disabled unless a cluster administrator allows it. The credentials are in private.ts.

/** Names that storage_path may contain in braces. */
export const STORAGE_PATH_NAMES = ['id', 'host', 'date', 'format'] as const

/** The caller's own bucket. */
export const storageOptions = {
  storageBucket: option(
    { links: 'no', picture: 'separate' },
    z
      .string()
      .max(63)
      .regex(/^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$/, 'must be the name of a bucket: 3 to 63 lower-case letters, digits, - and .')
      .describe('Your own bucket, to which the picture is copied in addition to the bucket of this service. Default: none.'),
  ),
  storageEndpoint: option(
    { links: 'no', picture: 'separate' },
    z
      .string()
      .max(512)
      .regex(/^https:\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/, withAsciiForm())
      .describe('URL of the S3-compatible store that has storage_bucket: https, host and port. Default: none.'),
  ),
  storageRegion: option(
    { links: 'no', picture: 'separate' },
    z
      .string()
      .max(64)
      .regex(/^[-A-Za-z0-9]{1,64}$/, 'must have only letters, digits and -')
      .describe('Region of storage_bucket, at most 64 characters. Default: us-east-1.'),
  ),
  storagePathStyle: option(
    { links: 'no', picture: 'separate' },
    z
      .boolean()
      .describe(
        'Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot. Default: true.',
      ),
  ),
  storagePath: option(
    { links: 'no', picture: 'separate' },
    z
      .string()
      .max(512)
      .regex(/^[-A-Za-z0-9!_.*'(){}/ ]+$/, "must have only letters, digits, spaces and the characters -!_.*'(){}/")
      .describe(
        'Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format. Default: {id}.{format}.',
      ),
  ),
}

export const storageDefaults = { storageRegion: 'us-east-1', storagePathStyle: true, storagePath: '{id}.{format}' }

const BRACES = /\{[^{}]*\}/g
const KNOWN: ReadonlySet<string> = new Set(STORAGE_PATH_NAMES.map((name) => `{${name}}`))

/** True for a path that stays inside the bucket and has only known names in braces. */
export const isStoragePath = (path: string): boolean =>
  (path.match(BRACES) ?? []).every((braces) => KNOWN.has(braces)) &&
  !/[{}]/.test(path.replace(BRACES, '')) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
