import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import t, { type Test } from 'tap'
import { Progress, runBatch, STATE_FILE, StateFile, toFingerprint } from '../../../../api-gateway/cli/src/batch/run-batch.ts'
import {
  checkTemplate,
  DEFAULT_TEMPLATE,
  parseUrls,
  readUrls,
  toFileName,
  toFreeName,
  toUrl,
} from '../../../../api-gateway/cli/src/batch/urls.ts'
import { Interrupted } from '../../../../api-gateway/cli/src/common/errors.ts'
import { Tintype } from '../../../../api-gateway/client/src/index.ts'
import { anOutput, aService, fileOf, type Route, runCli, sendError } from '../fake-world.ts'

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

// The parts of a batch: its list of URLs, the names of its files, its progress, and the file that continues it.

t.test('toUrl adds https where no scheme is', async (t) => {
  for (const [word, url] of [
    ['example.com/a', 'https://example.com/a'],
    ['localhost:3000', 'https://localhost:3000'],
    ['HTTP://example.com', 'HTTP://example.com'],
    // The service explains what is wrong.
    ['ftp://example.com', 'ftp://example.com'],
  ] as const)
    t.equal(toUrl(word), url)
})

t.test('parseUrls leaves out comments and empty lines', async (t) => {
  t.strictSame(parseUrls('# list\r\n\r\n  https://a.example \r\nb.example\n'), ['https://a.example', 'https://b.example'])
})

t.test('readUrls reads standard input and files', async (t) => {
  async function* stdin() {
    yield Buffer.from('a.exam')
    yield Buffer.from('ple\nb.example')
  }
  t.strictSame(await readUrls('-', stdin()), ['https://a.example', 'https://b.example'])
  const folder = t.testdir({ list: 'c.example\n' })
  t.strictSame(await readUrls(`${folder}/list`, stdin()), ['https://c.example'])
  await t.rejects(readUrls(`${folder}/none`, stdin()), { message: /cannot read the list of URLs/ })
})

const nameOf = (url: string, template = DEFAULT_TEMPLATE, fields = {}) =>
  toFileName(template, { url, number: 7, total: 120, format: 'png', ...fields })

t.test('toFileName makes a name from the URL, or fills in a template', async (t) => {
  for (const [url, name, template, fields] of [
    ['https://example.com', 'example.com.png'],
    ['https://example.com/docs/intro/', 'example.com-docs-intro.png'],
    ['https://example.com:8443/a.html?page=2#top', 'example.com-8443-a.html-page-2.png'],
    ['https://example.com/gr%C3%BC%C3%9Fe', 'example.com-grüße.png'],
    ['not a url', 'page.png'],
    ['', 'page', '{path}'],
    ['https://example.com/x', 'example.com-007.png', '{host}-{n}.{format}'],
    ['https://example.com/x', '7.jpg', '{n}.{format}', { format: 'jpeg', total: 9 }],
  ] as const)
    t.equal(nameOf(url, template, fields), name)
})

t.test('toFileName never leaves the folder', async (t) => {
  for (const url of ['https://example.com/..%2f..%2fetc', 'https://example.com/a%00b', 'https://example.com/%2e%2e/%5c'])
    t.notMatch(nameOf(url), /[/\\\0]|^\.|\.\.[/\\]/)
})

t.test('toFileName cuts long names and keeps the extension', async (t) => {
  const name = nameOf(`https://example.com/${'ü'.repeat(300)}`)
  t.ok(Buffer.byteLength(name) <= 180, `${Buffer.byteLength(name)} bytes`)
  t.match(name, /\.png$/)
})

t.test('checkTemplate refuses unknown fields and folders', async (t) => {
  t.throws(() => checkTemplate('{title}.png'), { message: '--name contains {title}. Use {host}, {path}, {n}, {format}.' })
  t.throws(() => checkTemplate('../{n}.png'), { message: /must not contain/ })
  t.doesNotThrow(() => checkTemplate('{host}-{n}.{format}'))
})

t.test('toFreeName numbers names that are in use, in any case', async (t) => {
  t.equal(toFreeName('a.png', new Set()), 'a.png')
  t.equal(toFreeName('A.png', new Set(['a.png', 'a-2.png'])), 'A-3.png')
})

const done = { url: 'https://a.example', file: 'a.png', attempt: 1, status: 'done' as const }
const failed = { ...done, url: 'https://b.example/\u{1b}[2J', status: 'failed' as const, error: 'DNS_FAILED: no such host' }

