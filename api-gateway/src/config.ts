import { DEFAULT_EGRESS_RULES, isCidr } from '@tintype/crds/addresses/address-rules'
import type { StorageAccess } from '@tintype/crds/crypto/presign'
import { OptionPolicyText } from '@tintype/crds/options/policy'
import {
  CommaList,
  checkStorageSettings,
  OptionalStorageUrl,
  OtlpEndpoint,
  OtlpHeaders,
  storageSettings,
  toStorageAccess,
} from '@tintype/crds/runtime/settings'
import { PlansText } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { MIN_BODY_BUDGET_BYTES } from './bodies/budget.ts'

const port = (value: number) => z.coerce.number().int().min(1).max(65_535).default(value)

/** True for an origin as browsers send it, such as `https://app.example`, and for `*`. */
const isOrigin = (text: string): boolean => text === '*' || (URL.canParse(text) && new URL(text).origin === text)

/** All settings, with their default and unit. */
const Env = z.object({
  TINTYPE_NAMESPACE: z.string().min(1).optional(), // absent: the service account's or the context's
  TINTYPE_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  TINTYPE_PORT: port(8080),
  TINTYPE_METRICS_PORT: port(9090), // /metrics, /healthz, /readyz
  ...storageSettings,
  // Credentials that presign URLs of the object store. Empty: the gateway's own.
  TINTYPE_STORAGE_LINKS_ACCESS_KEY: z.string().default(''),
  TINTYPE_STORAGE_LINKS_SECRET_KEY: z.string().default(''),
  // URL at which clients reach the gateway. Empty: links use the host of the request.
  TINTYPE_PUBLIC_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  TINTYPE_POD_NAME: z.string().min(1).max(200).default('api-gateway'), // begins the name of this process's Lease
  TINTYPE_POD_UID: z.string().max(64).default(''), // owner of that Lease; empty: no owner
  TINTYPE_PLANS: PlansText, // JSON; empty: the default plans
  TINTYPE_OPTION_POLICY: OptionPolicyText, // JSON: which kinds of options are allowed; empty: all
  TINTYPE_DOWNLOAD_KEYS_FILE: z.string().min(1),
  TINTYPE_SEALING_KEY_FILE: z.string().min(1), // public key; the operator has the private one
  TINTYPE_LINK_KEY_FILE: z.string().min(1), // release key of link secrets; the file may appear later
  TINTYPE_READS_PER_MINUTE: z.coerce.number().int().min(1).default(6_000), // per account and replica: lists and reports
  TINTYPE_CHANGES_PER_MINUTE: z.coerce.number().int().min(1).default(600), // per account and replica: changes of keys and webhooks
  TINTYPE_LINK_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(120_000), // per account and replica: requests for links
  TINTYPE_LINK_CACHE_BYTES: z.coerce.number().int().min(0).default(33_554_432), // pictures of links in memory; 0: none
  TINTYPE_MAX_KEYS: z.coerce.number().int().min(1).default(100), // API keys per account
  TINTYPE_MAX_WEBHOOKS: z.coerce.number().int().min(1).max(63).default(50), // webhooks per account; limits the fan-out of an event
  TINTYPE_MAX_SCHEDULES: z.coerce.number().int().min(1).default(1_000), // schedules per account
  // Same values as in the operator, so that a URL it would not post to is rejected early.
  TINTYPE_WEBHOOK_ALLOWED_CIDRS: CommaList.refine((cidrs) => cidrs.every(isCidr), 'must be a comma-separated list of CIDRs'),
  TINTYPE_WEBHOOK_ALLOWED_HOSTS: CommaList,
  // Public URL of the object store. Download links then lead there instead of through the gateway.
  TINTYPE_STORAGE_PUBLIC_URL: OptionalStorageUrl.default(''),
  // Finished screenshots in the Kubernetes API above which the oldest are archived. At twice this number creates are rejected.
  TINTYPE_RETENTION_MAX_LIVE: z.coerce.number().int().min(1).default(10_000),
  // Maximum queued screenshots, in total and per account. A plan can override the latter.
  TINTYPE_MAX_QUEUED: z.coerce.number().int().min(1).default(10_000),
  TINTYPE_MAX_QUEUED_PER_ACCOUNT: z.coerce.number().int().min(1).default(1_000),
  // Origins whose pages may call the API, such as https://app.example. `*` allows all.
  TINTYPE_CORS_ORIGINS: CommaList.refine((origins) => origins.every(isOrigin), 'must be a comma-separated list of origins'),
  // Proxies in front of the gateway. Only their X-Forwarded-For header is read.
  TINTYPE_TRUSTED_PROXIES: CommaList.refine((cidrs) => cidrs.every(isCidr), 'must be a comma-separated list of CIDRs'),
  TINTYPE_MCP: z.enum(['true', 'false']).default('true'), // serves the Model Context Protocol at /mcp
  TINTYPE_CONSOLE: z.enum(['true', 'false']).default('true'), // serves the web console
  TINTYPE_CONSOLE_DIRECTORY: z.string().default(''), // its built files. Empty: the folder `console` beside the program
  // Width of the thumbnail of screenshots that ask for none. 0: none.
  TINTYPE_THUMBNAIL_WIDTH: z.coerce
    .number()
    .int()
    .refine((width) => width === 0 || (width >= 16 && width <= 2_000), 'must be 0, or 16 to 2000')
    .default(0),
  // Request bodies in progress. The minimum fits one body of the largest size per account.
  TINTYPE_BODY_BYTES: z.coerce.number().int().min(MIN_BODY_BUDGET_BYTES).default(MIN_BODY_BUDGET_BYTES),
  TINTYPE_MAX_DOWNLOADS: z.coerce.number().int().min(1).default(256), // concurrent file downloads
  TINTYPE_SHUTDOWN_GRACE_MILLISECONDS: z.coerce.number().int().min(0).default(25_000), // time for running downloads to finish
  TINTYPE_DRAIN_DELAY_MILLISECONDS: z.coerce.number().int().min(0).default(3_000), // until load balancers stop sending requests
  // Standard OpenTelemetry variables: the OTLP endpoint for spans. Empty: no spans.
  OTEL_EXPORTER_OTLP_ENDPOINT: OtlpEndpoint,
  OTEL_EXPORTER_OTLP_HEADERS: OtlpHeaders,
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1), // fraction of requests that start a trace
  // Egress rules of the default pool, for checking URLs without DNS. `*` leaves host names to the runners.
  TINTYPE_ALLOWED_HOSTS: CommaList.transform((hosts) => (hosts.length > 0 ? hosts : ['*'])),
  TINTYPE_ALLOWED_CIDRS: CommaList.refine((cidrs) => cidrs.every(isCidr), 'must be a comma-separated list of CIDRs'),
  TINTYPE_DENIED_CIDRS: CommaList.refine((cidrs) => cidrs.every(isCidr), 'must be a comma-separated list of CIDRs'),
  TINTYPE_ALLOWED_PORTS: CommaList.transform((ports) => ports.map(Number)).refine(
    (ports) => ports.every((value) => Number.isInteger(value) && value > 0 && value < 65_536),
    'must be a comma-separated list of ports',
  ),
})
type Env = z.infer<typeof Env>

