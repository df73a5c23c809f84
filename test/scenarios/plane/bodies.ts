import { mkdir, writeFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { buildDocument } from '../../../api-gateway/src/openapi/document.ts'
import { eventually } from '../../support/eventually.ts'
import { readMemory } from '../harness/processes.ts'
import { type Report, scenario } from '../harness/scenario.ts'
import { type GatewayPod, type Plane, plane } from './stage/plane.ts'
import { prepareAccountsAndRunners, readMetric } from './stage/programs.ts'

const MEBIBYTE = 2 ** 20
const MAX_MEBIBYTES = 250
const MAX_BLOCK_MILLISECONDS = 250
const MAX_HTML = 2_097_152
const LARGE_AT_ONCE = 10
const CONNECTIONS = 200
const ACCEPTED = 202

const repeat = (text: string, bytes: number): string => text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)
const FOUR_MB = 4_000_000
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
const html = (text: string) => `{"options":{"html":"${text}"}}`
const hostile = (name: string, text: string | Buffer, more: Partial<SentBody> & { status?: number } = {}) => ({
  ...{ name, status: 400, bytes: Buffer.from(text) },
  ...more,
})

/** Bodies of at most 4 MB on the wire, with the status that they get with an API key. */
const hostileBodies = () => [
  hostile('many small objects and an escape', `["\\u0041",${repeat('{},', FOUR_MB)}{}]`),
  hostile('nested lists', '['.repeat(FOUR_MB)),
  hostile('nested lists and __proto__', `{"__proto__":${'['.repeat(FOUR_MB)}`),
  hostile('flat objects and an escape', `[${repeat('{"\\u0061":1},', FOUR_MB)}{}]`),
  hostile('one long text', `{"url":"${'x'.repeat(FOUR_MB)}"}`),
  // Of our own.
  hostile('quotes and backslashes', html('\\"\\\\'.repeat(FOUR_MB / 4)), { status: ACCEPTED }),
  hostile('one long name', `{"${'\\u005f'.repeat(FOUR_MB / 6)}":1}`),
  hostile('300 kB in HTTP chunks of one byte', `{"url":"${'x'.repeat(300_000)}"}`, { isInTinyChunks: true }),
  hostile('a gzip of 1 GB', gzipSync(Buffer.alloc(2 ** 30, ' ')), { headers: { 'content-encoding': 'gzip' }, status: 413 }),
  hostile('a br of 1 GB', brotliCompressSync(Buffer.alloc(2 ** 30, ' '), FAST), { headers: { 'content-encoding': 'br' }, status: 413 }),
  hostile('many unknown names', `{"options":{${Array.from({ length: 19_000 }, (_, n) => `"fullpage${n}":1`).join(',')}}}`),
  hostile('bytes that are not UTF-8', Buffer.from(`{"url":"${'é'.repeat(FOUR_MB)}"}`, 'latin1')),
]

/** HTML of the documented size in which every character is an escape: 12.6 MB. */
const LARGE: SentBody = { bytes: Buffer.from(html('\\u4e2d'.repeat(MAX_HTML))) }
/** 3.9 of 4.1 MB. */
const STALLED: SentBody = { bytes: Buffer.from(html('x'.repeat(3_900_000)).slice(0, 3_900_000)), declaredBytes: 4_100_000 }
const DRIPPING: SentBody = { bytes: Buffer.from('{"url":'), declaredBytes: 1_000_000, dripMilliseconds: 1_000 }

interface Clients {
  gateway: GatewayPod
  keys: string[]
}

const withKey = ({ gateway, keys }: Clients, index = 0) => ({
  url: `${gateway.url}/v1/screenshots`,
  method: 'POST',
  headers: { authorization: `Bearer ${keys[index]}` },
})
const fromConsole = { 'x-tintype-console': '1', 'sec-fetch-site': 'same-origin' }
const signIn = ({ gateway }: Clients) => ({ url: `${gateway.url}/console/session`, method: 'POST', headers: fromConsole })