t.test('Progress prints a line for each URL where there is no terminal', async (t) => {
  const output = anOutput()
  const progress = new Progress(output, { total: 12, done: 3 })
  progress.end(done, () => output.write('a.png\n'))
  progress.end(failed, () => {})
  progress.stop()
  t.equal(output.text, 'a.png\n 4/12 done   https://a.example\n 5/12 failed https://b.example/\u{fffd}[2J: DNS_FAILED: no such host\n')
  t.equal(progress.failed, 1)
  t.equal(progress.completed, 4)
})

t.test('Progress draws a bar on a terminal, and clears it before other lines', async (t) => {
  const output = anOutput({ isTerminal: true, columns: 60 })
  const progress = new Progress(output, { total: 4, done: 1 })
  progress.end(done, () => output.write('a.png\n'))
  progress.stop()
  t.match(output.text, '\r\u{1b}[2Ka.png\n\r\u{1b}[2K[============            ] 2/4 https://a.example')
  t.ok(output.text.endsWith('\r\u{1b}[2K'))
  for (const line of output.text.split(/[\r\n]/)) t.ok(line.replace('\u{1b}[2K', '').length < 60)
})

const fingerprint = toFingerprint('https://tintype.example.com', { authorization: 'Bearer secret' })
const open = (folder: string, options = {}) => StateFile.open({ folder, fingerprint, restart: false, ...options })
const url = 'https://example.com/'
const toName = () => 'a.png'

t.test('StateFile keeps Idempotency-Keys over a crash before the first save', async (t) => {
  const folder = t.testdir()
  const first = open(folder)
  const key = first.keyOf(first.entryOf(url, toName))
  // The process is killed here: only what `open` wrote remains.
  const second = open(folder)
  t.equal(second.keyOf(second.entryOf(url, toName)), key)
  t.match(key, /^[\x21-\x7e]{1,255}$/, 'a valid Idempotency-Key')
})

t.test('StateFile gives each URL, attempt and batch its own key', async (t) => {
  const state = open(t.testdir())
  const entry = state.entryOf(url, toName)
  const keys = [state.keyOf(entry), state.keyOf({ ...entry, attempt: 2 }), state.keyOf({ ...entry, url: `${url}b` })]
  const other = open(t.testdir())
  t.equal(new Set([...keys, other.keyOf(entry)]).size, 4)
})

t.test('StateFile restores names and ids, and keeps names apart', async (t) => {
  const folder = t.testdir()
  const state = open(folder)
  Object.assign(state.entryOf(url, toName), { id: 'scr_1', status: 'done' })
  state.save()
  const again = open(folder)
  t.match(
    again.entryOf(url, () => 'other.png'),
    { file: 'a.png', id: 'scr_1', status: 'done' },
  )
  again.entryOf('https://b.example', (taken) => {
    t.ok(taken.has('a.png'))
    return 'b.png'
  })
})

t.test('StateFile saves soon after a change, and removes its file', async (t) => {
  const folder = t.testdir()
  const file = path.join(folder, STATE_FILE)
  const state = open(folder)
  state.entryOf(url, toName)
  state.touch()
  t.notMatch(readFileSync(file, 'utf8'), url)
  state.save()
  t.match(readFileSync(file, 'utf8'), url)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.notMatch(readFileSync(file, 'utf8'), /secret/, 'options are stored as a hash')
  state.touch()
  state.remove()
  t.notOk(existsSync(file))
})

t.test('StateFile refuses the progress of another command, unless it is to be forgotten', async (t) => {
  const folder = t.testdir()
  const first = open(folder)
  const key = first.keyOf(first.entryOf(url, toName))
  const other = toFingerprint('https://tintype.example.com', { full_page: true })
  t.throws(() => open(folder, { fingerprint: other }), { message: /belongs to a batch with other options or another service/ })
  const restarted = open(folder, { fingerprint: other, restart: true })
  t.not(restarted.keyOf(restarted.entryOf(url, toName)), key)
})

t.test('StateFile refuses a damaged file', async (t) => {
  const folder = t.testdir()
  for (const text of ['{"version":1,', '{"version":2,"entries":[]}', '[]']) {
    writeFileSync(path.join(folder, STATE_FILE), text)
    t.throws(() => open(folder), { message: /damaged or belongs to another version. Add --restart/ })
  }
})
