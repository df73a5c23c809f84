import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { complete } from '../../integration/api-gateway/runner-role.ts'
import { eventually } from '../../support/eventually.ts'
import { readMemory } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { summarize } from '../harness/statistics.ts'
import { type GatewayPod, plane } from './stage/plane.ts'
import { prepareGateway, readMetric } from './stage/programs.ts'
import { bodyOf, send } from './stage/requests.ts'

const UNREAD = 300
const TRICKLING = 50
const MANY_LINKS = 50
/** More than the buffers of a connection that nobody reads. */
const FILE_BYTES = 8 * 2 ** 20
/** The file that clients read. */
const READ_BYTES = 200_000
/** All slots of a replica. */
const SLOTS = 256
/** Until after slow downloads are known as such, which takes 30 seconds. */
const ATTACK_SECONDS = 60
const REST_SECONDS = 15
const PAUSE_MILLISECONDS = 250
const BAR_MILLISECONDS = 1_000

/** Another account's view. */
interface Seen {
  posts: number[]
  files: number[]
  /** Requests over the bar: what, how long, and how long after the start of the attack. */
  slow: string[]
  faults: string[]
}

export const downloads = scenario({
  name: 'downloads',
  shows: `${UNREAD} unread and ${TRICKLING} trickling downloads of one account, by one link and by many: another account’s requests work`,
  stage: plane(),
  run: async ({ stage, ...report }) => {
    const { gateway, keys } = await prepareGateway(stage, { attacker: 'scale', other: 'scale' })
    const [attacker = '', other = ''] = keys
    const content = randomBytes(FILE_BYTES)
    const url = `${gateway.url}/v1/screenshots`
    const capture = async (key: string, bytes: Buffer): Promise<string> => {
      const { id } = bodyOf<{ id: string }>(await send(url, { method: 'POST', key, body: { url: 'https://example.com/' } }), 202)
      await complete(id, bytes, stage)
      return bodyOf<{ download_url: string }>(await send(`${url}/${id}?wait=10`, { key }), 200).download_url
    }
    report.progress(`storing ${MANY_LINKS} files`)
    const links: string[] = []
    for (let n = 0; n < MANY_LINKS; n++) links.push(await capture(attacker, content))
    const own = await capture(other, content.subarray(0, READ_BYTES))
    const popular = await capture(attacker, content.subarray(0, READ_BYTES))

    const { residentMebibytes } = readMemory(gateway.pid)
    report.progress(`${SLOTS} downloads of one link at the same moment`)
    const busy = await Promise.all(Array.from({ length: SLOTS }, () => download(popular)))
    const whole = busy.filter(({ fault }) => fault === '').length
    const slowest = Math.max(...busy.map(({ milliseconds }) => milliseconds)).toFixed(0)
    const claim = `one account downloads one link ${SLOTS} times at the same moment`
    report.holds(claim, whole === busy.length, `${whole} complete in ${slowest} ms`)
    const rows: string[][] = []
    for (const { what, used } of [
      // The same requests without an attack show what the machine needs for them.
      { what: 'none', used: [] },
      { what: 'one link', used: links.slice(0, 1) },
      { what: `${MANY_LINKS} links`, used: links },
    ]) {
      report.progress(`attack: ${what}`)
      const before = await readCounts(gateway)
      const seen = await attack(gateway, used, { key: other, link: own })
      const after = await readCounts(gateway)
      await eventually('all slots are free again', async () => (await readMetric(gateway, 'screenshot_downloads_active')) === 0)
      report.holds(`${what}: every request of the other account succeeds`, seen.faults.length === 0, describe(seen))
      report.atMost(`${what}: slowest POST of the other account`, Math.max(...seen.posts), BAR_MILLISECONDS, 'ms')
      report.atMost(`${what}: slowest download of the other account`, Math.max(...seen.files), BAR_MILLISECONDS, 'ms')
      const [posts, files] = [summarize(seen.posts), summarize(seen.files)]
      const counts = Object.keys(after).map((name) => String((after[name] ?? 0) - (before[name] ?? 0)))
      rows.push([what, ...[posts.p50, posts.p95, files.p50, files.p95].map((value) => value.toFixed(0)), ...counts])
    }
    const { peakMebibytes } = readMemory(gateway.pid)
    report.note('peak memory of the gateway', `${peakMebibytes.toFixed(0)} MiB, ${residentMebibytes.toFixed(0)} MiB at rest`)
    const head = ['attack', 'POST p50 ms', 'POST p95 ms', 'download p50 ms', 'download p95 ms', ...Object.keys(await readCounts(gateway))]
    report.table({ title: 'The other account during the attack, and what the gateway refused and ended', head, rows })
  },
})