export const bodies = scenario({
  name: 'bodies',
  shows: 'memory and event loop of one gateway that gets hostile, stalled, slow and large bodies',
  stage: plane({ fsync: false }),
  run: async ({ stage, ...report }) => {
    const clients = await prepare(stage)
    const { gateway } = clients
    const rows: string[][] = []
    /** Runs one attack, and adds the memory and the longest block of the event loop to the table. */
    const measure = async (name: string, attack: () => Promise<string>): Promise<number> => {
      await longestBlock(gateway)
      const responses = await attack()
      const block = await longestBlock(gateway)
      const { residentMebibytes, peakMebibytes } = readMemory(gateway.pid)
      const row = [name, responses, ...[residentMebibytes, peakMebibytes, block].map((value) => value.toFixed(0))]
      report.progress(row.join(', '))
      rows.push(row)
      return block
    }
    const idle = readMemory(gateway.pid)
    rows.push(['idle', '', idle.residentMebibytes.toFixed(0), idle.peakMebibytes.toFixed(0), ''])

    const blocks: number[] = []
    for (const { name, status, ...body } of hostileBodies()) {
      const block = await measure(name, async () => {
        const seen = await sendBody(withKey(clients), body)
        report.holds(`${name}: ${status}`, seen.status === status, describe(seen))
        const anonymous = await sendBody(signIn(clients), body)
        report.holds(`${name}, without a key: refused`, anonymous.status >= 400 && anonymous.status < 500, describe(anonymous))
        return `${seen.status}, ${anonymous.status}`
      })
      blocks.push(block)
    }
    for (const [what, body] of [
      ['stalled', STALLED],
      ['dripping', DRIPPING],
    ] as const) {
      const block = await measure(`${CONNECTIONS} ${what} bodies`, async () => {
        const all = Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => sendBody(withKey(clients, n % 2), body)))
        await sleep(2_000)
        await checkOtherAccount(report, `beside ${what} bodies`, clients)
        return countStatuses(await all)
      })
      blocks.push(block)
    }
    const blockOfRoutes = await measure('every route, with and without a key', async () => {
      const failures = await walk(clients)
      report.holds('every route responds before a body that never ends', failures.length === 0, failures.join(', ') || 'all')
      return failures.length === 0 ? 'all respond' : `${failures.length} fail`
    })
    blocks.push(blockOfRoutes)
    const blocksOfLarge: number[] = []
    for (const round of [1, 2, 3]) {
      const block = await measure(`${LARGE_AT_ONCE} bodies of 12.6 MB, two keys, round ${round}`, async () => {
        const all = await Promise.all(Array.from({ length: LARGE_AT_ONCE }, (_, n) => sendBody(withKey(clients, n % 2), LARGE)))
        const isRight = all.every(({ status, retryAfter }) => status === ACCEPTED || (status === 503 && retryAfter !== undefined))
        report.holds('large bodies are accepted, or get 503 with Retry-After', isRight, countStatuses(all))
        return countStatuses(all)
      })
      blocksOfLarge.push(block)
    }
    const large = await eventually('a body of 12.6 MB is accepted', async () => {
      const response = await sendBody(withKey(clients), LARGE)
      return response.status === ACCEPTED && response
    })
    report.table({ title: 'One gateway with the default memory', head: ['bodies', 'responses', 'MiB', 'peak MiB', 'blocked ms'], rows })
    report.holds('2,097,152 characters of HTML as escapes are accepted', large.status === ACCEPTED, describe(large))
    const isRunning = gateway.process.exitCode === null && gateway.process.signalCode === null
    report.holds('the gateway never restarts', isRunning, isRunning ? 'running' : gateway.output().slice(-300))
    const held = await readMetric(gateway, 'http_request_body_bytes')
    report.holds('no body is held in the end', held === 0, `${held} bytes`)
    report.atMost('peak memory of the gateway', readMemory(gateway.pid).peakMebibytes, MAX_MEBIBYTES, 'MiB')
    report.atMost('longest block of the event loop, bodies of up to 4 MB', Math.max(...blocks), MAX_BLOCK_MILLISECONDS, 'ms')
    report.note('longest block of the event loop, bodies of 12.6 MB', `${Math.max(...blocksOfLarge).toFixed(0)} ms`)
  },
})

/** A gateway with a console, and keys of several accounts. */
async function prepare(stage: Plane): Promise<Clients> {
  const directory = path.join(stage.directory, 'console')
  await mkdir(path.join(directory, 'assets'), { recursive: true })
  await writeFile(path.join(directory, 'index.html'), '<!doctype html>')
  await stage.startOperator()
  return prepareAccountsAndRunners(stage, { runners: 2, gateway: { environment: { TINTYPE_CONSOLE_DIRECTORY: directory } } })
}

/** Milliseconds of the longest block since the last call: prom-client starts a new histogram with every scrape. */
const longestBlock = async (gateway: GatewayPod): Promise<number> => 1_000 * (await readMetric(gateway, 'nodejs_eventloop_lag_max_seconds'))

