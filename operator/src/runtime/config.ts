import { Plan } from '@tintype/crds/kinds/account'
import { OptionPolicyText } from '@tintype/crds/options/policy'
import {
  CommaList,
  checkStorageSettings,
  OtlpEndpoint,
  OtlpHeaders,
  storageSettings,
  toStorageAccess,
} from '@tintype/crds/runtime/settings'
import { PlansText } from '@tintype/crds/usage/plans'
import { z } from 'zod'

const milliseconds = (preset: number) => z.coerce.number().int().positive().default(preset)
const optionalText = z
  .string()
  .default('')
  .transform((text) => (text === '' ? undefined : text))

/** The operator's environment: every variable, its default and its unit. */
const Environment = z.object({
  /** Namespace of the release: all kinds live in it. */
  TINTYPE_NAMESPACE: z.string().min(1),
  /** The operator's own pod; its uid is its identity on the lease. */
  TINTYPE_POD_NAME: z.string().min(1),
  TINTYPE_POD_UID: z.string().min(1),
  /** Full name of the Helm release: the prefix for names of Secrets and of the Lease. */
  TINTYPE_RELEASE: z.string().min(1).default('tintype'),
  /** openshift: runner pods name no user and group ids, because the cluster assigns them. */
  TINTYPE_PLATFORM: z.enum(['kubernetes', 'openshift']).default('kubernetes'),
  TINTYPE_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  /** Port of /metrics, /healthz and /readyz. */
  TINTYPE_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).default(9_090),
  ...storageSettings,
  /** Credentials that sign uploads; empty: the operator's own. */
  TINTYPE_STORAGE_UPLOADS_ACCESS_KEY: z.string().default(''),
  TINTYPE_STORAGE_UPLOADS_SECRET_KEY: z.string().default(''),
  /** Public URL of the API, used for links in events; empty: links are relative. */
  TINTYPE_PUBLIC_URL: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  /** Limits of each plan, as JSON; empty: the built-in plans. */
  TINTYPE_PLANS: PlansText,
  /** Allowed kinds of options, as JSON; empty: all. */
  TINTYPE_OPTION_POLICY: OptionPolicyText,
  TINTYPE_BOOTSTRAP_ENABLED: z.stringbool().default(true),
  /** Plan of the first account. */
  TINTYPE_BOOTSTRAP_PLAN: Plan.default('scale'),
  /** Maximum size of one file in bytes. */
  TINTYPE_MAX_FILE_BYTES: z.coerce.number().int().positive().default(104_857_600),
  /** Name of the runners' ValidatingAdmissionPolicy and of its binding; by default `<release>-runner-status`. */
  TINTYPE_ADMISSION_POLICY: optionalText,
  /** SHA-256 of that policy's rules (controllers/guard/decision.ts); empty: the rules are not compared. */
  TINTYPE_ADMISSION_POLICY_HASH: optionalText,
  /** The same for the policy on users who create Screenshots, Webhooks and ApiKeys; default: `<release>-trusted-spec`. */
  TINTYPE_TRUSTED_SPEC_POLICY: optionalText,
  TINTYPE_TRUSTED_SPEC_POLICY_HASH: optionalText,
  /** The same for the policy on who writes a status; default: `<release>-trusted-status`. */
  TINTYPE_TRUSTED_STATUS_POLICY: optionalText,
  TINTYPE_TRUSTED_STATUS_POLICY_HASH: optionalText,
  /** Maximum number of queued Screenshots per account; a plan may override it. Excess ones that were created with kubectl fail. */
  TINTYPE_MAX_QUEUED_PER_ACCOUNT: z.coerce.number().int().positive().default(1_000),
  /** Seconds after which a Screenshot fails when its pool or account does not exist. */
  TINTYPE_UNRUNNABLE_SECONDS: z.coerce.number().int().positive().default(600),
  /** Minimum number of seconds after its end for which a record stays in the Kubernetes API. */
  TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS: z.coerce.number().int().min(0).default(60),
  /** Seconds after its end after which a record is archived. */
  TINTYPE_RETENTION_LIVE_FOR_SECONDS: z.coerce.number().int().positive().default(3_600),
  /** Number of finished records above which the oldest are archived early. */
  TINTYPE_RETENTION_MAX_LIVE: z.coerce.number().int().positive().default(10_000),
  /** Days after which a record is deleted from the archive. */
  TINTYPE_RETENTION_RECORD_DAYS: z.coerce.number().int().positive().default(400),
  /** Seconds after the deletion of an Account within which it can be recreated with all its data; then the data is deleted. */
  TINTYPE_RETENTION_ACCOUNT_GRACE_SECONDS: z.coerce.number().int().min(0).default(86_400),
  /** Webhook posts of one account that run at the same time. */
  TINTYPE_WEBHOOK_MAX_POSTS_PER_ACCOUNT: z.coerce.number().int().min(1).max(256).default(32),
  /** Timeout of one webhook post. */
  TINTYPE_WEBHOOK_TIMEOUT_MILLISECONDS: milliseconds(5_000),
  /** Delays before the second and the third attempt. */
  TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: z
    .string()
    .default('60000,4500000')
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.number().int().min(0)).min(1).max(2)),
  /** Private addresses that webhooks may be posted to. */
  TINTYPE_WEBHOOK_ALLOWED_CIDRS: CommaList,
  /** Host names, or *.suffix, that may resolve to private addresses. */
  TINTYPE_WEBHOOK_ALLOWED_HOSTS: CommaList,
  /** Days of continuous failures after which an endpoint is disabled; 0: never. */
  TINTYPE_WEBHOOK_DISABLE_AFTER_DAYS: z.coerce.number().min(0).default(5),
  /** Forward proxy for posts, http://[user:password@]host[:port]; empty: none. */
  TINTYPE_WEBHOOK_PROXY_URL: z.union([z.literal(''), z.url({ protocol: /^http$/ })]).default(''),
  /** PEM file of additional certificate authorities for receivers. */
  TINTYPE_WEBHOOK_EXTRA_CA_FILE: optionalText,
  /** Interval for writing counters of webhooks and lines of their delivery logs. */
  TINTYPE_WEBHOOK_FLUSH_MILLISECONDS: milliseconds(5_000),
  /** OTLP/HTTP endpoint for spans; empty: no spans are created. */
  OTEL_EXPORTER_OTLP_ENDPOINT: OtlpEndpoint,
  OTEL_EXPORTER_OTLP_HEADERS: OtlpHeaders,
  TINTYPE_LEASE_DURATION_MILLISECONDS: milliseconds(15_000),
  TINTYPE_LEASE_RENEW_DEADLINE_MILLISECONDS: milliseconds(10_000),
  TINTYPE_LEASE_RETRY_MILLISECONDS: milliseconds(2_000),
})

