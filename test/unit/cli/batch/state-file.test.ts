import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { STATE_FILE, StateFile, toFingerprint } from '../../../../api-gateway/cli/src/batch/state-file.ts'

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
