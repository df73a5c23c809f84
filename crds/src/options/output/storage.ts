import { withAsciiForm } from '../../text/ascii-form.ts'
import { formed, group, NOT_IN_LINKS, on } from '../rules/declare.ts'

// A copy of the file in a bucket of the caller. Disabled unless a cluster administrator allows it. The credentials are in private.ts.

/** Names that storage_path may contain in braces. */
export const STORAGE_PATH_NAMES = ['id', 'host', 'date', 'format'] as const

const ENDPOINT = /^https:\/\/([-A-Za-z0-9._]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?$/
const HEADING = [
  'Your own bucket',
  'Available only if the chart value `capture.allowedOptions.storage` is true. The credentials are private options.',
] as const
const RULES = { ...NOT_IN_LINKS, policy: 'storage' } as const
const BUCKET_FORM = 'must be the name of a bucket: 3 to 63 lower-case letters, digits, - and .'
const PATH_FORM = "must have only letters, digits, spaces and the characters -!_.*'(){}/"

/** The caller's own bucket. */
export const storageGroup = group(HEADING, RULES, {
  storageBucket: formed(63, /^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$/, { form: BUCKET_FORM, example: 'acme-pictures' })(
    'Your own bucket, to which the picture is copied in addition to the bucket of this service.',
  ),
  storageEndpoint: formed(512, ENDPOINT, { form: withAsciiForm(), example: 'https://s3.eu-central-1.amazonaws.com' })(
    'URL of the S3-compatible store that has storage_bucket: https, host and port.',
  ),
  storageRegion: formed(64, /^[-A-Za-z0-9]{1,64}$/, {
    form: 'must have only letters, digits and -',
    default: 'us-east-1',
    example: 'eu-central-1',
  })('Region of storage_bucket, at most 64 characters.'),
  storagePathStyle: on(
    'Whether storage_bucket is in the path of requests. False: it is in the host name (virtual-host style), unless the endpoint is an IP address or the bucket has a dot.',
  ),
  storagePath: formed(512, /^[-A-Za-z0-9!_.*'(){}/ ]+$/, {
    form: PATH_FORM,
    default: '{id}.{format}',
    example: 'pages/{host}/{date}/{id}.{format}',
  })(
    'Key of the copy, at most 512 characters. {id}, {host}, {date} and {format} are replaced with the screenshot’s id, the page’s host, the UTC date and the format.',
  ),
})

const BRACES = /\{[^{}]*\}/g
const KNOWN: ReadonlySet<string> = new Set(STORAGE_PATH_NAMES.map((name) => `{${name}}`))

/** True for a path that stays inside the bucket and has only known names in braces. */
export const isStoragePath = (path: string): boolean =>
  (path.match(BRACES) ?? []).every((braces) => KNOWN.has(braces)) &&
  !/[{}]/.test(path.replace(BRACES, '')) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
