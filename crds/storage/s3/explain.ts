import { bucketUrl, type StorageAccess } from '../../src/crypto/presign.ts'

// What a failure of the store means for the administrator, and what to do. Stores answer HEAD requests without a reason, so a failed check asks again.

/** What is known about a failed call. */
export interface Failure {
  /** Error code of S3, such as `NoSuchBucket`, or of Node.js, such as `ECONNREFUSED`. */
  code: string
  access: StorageAccess
  /** Region that the store named, if it named one. */
  region?: string | undefined
  /** Right that the call needed, such as `s3:PutObject` on `records/*`. */
  right?: string | undefined
}

const TLS_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

type Explain = (failure: Failure) => string

const EXPLANATIONS: Readonly<Record<string, Explain>> = {
  InvalidAccessKeyId: ({ access }) =>
    `the store does not know the access key ${access.accessKey}: check access-key in the Secret of the store's key, and create the key in the store`,
  SignatureDoesNotMatch: ({ access }) =>
    `the secret key does not belong to the access key ${access.accessKey}: check secret-key in the Secret of the store's key`,
  NoSuchBucket: ({ access }) =>
    `the store has no bucket ${access.bucket}: create it, or set storage.bucket to an existing one${isPathStyle(access) ? '' : PATH_HINT}`,
  AccessDenied: ({ access, right = 's3:ListBucket on the bucket' }) =>
    `the access key ${access.accessKey} lacks ${right} in ${access.bucket}: grant it ("Use an external store" in the chart's README lists all rights)`,
  AuthorizationHeaderMalformed: ({ access, region }) => wrongRegion(access, region),
  AuthorizationQueryParametersError: ({ access, region }) => wrongRegion(access, region),
  PermanentRedirect: ({ access, region }) => wrongRegion(access, region),
  RequestTimeTooSkewed: () => 'the clocks of this node and of the store differ by more than 15 minutes: synchronize them with NTP',
  ENOTFOUND: ({ access }) =>
    `the host name of ${urlOf(access)} does not exist: check storage.external.endpoint${isPathStyle(access) ? '' : PATH_HINT}`,
  ECONNREFUSED: ({ access }) => `nothing listens at ${access.endpoint}: check storage.external.endpoint and its port`,
  CERT_HAS_EXPIRED: ({ access }) => `the certificate of ${access.endpoint} has expired: renew it`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ access }) =>
    `the certificate of ${urlOf(access)} is for another host: set storage.external.endpoint to a name in the certificate${isPathStyle(access) ? '' : PATH_HINT}`,
  // Alibaba Cloud OSS
  SecondLevelDomainForbidden: ({ access }) => virtualHostOnly(access),
  // Tencent Cloud COS
  PathStyleDomainForbidden: ({ access }) => virtualHostOnly(access),
}

/** What to do when a store does not support virtual-host style. Follows a sentence without a full stop. */
export const PATH_HINT = '. If the store does not take the bucket from the host name, set storage.external.pathStyle to true'

const isPathStyle = ({ pathStyle = true }: StorageAccess): boolean => pathStyle

/** The URL that requests used, without the bucket in the path. */
const urlOf = (access: StorageAccess): string => (isPathStyle(access) ? access.endpoint : new URL(bucketUrl(access)).origin)

const virtualHostOnly = ({ bucket, endpoint }: StorageAccess): string =>
  `the store at ${endpoint} takes the bucket ${bucket} only from the host name: set storage.external.pathStyle to false`

function wrongRegion({ bucket, region, endpoint }: StorageAccess, found: string | undefined): string {
  if (found !== undefined && found !== region)
    return `the bucket ${bucket} is in the region ${found}, not in ${region}: set storage.region to ${found}`
  return `the bucket ${bucket} is in another region than ${region}, or has another endpoint than ${endpoint}: check storage.region and storage.external.endpoint`
}

/** One sentence on the cause and what to do; undefined for failures that a retry can solve. */
export function explain(failure: Failure): string | undefined {
  const { code, access } = failure
  if (TLS_CODES.has(code))
    return `the certificate of ${access.endpoint} is from an unknown authority (${code}): put the authority into a ConfigMap and set storage.external.caConfigMap`
  return Object.hasOwn(EXPLANATIONS, code) ? EXPLANATIONS[code]?.(failure) : undefined
}

/** Codes of failures that a changed access key or its rights would solve. */
export const REFUSALS: ReadonlySet<string> = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'AccessDenied'])

/** Reads code and region from an error response of S3. */
export function parseErrorBody(xml: string): { code: string; region: string | undefined } {
  const read = (element: string): string | undefined => new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1]
  return { code: read('Code') ?? '', region: read('Region') }
}
