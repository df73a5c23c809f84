import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import t, { type Test } from 'tap'
import { runBatch, StateFile } from '../../../../api-gateway/cli/src/batch/run-batch.ts'
import { Interrupted } from '../../../../api-gateway/cli/src/common/errors.ts'
import { Tintype } from '../../../../api-gateway/client/src/index.ts'
import { aService, fileOf, type Route, runCli, sendError } from '../fake-world.ts'

// Batches of `tintype shot` against a service that keeps Idempotency-Keys as the gateway does.

/** A service that completes every capture at once. `before` may respond to a request such as `GET /files/scr_1` instead. */
async function aBatchService(t: Test, before: (request: string, response: ServerResponse) => void = () => {}) {
  const ids = new Map<string, string>()
  const byId = new Map<string, object>()
  const create: Route = ({ body, headers }) => {
    const key = String(headers['idempotency-key'])
    const id = ids.get(key) ?? `scr_${ids.size + 1}`
    ids.set(key, id)
    const times = { created_at: '2026-11-24T12:00:00.000Z', started_at: null, completed_at: null, processing_duration_ms: 10 }
    const picture = { width: 4, height: 3, format: 'png', file_size_bytes: 7, download_url: `/files/${id}`, artifacts: [] }
    byId.set(id, { id, url: body.url, status: 'completed', error: null, warnings: [], ...times, ...picture })
    return { id, status: 'pending' }
  }
  const read: Route = ({ id }, response) => byId.get(id) ?? sendError(response, 404, 'NOT_FOUND')
  const routes: Record<string, Route> = { 'POST /screenshots': create, 'GET /screenshots/*': read, 'GET /files/*': fileOf('picture') }
  const { url, environment } = await aService(t, routes, before)
  const shoot = (folder: string, args: string[], signal?: AbortSignal) =>
    runCli(['shot', '-o', folder, ...args], { environment, ...(signal && { signal }) })
  return { url, byId, shoot }
}

const urls = Array.from({ length: 6 }, (_, index) => `https://example.com/${index + 1}`)
const filesIn = (folder: string): string[] => readdirSync(folder).sort()

t.test('a batch writes one file for each URL, and prints their names', async (t) => {
  const { shoot, byId } = await aBatchService(t)
  const folder = path.join(t.testdir(), 'new')
  const { code, stdout } = await shoot(folder, [...urls, urls[0]!])
  t.equal(code, 0)
  t.equal(filesIn(folder).length, 6, 'a URL that is given twice is captured once')
  t.equal(byId.size, 6)
  t.strictSame(
    stdout.trim().split('\n').sort(),
    filesIn(folder).map((name) => path.join(folder, name)),
  )
  t.equal(readFileSync(path.join(folder, 'example.com-1.png'), 'utf8'), 'picture')
})

t.test('the same command captures again after a batch has succeeded', async (t) => {
  const { shoot, byId } = await aBatchService(t)
  const folder = t.testdir()
  await shoot(folder, urls)
  await shoot(folder, urls)
  t.equal(byId.size, 12)
})

t.test('a batch waits while the rate limit is reached, even after the last retry of the client', async (t) => {
  let refusals = 0
  const { url, byId } = await aBatchService(t, (request, response) => {
    if (!request.startsWith('POST') || refusals >= 4) return
    refusals += 1
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
    response.end(JSON.stringify({ error: { code: 'RATE_LIMIT_EXCEEDED', message: 'Rate limit is 1 request per minute.' } }))
  })
  const folder = t.testdir()
  const state = StateFile.open({ folder, fingerprint: 'x', restart: false })
  const entries = urls.slice(0, 2).map((page) => state.entryOf(page, () => `${page.slice(-1)}.png`))
  const client = new Tintype({ baseUrl: url, apiKey: 'key', retries: 0 })
  const { signal } = new AbortController()
  const ended: string[] = []
  const onEnd = ({ file }: { file: string }) => ended.push(file)
  await runBatch({ client, state, entries, folder, options: {}, parallel: 1, waitTimeout: undefined, signal, onEnd })
  t.strictSame(ended, ['1.png', '2.png'])
  t.equal(byId.size, 2)
})

t.test('an error that every URL would meet ends the batch, which can be continued', async (t) => {
  let isSpent = true
  let created = 0
  const { shoot, byId } = await aBatchService(t, (request, response) => {
    if (!request.startsWith('POST')) return
    created += 1
    if (isSpent && created > 3) sendError(response, 429, 'USAGE_LIMIT_REACHED', 'all screenshots of the month are used')
  })
  const folder = t.testdir()
  const first = await shoot(folder, [...urls, '--parallel', '1'])
  t.equal(first.code, 1)
  t.match(first.stderr, /^3 of 6 pages are done\. Repeat the command to continue\.\ntintype: all screenshots of the month are used/m)
  isSpent = false
  const second = await shoot(folder, [...urls, '--parallel', '1'])
  t.equal(second.code, 0, second.stderr)
  t.match(second.stderr, /^Continuing: 3 of 6 pages are done\.\n/)
  t.equal(byId.size, 6)
})

t.test('a lost picture is downloaded again, and a deleted record is captured again', async (t) => {
  let isBroken = true
  const { shoot, byId } = await aBatchService(t, (request, response) => {
    // The last file cannot be read at first, so that the batch keeps its progress.
    if (isBroken && request === 'GET /files/scr_6') sendError(response, 403, 'LINK_INVALID')
  })
  const folder = t.testdir()
  await shoot(folder, [...urls, '--parallel', '1'])
  t.strictSame(filesIn(folder).filter((name) => name.endsWith('.png')).length, 5)
  isBroken = false
  byId.delete('scr_6')
  const { code, stderr } = await shoot(folder, [...urls, '--parallel', '1'])
  t.equal(code, 0, stderr)
  t.equal(filesIn(folder).length, 6)
  t.ok(byId.has('scr_7'), 'the deleted one has a new id')
})

t.test('an interrupted batch ends at once with exit code 130', async (t) => {
  const controller = new AbortController()
  let downloads = 0
  const { shoot } = await aBatchService(t, (request) => {
    if (!request.startsWith('GET /files/')) return
    downloads += 1
    if (downloads === 3) controller.abort(new Interrupted())
  })
  const folder = t.testdir()
  const { code, stderr } = await shoot(folder, [...urls, '--parallel', '1'], controller.signal)
  t.equal(code, 130)
  t.match(stderr, /2 of 6 pages are done\. Repeat the command to continue\.\ntintype: interrupted\n$/)
  t.strictSame(filesIn(folder), ['.tintype-batch.json', 'example.com-1.png', 'example.com-2.png'], 'and leaves no part of a file')
})
