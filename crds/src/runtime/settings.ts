import { z } from 'zod'
import { isAddressLiteral } from '../addresses/address-rules.ts'
import type { StorageAccess } from '../crypto/presign.ts'

// Environment variables for the bucket, for gateway and operator.

const EXAMPLE = 'such as https://s3.example.com or http://[2001:db8::10]:9000'

/** What is wrong with the URL of a store; undefined if nothing is. */
function findEndpointProblem(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text)) return `must begin with http:// or https://, ${EXAMPLE}`
  if (!URL.canParse(text)) return `must be a URL with a host and a port of at most 65535, ${EXAMPLE}. Write an IPv6 address in brackets`
  const { username, password, pathname, search, hash } = new URL(text)
  // The message does not repeat the text, which may contain a password.
  if (username !== '' || password !== '')
    return `must not contain a user and a password, because the keys have settings of their own: ${EXAMPLE}`
  if (pathname !== '/' || search !== '' || hash !== '')
    return `must end after the host and the port, ${EXAMPLE}. The bucket has a setting of its own`
  return undefined
}

/** The URL of a store: protocol, host and port. Path, user and query are rejected, because signed URLs cannot contain them. */
export const StorageUrl = z.string().superRefine((text, { addIssue }) => {
  const message = findEndpointProblem(text)
  if (message !== undefined) addIssue({ code: 'custom', message })
})

/** Public URL of a store; empty: none. */
export const OptionalStorageUrl = z.string().superRefine((text, { addIssue }) => {
  const message = text === '' ? undefined : findEndpointProblem(text)
  if (message !== undefined) addIssue({ code: 'custom', message })
})

/** Variables that gateway and operator have in common. */
export const storageSettings = {
  TINTYPE_STORAGE_ENDPOINT: StorageUrl.default('http://tintype-minio:9000'),
  TINTYPE_STORAGE_REGION: z.string().min(1).default('us-east-1'),
  TINTYPE_STORAGE_BUCKET: z.string().min(3).max(63).default('tintype'),
  TINTYPE_STORAGE_ACCESS_KEY: z.string().min(1),
  TINTYPE_STORAGE_SECRET_KEY: z.string().min(1),
  /** Directory with the same keys as files, which change without a restart. Empty: the keys do not change. */
  TINTYPE_STORAGE_KEYS_DIRECTORY: z.string().default(''),
  /** False: the bucket is in the host name, as in https://tintype.s3.example.com. */
  TINTYPE_STORAGE_PATH_STYLE: z.stringbool().default(true),
}

type StorageSettings = z.infer<z.ZodObject<typeof storageSettings>>

/** The URLs of the store that a program uses. */
const URLS = ['TINTYPE_STORAGE_ENDPOINT', 'TINTYPE_STORAGE_PUBLIC_URL'] as const

/** Checks the settings together. For `superRefine`. */
export function checkStorageSettings(
  read: StorageSettings & { TINTYPE_STORAGE_PUBLIC_URL?: string },
  { addIssue }: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  for (const name of read.TINTYPE_STORAGE_PATH_STYLE ? [] : URLS) {
    const host = URL.parse(read[name] ?? '')?.hostname.replace(/^\[(.*)\]$/, '$1')
    if (host === undefined || !isAddressLiteral(host)) continue
    const message = `must be a host name, because the IP address ${host} has no subdomain for the bucket. Or set TINTYPE_STORAGE_PATH_STYLE to true`
    addIssue({ code: 'custom', path: [name], message })
  }
}

/** Location and credentials of the bucket. */
export const toStorageAccess = (read: StorageSettings): StorageAccess => ({
  endpoint: read.TINTYPE_STORAGE_ENDPOINT,
  region: read.TINTYPE_STORAGE_REGION,
  bucket: read.TINTYPE_STORAGE_BUCKET,
  accessKey: read.TINTYPE_STORAGE_ACCESS_KEY,
  secretKey: read.TINTYPE_STORAGE_SECRET_KEY,
  pathStyle: read.TINTYPE_STORAGE_PATH_STYLE,
})

// Standard environment variables of OpenTelemetry, for both programs.

/** OTEL_EXPORTER_OTLP_ENDPOINT: base URL of a collector. Empty: tracing is disabled. */
export const OtlpEndpoint = z
  .union([z.literal(''), z.url({ protocol: /^https?$/ })])
  .default('')
  .transform((text) => (text === '' ? undefined : text))

/** OTEL_EXPORTER_OTLP_HEADERS: `name=value,name=value`, values percent-encoded. */
export const OtlpHeaders = z
  .string()
  .default('')
  .refine(
    (text) => pairsOf(text).every(([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && value !== undefined),
    'must be name=value,name=value',
  )
  .transform((text) => Object.fromEntries(pairsOf(text).map(([name, value = '']) => [name.toLowerCase(), value])))

const pairsOf = (text: string): [name: string, value: string | undefined][] =>
  splitList(text).map((pair) => {
    const [name = '', ...rest] = pair.split('=')
    return [name.trim(), rest.length === 0 ? undefined : decode(rest.join('=').trim())]
  })

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Splits a comma-separated list, trims the items and drops empty ones. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** An environment variable with a comma-separated list; empty if absent. */
export const CommaList = z.string().default('').transform(splitList)