/**
 * Reads the environment.
 * @throws z.ZodError that lists all problems at once
 */
export function loadConfig(env: NodeJS.ProcessEnv) {
  const read = Environment.superRefine(checkStorageSettings).parse(env)
  return Object.freeze({
    namespace: read.TINTYPE_NAMESPACE,
    podName: read.TINTYPE_POD_NAME,
    podUid: read.TINTYPE_POD_UID,
    release: read.TINTYPE_RELEASE,
    platform: read.TINTYPE_PLATFORM,
    logLevel: read.TINTYPE_LOG_LEVEL,
    metricsPort: read.TINTYPE_METRICS_PORT,
    storage: toStorageAccess(read),
    storageKeysDirectory: read.TINTYPE_STORAGE_KEYS_DIRECTORY || undefined,
    uploads:
      read.TINTYPE_STORAGE_UPLOADS_ACCESS_KEY === ''
        ? undefined
        : { accessKey: read.TINTYPE_STORAGE_UPLOADS_ACCESS_KEY, secretKey: read.TINTYPE_STORAGE_UPLOADS_SECRET_KEY },
    publicUrl: read.TINTYPE_PUBLIC_URL,
    tracing: { endpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT, headers: read.OTEL_EXPORTER_OTLP_HEADERS },
    plans: read.TINTYPE_PLANS,
    optionPolicy: read.TINTYPE_OPTION_POLICY,
    bootstrap: { enabled: read.TINTYPE_BOOTSTRAP_ENABLED, plan: read.TINTYPE_BOOTSTRAP_PLAN },
    maxFileBytes: read.TINTYPE_MAX_FILE_BYTES,
    admissionPolicy: {
      name: read.TINTYPE_ADMISSION_POLICY ?? `${read.TINTYPE_RELEASE}-runner-status`,
      hash: read.TINTYPE_ADMISSION_POLICY_HASH,
    },
    trustedSpecPolicy: {
      name: read.TINTYPE_TRUSTED_SPEC_POLICY ?? `${read.TINTYPE_RELEASE}-trusted-spec`,
      hash: read.TINTYPE_TRUSTED_SPEC_POLICY_HASH,
    },
    trustedStatusPolicy: {
      name: read.TINTYPE_TRUSTED_STATUS_POLICY ?? `${read.TINTYPE_RELEASE}-trusted-status`,
      hash: read.TINTYPE_TRUSTED_STATUS_POLICY_HASH,
    },
    queue: {
      maxQueuedPerAccount: read.TINTYPE_MAX_QUEUED_PER_ACCOUNT,
      unrunnableMilliseconds: read.TINTYPE_UNRUNNABLE_SECONDS * 1_000,
    },
    retention: {
      liveMinimumMilliseconds: read.TINTYPE_RETENTION_LIVE_MINIMUM_SECONDS * 1_000,
      liveForMilliseconds: read.TINTYPE_RETENTION_LIVE_FOR_SECONDS * 1_000,
      maxLive: read.TINTYPE_RETENTION_MAX_LIVE,
      recordDays: read.TINTYPE_RETENTION_RECORD_DAYS,
      accountGraceMilliseconds: read.TINTYPE_RETENTION_ACCOUNT_GRACE_SECONDS * 1_000,
    },
    webhook: {
      maxPostsPerAccount: read.TINTYPE_WEBHOOK_MAX_POSTS_PER_ACCOUNT,
      timeoutMilliseconds: read.TINTYPE_WEBHOOK_TIMEOUT_MILLISECONDS,
      retryDelaysMilliseconds: read.TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS,
      allowedCidrs: read.TINTYPE_WEBHOOK_ALLOWED_CIDRS,
      allowedHosts: read.TINTYPE_WEBHOOK_ALLOWED_HOSTS,
      disableAfterDays: read.TINTYPE_WEBHOOK_DISABLE_AFTER_DAYS === 0 ? undefined : read.TINTYPE_WEBHOOK_DISABLE_AFTER_DAYS,
      proxyUrl: read.TINTYPE_WEBHOOK_PROXY_URL === '' ? undefined : read.TINTYPE_WEBHOOK_PROXY_URL,
      extraCaFile: read.TINTYPE_WEBHOOK_EXTRA_CA_FILE,
      flushMilliseconds: read.TINTYPE_WEBHOOK_FLUSH_MILLISECONDS,
    },
    lease: {
      leaseDurationMilliseconds: read.TINTYPE_LEASE_DURATION_MILLISECONDS,
      renewDeadlineMilliseconds: read.TINTYPE_LEASE_RENEW_DEADLINE_MILLISECONDS,
      retryMilliseconds: read.TINTYPE_LEASE_RETRY_MILLISECONDS,
    },
  })
}

/** The operator's settings, frozen at startup. */
export type Config = ReturnType<typeof loadConfig>
