import { RUNNER_PORT } from '@tintype/crds/identifiers/names'
import { EgressSpec } from '@tintype/crds/kinds/runner-pool'
import { z } from 'zod'

/** A string that contains JSON with the given schema. */
const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown
      } catch {
        context.addIssue({ code: 'custom', message: 'is not JSON' })
        return z.NEVER
      }
    })
    .pipe(schema)

const Ed25519Jwk = z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })

const Env = z.object({
  TINTYPE_POD_NAME: z.string().min(1),
  TINTYPE_POD_UID: z.string().min(1), // audience of signed requests; reports need this pod's claim
  TINTYPE_NAMESPACE: z.string().min(1),
  TINTYPE_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  TINTYPE_PORT: z.coerce.number().int().min(0).max(65_535).default(RUNNER_PORT),
  TINTYPE_DISPATCH_PUBLIC_KEY: json(Ed25519Jwk), // JWK; the operator has the private key
  TINTYPE_DISPATCH_TOKEN_FILE: z.string().default('/var/run/secrets/tintype/dispatch/token'),
  TINTYPE_EGRESS: json(EgressSpec).default({}), // RunnerPool.spec.egress
  TINTYPE_SANDBOX_MODE: z.enum(['auto', 'required', 'off']).default('auto'),
  TINTYPE_ISOLATION: z.enum(['context', 'browser']).default('context'),
  TINTYPE_MEMORY_LIMIT_BYTES: z.coerce.number().int().positive().optional(), // absent: no memory check
  TINTYPE_KUBERNETES_TOKEN_FILE: z.string().default('/var/run/secrets/tintype/kubernetes/token'),
  TINTYPE_KUBERNETES_CA_FILE: z.string().default('/var/run/secrets/tintype/kubernetes/ca.crt'),
  KUBERNETES_SERVICE_HOST: z.string().min(1),
  KUBERNETES_SERVICE_PORT: z.string().default('443'),
  TINTYPE_CHROMIUM: z.string().default('/usr/lib/chromium/chromium-headless-shell'),
  TINTYPE_JAIL_DIRECTORY: z.string().default('/app/jail'), // hold.sh, enter.sh, listen.mjs, probe.mjs
  TINTYPE_LISTS_DIRECTORY: z.string().default('/app/lists'), // filter lists, read when a capture first blocks something
  TINTYPE_FRAME_CONTROL: z.stringbool().default(true), // the runner begins the frames of its pictures (ADR 34); false: pages wait in real time
  TINTYPE_VIDEO: z.stringbool().default(false), // RunnerPool.spec.video: this runner records videos
  TINTYPE_VIDEO_DIRECTORY: z.string().default('/tmp/tintype-video'), // for videos until they are stored
  TINTYPE_FFMPEG: z.string().default('ffmpeg'),
  TINTYPE_MAX_TRAFFIC_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .default(512 * 1024 * 1024), // of one capture, in both directions
  TINTYPE_SHUTDOWN_GRACE_MILLISECONDS: z.coerce.number().int().min(0).default(8_000), // below the pod's terminationGracePeriodSeconds
})

export type Config = Readonly<z.infer<typeof Env>>

/** Reads the environment. @throws with all mistakes at once */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const parsed = Env.safeParse(env)
  if (!parsed.success) throw new Error(`the environment is not usable:\n${z.prettifyError(parsed.error)}`)
  return Object.freeze(parsed.data)
}
