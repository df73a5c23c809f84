/** What clients see of the API behind Envoy, whether an Ingress or an HTTPRoute leads there. */
import { randomBytes } from 'node:crypto'
import { signLink } from '../../../api-gateway/client/src/link/sign.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { type Finding, holds } from '../part.ts'
import { QUADRANTS } from '../stage/cluster-objects.ts'
import { replaceFile } from '../stage/replace-file.ts'
import { NAMESPACE, RELEASE } from '../stage/trial-release.ts'
import { parseLines } from './contour.ts'
import { ask, bodyOf, describe, type Front, postOverHttp2 } from './front.ts'

const MEBIBYTE = 2 ** 20
const MAX_BODY_BYTES = 8 * MEBIBYTE
/** Both are longer than a request is held. */
const HELD_DELAY_MILLISECONDS = 30_000
const LINK_DELAY_MILLISECONDS = 28_000
/** A download of 100 MiB at this rate takes longer than the 15 seconds after which Envoy ends responses by default. */
const DOWNLOAD_RATE = '5M'
/** An address that a client claims to have. */
const FORGED = '203.0.113.9'

interface Created {
  id: string
}
interface Shown {
  status: string
  download_url?: string
  storage_path?: string | null
}

/** A screenshot whose file was replaced. */
export interface LargeFile {
  id: string
  content: Buffer
}

/**
 * Captures a page and puts a file of 100 MiB in place of its picture, in the store and in the record. A picture of this size needs more time and memory
 * than a shared machine may have.
 */
export async function placeLargeFile(front: Front): Promise<LargeFile> {
  const created = await ask(front, '/api/v1/screenshots?wait=25', { body: JSON.stringify({ url: QUADRANTS }) })
  const { id } = bodyOf<Created>(created)
  const key = await eventually(
    'a picture',
    async () => bodyOf<Shown>(await ask(front, `/api/v1/screenshots/${id}`)).storage_path ?? undefined,
    300_000,
  )
  const content = randomBytes(100 * MEBIBYTE)
  await replaceFile({ id, key, content }, { namespace: NAMESPACE, name: RELEASE })
  return { id, content }
}

/** Checks all that clients need. `large` is the file to download. */
export async function checkFront(name: string, front: Front, large: LargeFile): Promise<Finding[]> {
  const findings = (
    await Promise.all([
      checkProtocols(front),
      checkHold(front),
      checkBodies(front),
      checkDownload(front, large),
      checkLink(front),
      checkAddresses(front),
      checkRequestIds(front),
      checkConditions(front),
    ])
  ).flat()
  return findings.map((finding) => ({ ...finding, shows: `${name}: ${finding.shows}` }))
}

async function checkProtocols(front: Front): Promise<Finding[]> {
  const [second, first] = [await ask(front, '/api/v1/status'), await ask(front, '/api/v1/status', { options: ['--http1.1'] })]
  const isSecond = second.status === 200 && second.version === '2'
  return [
    holds('TLS and HTTP/2 by ALPN', isSecond, `${second.status} over HTTP/${second.version}`),
    holds('TLS and HTTP/1.1', first.status === 200 && first.version === '1.1', `${first.status} over HTTP/${first.version}`),
  ]
}

/** Requests a capture that takes longer than a request is held. */
export const askHeld = (front: Front) =>
  ask(front, '/api/v1/screenshots?wait=25', { body: JSON.stringify({ url: QUADRANTS, options: { delay: HELD_DELAY_MILLISECONDS } }) })

async function checkHold(front: Front): Promise<Finding[]> {
  const response = await askHeld(front)
  const isPending = response.status === 202 && bodyOf<Shown>(response).status === 'pending'
  return [holds('a request is held for 25 s', isPending, `${describe(response)} after ${response.seconds.toFixed(1)} s`)]
}

/** A body of exactly this size. A comment in the page makes it large. */
function bodyOfSize(bytes: number): string {
  const build = (filler: string) => JSON.stringify({ options: { html: `<p>large</p><!--${filler}-->` } })
  // Two bytes a letter, because a page may have half as many letters as a body bytes.
  const letters = 'é'.repeat(Math.floor((bytes - Buffer.byteLength(build(''))) / 2))
  const short = build(letters.slice(0, 2_000_000))
  return short + ' '.repeat(bytes - Buffer.byteLength(short))
}