/**
 * Reads the settings from the environment.
 * @throws Error that lists every problem
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const parsed = Env.superRefine(checkStorageSettings).safeParse(env)
  if (!parsed.success) throw new Error(`invalid environment:\n${z.prettifyError(parsed.error)}`)
  return Object.freeze(toConfig(parsed.data))
}

const toConfig = (env: Env) => ({
  namespace: env.TINTYPE_NAMESPACE,
  logLevel: env.TINTYPE_LOG_LEVEL,
  port: env.TINTYPE_PORT,
  metricsPort: env.TINTYPE_METRICS_PORT,
  storage: toStorageAccess(env),
  storageKeysDirectory: env.TINTYPE_STORAGE_KEYS_DIRECTORY || undefined,
  publicUrl: env.TINTYPE_PUBLIC_URL.replace(/\/+$/, ''),
  podName: env.TINTYPE_POD_NAME,
  podUid: env.TINTYPE_POD_UID,
  plans: env.TINTYPE_PLANS,
  optionPolicy: env.TINTYPE_OPTION_POLICY,
  thumbnailWidth: env.TINTYPE_THUMBNAIL_WIDTH,
  downloadKeysFile: env.TINTYPE_DOWNLOAD_KEYS_FILE,
  sealingKeyFile: env.TINTYPE_SEALING_KEY_FILE,
  linkKeyFile: env.TINTYPE_LINK_KEY_FILE,
  callsPerMinute: {
    read: env.TINTYPE_READS_PER_MINUTE,
    management: env.TINTYPE_CHANGES_PER_MINUTE,
    link: env.TINTYPE_LINK_REQUESTS_PER_MINUTE,
  },
  maxKeys: env.TINTYPE_MAX_KEYS,
  maxWebhooks: env.TINTYPE_MAX_WEBHOOKS,
  maxSchedules: env.TINTYPE_MAX_SCHEDULES,
  webhookRules: {
    ...DEFAULT_EGRESS_RULES,
    allowedCidrs: env.TINTYPE_WEBHOOK_ALLOWED_CIDRS,
    allowedHosts: env.TINTYPE_WEBHOOK_ALLOWED_HOSTS,
  },
  publicStorage: toPublicStorage(env),
  tracing: { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT, headers: env.OTEL_EXPORTER_OTLP_HEADERS, ratio: env.OTEL_TRACES_SAMPLER_ARG },
  maxLive: env.TINTYPE_RETENTION_MAX_LIVE,
  queue: { maxQueued: env.TINTYPE_MAX_QUEUED, maxQueuedPerAccount: env.TINTYPE_MAX_QUEUED_PER_ACCOUNT },
  corsOrigins: env.TINTYPE_CORS_ORIGINS,
  trustedProxies: env.TINTYPE_TRUSTED_PROXIES,
  hasMcp: env.TINTYPE_MCP === 'true',
  console: { isEnabled: env.TINTYPE_CONSOLE === 'true', directory: env.TINTYPE_CONSOLE_DIRECTORY },
  bodyBytes: env.TINTYPE_BODY_BYTES,
  maxDownloads: env.TINTYPE_MAX_DOWNLOADS,
  linkCacheBytes: env.TINTYPE_LINK_CACHE_BYTES,
  shutdownGraceMilliseconds: env.TINTYPE_SHUTDOWN_GRACE_MILLISECONDS,
  drainDelayMilliseconds: env.TINTYPE_DRAIN_DELAY_MILLISECONDS,
  egress: {
    allowedHosts: env.TINTYPE_ALLOWED_HOSTS,
    allowedCidrs: env.TINTYPE_ALLOWED_CIDRS,
    deniedCidrs: env.TINTYPE_DENIED_CIDRS,
    allowedPorts: env.TINTYPE_ALLOWED_PORTS,
  },
})

/** The bucket at its public URL, with the credentials that sign links; undefined if the store has no public URL. */
function toPublicStorage(env: Env): StorageAccess | undefined {
  if (env.TINTYPE_STORAGE_PUBLIC_URL === '') return undefined
  const access = { ...toStorageAccess(env), endpoint: env.TINTYPE_STORAGE_PUBLIC_URL }
  if (env.TINTYPE_STORAGE_LINKS_ACCESS_KEY === '') return access
  return { ...access, accessKey: env.TINTYPE_STORAGE_LINKS_ACCESS_KEY, secretKey: env.TINTYPE_STORAGE_LINKS_SECRET_KEY }
}

export type Config = Readonly<ReturnType<typeof toConfig>>
