import { type ServiceStatus, Tintype, TintypeError } from '../../../client/src/index.ts'
import { EXIT, explainConnection } from '../common/errors.ts'
import { API_VERSION } from '../generated/options.ts'
import type { Settings } from '../settings/settings.ts'
import type { Command } from './context.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Checks the settings, the connection, the service and the API key',
  async run(context) {
    let problems = 0
    for await (const finding of diagnose(context.settings, context.world.signal)) {
      const { check, status, message } = finding
      if (status === 'problem') problems += 1
      context.show(finding, `${status.padEnd(8)} ${check.padEnd(10)} ${message}`)
    }
    return problems === 0 ? EXIT.ok : EXIT.failed
  },
}

export interface Finding {
  check: 'url' | 'connection' | 'version' | 'database' | 'storage' | 'key' | 'read' | 'write' | 'quota'
  /** A warning does not fail the diagnosis. */
  status: 'ok' | 'warning' | 'problem'
  /** What was found, and what to do. */
  message: string
}

const TIMEOUT_MILLISECONDS = 10_000
const CREATE_KEY = 'Create another key with `tintype keys create`, or ask an administrator of the service.'

const ok = (check: Finding['check'], message: string): Finding => ({ check, status: 'ok', message })
const warning = (check: Finding['check'], message: string): Finding => ({ check, status: 'warning', message })
const problem = (check: Finding['check'], message: string): Finding => ({ check, status: 'problem', message })

/** A page of another program can also be JSON. */
const isStatus = (body: ServiceStatus | undefined): body is ServiceStatus =>
  typeof body?.version === 'string' && body.components?.database?.status !== undefined && body.components.storage?.status !== undefined

const noTintype = (server: URL, found: string): Finding =>
  problem('connection', `${server.origin} responds, but is no Tintype: ${found}. Check the host, the port and the path of the URL.`)

function explainStatusError(error: unknown, server: URL): Finding {
  if (!(error instanceof TintypeError)) throw error
  const { code, status } = error
  if (code === 'CONNECTION_FAILED') return problem('connection', explainConnection(error, server))
  if (code === 'REQUEST_TIMEOUT') {
    return problem(
      'connection',
      `${server.host} sent no response within ${TIMEOUT_MILLISECONDS / 1_000} seconds. Check firewalls, proxies and the gateway.`,
    )
  }
  if (code === 'INVALID_CONFIGURATION') {
    return problem('connection', error.message.replaceAll('baseUrl', 'the URL'))
  }
  if (status === 502 || status === 503 || status === 504) {
    return problem(
      'connection',
      `a proxy at ${server.host} cannot reach the gateway (HTTP ${status}). Check that the gateway’s pods are ready.`,
    )
  }
  return noTintype(server, status === 200 ? 'GET /api/v1/status returns no JSON' : `GET /api/v1/status returns HTTP ${status}`)
}

const partsOf = (version: string): [number, number] => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return [major, minor]
}

function compareVersions(version: string): Finding {
  const [[major, minor], [ownMajor, ownMinor]] = [partsOf(version), partsOf(API_VERSION)]
  if (major !== ownMajor) {
    const remedy = major > ownMajor ? 'Update this program.' : 'Use the version of this program that belongs to the service.'
    return problem('version', `the service has API ${version}, and this program needs ${ownMajor}.x. ${remedy}`)
  }
  if (minor < ownMinor) {
    return warning(
      'version',
      `the service has API ${version}, which is older than ${API_VERSION}. It refuses options that it does not know; update the service.`,
    )
  }
  if (minor > ownMinor) {
    return warning('version', `the service has API ${version}, which is newer than ${API_VERSION}. Update this program to use new options.`)
  }
  return ok('version', `API ${version}`)
}

const INSPECT = 'Ask an administrator to check'
/** What is said about a component that is slow, or does not respond. */
const COMPONENTS = {
  database: {
    slow: 'the Kubernetes API is slow',
    outage: `the gateway cannot reach the Kubernetes API. ${INSPECT} the API server and the gateway’s RBAC.`,
    remedy: `${INSPECT} the API server.`,
  },
  storage: {
    slow: 'the bucket is slow',
    outage: `the gateway cannot reach the bucket. ${INSPECT} the object store and its credentials.`,
    remedy: `${INSPECT} the object store.`,
  },
} as const

const evaluateComponents = ({ components }: ServiceStatus): Finding[] =>
  (['database', 'storage'] as const).map((name) => {
    const { status, response_time_ms: milliseconds } = components[name]
    const { slow, outage, remedy } = COMPONENTS[name]
    if (status === 'outage') return problem(name, outage)
    return status === 'degraded' ? warning(name, `${slow} (${milliseconds} ms). ${remedy}`) : ok(name, `responds in ${milliseconds} ms`)
  })