async function checkBodies(front: Front): Promise<Finding[]> {
  const findings: Finding[] = []
  // As clients do, repeats what the API itself could not do at the moment. readFailures shows the reason.
  const send = (bytes: number, protocol: string) =>
    eventually('a response other than SERVICE_UNAVAILABLE', async () => {
      const result = describe(await ask(front, '/api/v1/screenshots', { body: bodyOfSize(bytes), options: [protocol] }))
      return !result.startsWith('503 SERVICE_UNAVAILABLE') && result
    })
  for (const protocol of ['--http2', '--http1.1']) {
    const whole = await send(MAX_BODY_BYTES, protocol)
    findings.push(holds(`a body of 8 MiB is accepted (${protocol.slice(2)})`, whole === '202', whole))
  }
  const over = MAX_BODY_BYTES + 1
  for (const [protocol, result] of [
    ['http2', describe({ failure: '', ...(await postOverHttp2(front, '/api/v1/screenshots', bodyOfSize(over))) })],
    ['http1.1', await send(over, '--http1.1')],
  ] as const)
    findings.push(holds(`the API itself rejects one byte more (${protocol})`, result === '413 PAYLOAD_TOO_LARGE', result))
  return findings
}

async function checkDownload(front: Front, { id, content }: LargeFile): Promise<Finding[]> {
  const { download_url: link = '' } = bodyOf<Shown>(await ask(front, `/api/v1/screenshots/${id}`))
  const { body, status, seconds } = await ask(front, link, { hasKey: false, options: ['--limit-rate', DOWNLOAD_RATE] })
  const measured = `${status}, ${(body.length / MEBIBYTE).toFixed(1)} MiB in ${seconds.toFixed(1)} s`
  const part = await ask(front, link, { hasKey: false, headers: { range: `bytes=${MEBIBYTE}-${2 * MEBIBYTE - 1}` } })
  const isPart = part.status === 206 && part.body.equals(content.subarray(MEBIBYTE, 2 * MEBIBYTE))
  return [
    holds('a slow client downloads 100 MiB', status === 200 && body.equals(content), measured),
    holds('links in records lead through Envoy', link.startsWith(`https://${front.host}/`), new URL(link, 'http://relative').origin),
    holds('a range of the file', isPart, `${part.status}, ${part.body.length} bytes`),
  ]
}

async function checkLink(front: Front): Promise<Finding[]> {
  const key = bodyOf<{ data: { id: string }[] }>(await ask(front, '/api/v1/keys')).data[0]!.id
  // After the installation, a gateway may see the key of the release for links two minutes later.
  const secret = await eventually(
    'the link secret',
    async () => {
      const response = await ask(front, `/api/v1/keys/${key}/link-secret`, { method: 'POST' })
      return response.status === 200 && bodyOf<{ data: { link_secret: string } }>(response).data.link_secret
    },
    300_000,
  )
  // Each request for a link with a value of its own is a capture of its own.
  const params = { url: `${QUADRANTS}?at=${Date.now()}`, delay: LINK_DELAY_MILLISECONDS, viewport_width: 640 }
  const link = await signLink({ baseUrl: `https://${front.host}`, key, secret, params })
  const picture = await ask(front, link, { hasKey: false, options: ['--location'] })
  const isPicture = picture.status === 200 && picture.headers['content-type'] === 'image/png'
  const measured = `${picture.redirects} redirect, then ${describe(picture)} ${picture.headers['content-type'] ?? ''}`
  const again = await ask(front, link, { hasKey: false, headers: { 'if-none-match': picture.headers.etag ?? '' } })
  return [
    holds('a signed link redirects to itself until its picture is ready', isPicture && picture.redirects > 0, measured),
    holds('the link is 304 for a client that has the picture', again.status === 304, describe(again)),
  ]
}

interface GatewayLine {
  msg: string
  requestId?: string
  clientAddress?: string
  err?: { message?: string; stack?: string }
}

/** Log lines of both gateways. */
async function readGatewayLog(): Promise<GatewayLine[]> {
  const selector = `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=api-gateway`
  return parseLines<GatewayLine>(await kubectl(['logs', '-n', NAMESPACE, '-l', selector, '--tail=-1']))
}