/** Attacks, and sends requests of another account meanwhile. */
async function attack(gateway: GatewayPod, links: readonly string[], { key, link }: { key: string; link: string }): Promise<Seen> {
  const over = new AbortController()
  const count = links.length > 0 ? UNREAD + TRICKLING : 0
  const attackers = Array.from({ length: count }, (_, n) =>
    keepDownloading(links[n % links.length] ?? '', n < UNREAD ? 'unread' : 'trickle', over.signal),
  )
  const isFull = async () => (await readMetric(gateway, 'screenshot_downloads_active')) >= SLOTS
  if (count > 0) await eventually('all slots are in use', isFull)
  const seen: Seen = { posts: [], files: [], slow: [], faults: [] }
  const note = (what: string, milliseconds: number) => {
    if (milliseconds > BAR_MILLISECONDS)
      seen.slow.push(`${what} of ${milliseconds.toFixed(0)} ms after ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
  }
  const begun = performance.now()
  const end = begun + (count > 0 ? ATTACK_SECONDS : REST_SECONDS) * 1_000
  while (performance.now() < end) {
    const started = performance.now()
    const { status, text } = await send(`${gateway.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' } })
    seen.posts.push(performance.now() - started)
    note('POST', performance.now() - started)
    if (status !== 202) seen.faults.push(`POST ${status} ${text.slice(0, 100)}`)
    const { fault, milliseconds } = await download(link)
    seen.files.push(milliseconds)
    note('download', milliseconds)
    if (fault !== '') seen.faults.push(fault)
    await sleep(PAUSE_MILLISECONDS)
  }
  over.abort()
  await Promise.all(attackers)
  return seen
}

/** Downloads a file completely, and keeps nothing of it. */
async function download(link: string): Promise<{ fault: string; milliseconds: number }> {
  const started = performance.now()
  const end = (fault: string) => ({ fault, milliseconds: performance.now() - started })
  try {
    const response = await fetch(link)
    await response.body?.pipeTo(new WritableStream())
    return end(response.status === 200 ? '' : `download ${response.status}`)
  } catch (error) {
    return end(`download ${error instanceof Error ? error.message : error}`)
  }
}

const describe = ({ posts, files, slow, faults }: Seen): string =>
  [`${posts.length} POSTs and ${files.length} downloads, ${faults.length} failed`, ...faults.slice(0, 3), ...slow].join('; ')

/** Refused and ended downloads by reason. */
async function readCounts(gateway: GatewayPod): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const [what, reasons] of [
    ['refused', ['account', 'file', 'replica']],
    ['ended', ['stalled', 'slow', 'share']],
  ] as const)
    for (const reason of reasons) counts[`${what}: ${reason}`] = await readMetric(gateway, `screenshot_downloads_${what}_total`, { reason })
  return counts
}

// Clients that request files and do not read them, or read them slowly. They come back when the gateway refuses or ends them.

const TRICKLE_BYTES = 2_048
const TRICKLE_MILLISECONDS = 15_000
const RETRY_MILLISECONDS = 1_000

/** What a client does with a response. */
type SlowClient = 'unread' | 'trickle'

/** Requests the link again and again until the signal is aborted. */
async function keepDownloading(link: string, how: SlowClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await downloadOnce(link, how, signal)
    await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => {})
  }
}

/** Resolves when the gateway or the signal has ended the connection. */
async function downloadOnce(link: string, how: SlowClient, signal: AbortSignal): Promise<void> {
  const { hostname, port, pathname, search } = new URL(link)
  let isFirst = true
  const socket = connect({
    host: hostname,
    port: Number(port),
    // Reads at most one buffer, and then nothing until the connection is resumed.
    onread: {
      buffer: Buffer.alloc(TRICKLE_BYTES),
      callback: (length, buffer) => {
        // A refusal ends the attempt.
        if (isFirst && !Buffer.from(buffer.buffer, 0, length).toString('latin1').startsWith('HTTP/1.1 200')) socket.destroy()
        isFirst = false
        return false
      },
    },
  })
  const end = () => void socket.destroy()
  signal.addEventListener('abort', end)
  const reading = how === 'trickle' ? setInterval(() => socket.resume(), TRICKLE_MILLISECONDS) : undefined
  // An empty line before the next request is valid. It fails after the gateway has closed the connection, which a client that does not read would not notice.
  const writing = setInterval(() => socket.write('\r\n'), RETRY_MILLISECONDS)
  socket.on('error', () => {})
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(reading)
  clearInterval(writing)
  signal.removeEventListener('abort', end)
}