/** What a failed call with the API key means. Undefined if it shows that the key works. */
function explainKeyError(error: unknown, check: Finding['check']): Finding | undefined {
  if (!(error instanceof TintypeError)) throw error
  const { code, message } = error
  if (code === 'INSUFFICIENT_SCOPE' || code === 'VALIDATION_ERROR') return undefined
  if (code === 'UNAUTHORIZED' || code === 'INVALID_API_KEY') {
    return problem(check, `the service refuses the API key: it is unknown, inactive, expired or deleted. ${CREATE_KEY}`)
  }
  if (code === 'ACCOUNT_SUSPENDED') return problem(check, 'the account of the API key is suspended. Ask an administrator of the service.')
  return problem(check, message)
}

const lacksScope = (error: unknown): boolean => error instanceof TintypeError && error.code === 'INSUFFICIENT_SCOPE'

/** Reads the quota, which also tells whether the key is valid. A key without the scope `usage:read` is valid too. */
async function checkKey(client: Tintype, settings: Settings, signal: AbortSignal): Promise<Finding[]> {
  try {
    const { count, limit, remaining, reset_at: resetAt, overage } = await client.usage.get({ signal })
    const key = ok('key', `valid (${settings.keySource})`)
    if (remaining > 0 || overage !== undefined) return [key, ok('quota', `${count} of ${limit} units used this month`)]
    return [
      key,
      problem('quota', `all ${limit} units of the month are used. Wait until ${resetAt}, or ask an administrator for a larger plan.`),
    ]
  } catch (error) {
    signal.throwIfAborted()
    const found = explainKeyError(error, 'key')
    if (found) return [found]
    return [ok('key', `valid (${settings.keySource})`), warning('quota', 'unknown, because the key lacks the scope usage:read')]
  }
}

const ALLOWED = { read: 'the key may read screenshots', write: 'the key may create screenshots' } as const

/** Makes a call that needs a scope. A refusal for another reason also shows that the key has it. */
async function checkScope(check: 'read' | 'write', call: () => Promise<unknown>, signal: AbortSignal): Promise<Finding> {
  const allowed = ok(check, ALLOWED[check])
  try {
    await call()
    return allowed
  } catch (error) {
    signal.throwIfAborted()
    if (!lacksScope(error)) return explainKeyError(error, check) ?? allowed
    return problem(check, `the API key lacks the scope screenshots:${check}, which \`tintype shot\` needs. ${CREATE_KEY}`)
  }
}

/** Checks the settings, the connection, the service and the API key, in this order. Later checks need the earlier ones. */
async function* diagnose(settings: Settings, signal: AbortSignal): AsyncGenerator<Finding, void, undefined> {
  const { url, apiKey, urlSource } = settings
  if (url === undefined) {
    return yield problem('url', 'the URL of the service is not set. Set TINTYPE_URL, or run `tintype config set URL -`.')
  }
  if (!URL.canParse(url) || !/^https?:\/\//i.test(url)) {
    return yield problem('url', `"${url}" (${urlSource}) is no http or https URL. Use a URL such as https://tintype.example.com.`)
  }
  const server = new URL(url)
  yield ok('url', `${url} (${urlSource})`)
  const anonymous = new Tintype({ baseUrl: url, retries: 0, timeout: TIMEOUT_MILLISECONDS })
  let status: ServiceStatus
  try {
    status = await anonymous.status.get({ signal })
  } catch (error) {
    signal.throwIfAborted()
    return yield explainStatusError(error, server)
  }
  if (!isStatus(status)) return yield noTintype(server, 'GET /api/v1/status returns something else')
  yield ok('connection', `Tintype responds in ${status.response_time_ms} ms`)
  yield compareVersions(status.version)
  yield* evaluateComponents(status)
  if (apiKey === undefined) {
    return yield problem('key', 'the API key is not set. Set TINTYPE_API_KEY, or run `tintype config set URL -`.')
  }
  if (!/^[!-~]+$/.test(apiKey)) {
    return yield problem(
      'key',
      `the API key (${settings.keySource}) is empty or contains spaces. Copy it again, without quotes and line breaks.`,
    )
  }
  const client = new Tintype({ baseUrl: url, apiKey, retries: 1, timeout: TIMEOUT_MILLISECONDS })
  const findings = await checkKey(client, settings, signal)
  yield* findings
  if (findings.some(({ check, status: result }) => check === 'key' && result === 'problem')) return
  yield await checkScope('read', () => client.screenshots.list({ limit: 1, signal })[Symbol.asyncIterator]().next(), signal)
  // Without a URL, the service refuses the request after it has checked the scope. Nothing is created or charged.
  yield await checkScope('write', () => client.screenshots.create({ url: '', signal }), signal)
}