/** Reasons of responses with 5xx, from the log of the gateways and from the access log. */
export async function readFailures({ envoy }: Front): Promise<string[]> {
  const ofGateway = (await readGatewayLog()).flatMap(({ msg, err }) => (msg === 'request failed' ? [err?.stack ?? err?.message ?? ''] : []))
  const ofEnvoy = (await envoy.readAccessLog()).filter(({ response_code }) => response_code >= 500)
  return [...ofGateway, ...ofEnvoy.map(({ response_code, response_flags, path }) => `Envoy: ${response_code} ${response_flags} ${path}`)]
}

/** The gateway's log line of a request. */
const whenLogged = (id: string): Promise<GatewayLine> =>
  eventually('the log line of the gateway', async () =>
    (await readGatewayLog()).find(({ msg, requestId }) => msg === 'request completed' && requestId === id),
  )

async function checkAddresses(front: Front): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const headers of [{}, { 'x-forwarded-for': FORGED }] as Record<string, string>[]) {
    const { headers: received } = await ask(front, '/api/v1/status', { headers })
    const { clientAddress = 'none' } = await whenLogged(received['x-request-id'] ?? '')
    const shows = 'x-forwarded-for' in headers ? 'an address that the client claims has no effect' : 'the address of the client arrives'
    findings.push(holds(shows, clientAddress === front.clientAddress, clientAddress))
  }
  return findings
}

async function checkRequestIds(front: Front): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const given of [undefined, `soak-${Date.now()}`]) {
    const headers: Record<string, string> = given === undefined ? {} : { 'x-request-id': given }
    const response = await ask(front, '/api/v1/screenshots/scr_none', { headers })
    const id = response.headers['x-request-id'] ?? ''
    const inBody = bodyOf<{ error: { request_id: string } }>(response).error.request_id
    await whenLogged(id)
    const isInAccessLog = await eventually(
      'the line in the access log',
      async () => (await front.envoy.readAccessLog()).some(({ request_id }) => request_id === id),
      30_000,
    ).catch(() => false)
    const isSame = id !== '' && inBody === id && (given ?? id) === id && isInAccessLog
    const shows = given === undefined ? 'the request id of Envoy' : 'the request id of the client'
    findings.push(holds(`${shows} is in the response, the gateway's log and the access log`, isSame, id))
  }
  return findings
}

/** Envoy compresses JSON, and then removes the entity tag. It must not do that to records. */
async function checkConditions(front: Front): Promise<Finding[]> {
  const body = JSON.stringify({ name: 'soak', scopes: ['usage:read'] })
  const created = bodyOf<{ data: { id: string } }>(await ask(front, '/api/v1/keys', { body }))
  const key = `/api/v1/keys/${created.data.id}`
  const { headers: received } = await ask(front, key, { options: ['--compressed'] })
  const { etag = '' } = received
  const rename = (name: string) => ask(front, key, { method: 'PATCH', headers: { 'if-match': etag }, body: JSON.stringify({ name }) })
  const [first, second] = [await rename('renamed'), await rename('renamed again')]
  await ask(front, key, { method: 'DELETE' })
  const list = await ask(front, '/api/v1/keys', { options: ['--compressed'] })
  const encoding = list.headers['content-encoding'] ?? 'none'
  return [
    holds('lists are compressed for clients that accept it', encoding === 'gzip', `${describe(list)}, content-encoding: ${encoding}`),
    holds('records keep their ETag for such clients', etag !== '', etag || 'no ETag'),
    holds('If-Match accepts it', first.status === 200, describe(first)),
    holds('If-Match refuses it after a change', describe(second) === '412 PRECONDITION_FAILED', describe(second)),
  ]
}

/** An Ingress redirects http:// to https://. */
export async function checkRedirect(name: string, front: Front): Promise<Finding> {
  const { status, headers } = await ask(front, `http://${front.host}/api/v1/status`)
  const isRedirected = status === 301 && headers.location === `https://${front.host}/api/v1/status`
  return holds(`${name}: http:// redirects to https://`, isRedirected, `${status} ${headers.location ?? ''}`)
}

/** Without the setting of the chart or of its example, Envoy ends the response. Shows that the checks would notice. */
export async function checkControl(name: string, front: Front): Promise<Finding> {
  const response = await askHeld(front)
  const shows = `${name}: control: without the time-out of the example, Envoy ends a held request`
  return holds(shows, response.status === 504, `${describe(response)} after ${response.seconds.toFixed(1)} s`)
}