async function checkOtherAccount({ holds }: Report, when: string, clients: Clients): Promise<void> {
  const response = await sendBody(withKey(clients, 2), { bytes: Buffer.from('{"url":"https://example.com/"}') })
  holds(`another account works ${when}`, response.status === ACCEPTED, describe(response))
}

/** Sends a body that never ends to every route. Returns the routes that do not respond as they should. */
async function walk({ gateway, keys }: Clients): Promise<string[]> {
  const { paths } = buildDocument() as unknown as { paths: Record<string, Record<string, { security: object[] }>> }
  const operations = Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path: template.replaceAll(/\{\w+\}/g, 'x'),
      needsKey: security.length > 0 && security.every((entry) => Object.keys(entry).length > 0),
    })),
  )
  const body: SentBody = { bytes: Buffer.from('['.repeat(40)), declaredBytes: MEBIBYTE }
  const failures: string[] = []
  for (const { method, path: route, needsKey } of operations) {
    const url = gateway.url + route
    const without = await sendBody({ url, method, headers: {} }, body)
    if (needsKey ? without.status !== 401 : without.status === 0 || without.status >= 500)
      failures.push(`${method} ${route} without a key: ${describe(without)}`)
    const response = await sendBody({ url, method, headers: { authorization: `Bearer ${keys[3]}` } }, body)
    if (response.status === 0 || response.status >= 500) failures.push(`${method} ${route}: ${describe(response)}`)
  }
  return failures
}

const describe = ({ status, text }: Response): string => `${status} ${text.slice(0, 100)}`

function countStatuses(responses: readonly Response[]): string {
  const counts = Map.groupBy(responses, ({ status }) => status)
  return [...counts].map(([status, all]) => `${all.length} × ${status}`).join(', ')
}

// Requests whose bodies are invalid, huge or never end, on connections of their own.

/** A body as it is sent. */
interface SentBody {
  bytes: Buffer
  headers?: Record<string, string>
  /** Content-Length, if the body never reaches it. Default: the length of the bytes. */
  declaredBytes?: number
  /** Sends each byte in an HTTP chunk of its own. */
  isInTinyChunks?: boolean
  /** After the bytes, sends one more byte each time this passes. */
  dripMilliseconds?: number
}

/** A response; status 0: the connection ended without one. */
interface Response {
  status: number
  text: string
  retryAfter: string | undefined
}

interface Target {
  url: string
  method: string
  headers: Record<string, string>
}

const TIMEOUT_MILLISECONDS = 120_000
const PIECE_BYTES = 65_536
const JSON_TYPE = { 'content-type': 'application/json' }

/** Sends a body, and stops when the response arrives. */
function sendBody({ url, method, headers }: Target, body: SentBody): Promise<Response> {
  const { bytes, declaredBytes, isInTinyChunks = false, dripMilliseconds } = body
  const length: Record<string, string> = isInTinyChunks ? {} : { 'content-length': String(declaredBytes ?? bytes.length) }
  const all = { ...JSON_TYPE, ...length, ...headers, ...body.headers }
  return new Promise((resolve) => {
    let drip: NodeJS.Timeout | undefined
    const request = http.request(url, { method, agent: new http.Agent({ keepAlive: true }), headers: all, timeout: TIMEOUT_MILLISECONDS })
    const end = (response: Response): void => {
      clearInterval(drip)
      request.destroy()
      resolve(response)
    }
    request.on('response', (response) => {
      let text = ''
      const done = () => end({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] })
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', done).on('error', done)
    })
    request.on('timeout', () => end({ status: 0, text: 'no response', retryAfter: undefined }))
    request.on('error', (error) => end({ status: 0, text: error.message, retryAfter: undefined }))
    const write = async (): Promise<void> => {
      const size = isInTinyChunks ? 1 : PIECE_BYTES
      for (let start = 0; start < bytes.length && !request.destroyed; start += size) {
        if (!request.write(bytes.subarray(start, start + size))) await drained(request)
      }
      if (dripMilliseconds !== undefined) drip = setInterval(() => request.write(' '), dripMilliseconds)
      else if (declaredBytes === undefined) request.end()
      else request.flushHeaders()
    }
    void write()
  })
}

/** Resolves when more can be written, or when the connection has ended. */
function drained(request: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      request.off('drain', end).off('close', end)
      resolve()
    }
    request.on('drain', end).on('close', end)
  })
}
