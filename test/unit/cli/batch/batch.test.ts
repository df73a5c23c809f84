import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { Progress, STATE_FILE, StateFile, toFingerprint } from '../../../../api-gateway/cli/src/batch/run-batch.ts'
import {
  checkTemplate,
  DEFAULT_TEMPLATE,
  parseUrls,
  readUrls,
  toFileName,
  toFreeName,
  toUrl,
} from '../../../../api-gateway/cli/src/batch/urls.ts'
import { anOutput } from '../fake-world.ts'

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
