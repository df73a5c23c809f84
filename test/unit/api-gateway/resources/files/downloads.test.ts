import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { buildMetrics } from '../../../../../api-gateway/src/metrics/metrics.ts'
import { Downloads } from '../../../../../api-gateway/src/resources/files/downloads.ts'

// Downloads with a clock and responses of the test. slow-clients.test.ts has real connections.

/** A response whose client takes `sent` bytes. */
class FakeResponse extends EventEmitter {
  readonly handle = { bytesWritten: 0, writeQueueSize: 0 }
  readonly socket = { _handle: this.handle }
  readonly req = { socket: { destroyed: false, destroy: () => {} } }
  destroyed = false
  destroy() {
    this.destroyed = true
    this.emit('close')
  }
}

function stage({ max, waitMilliseconds = 10 }: { max: number; waitMilliseconds?: number }) {
  let seconds = 0
  const metrics = buildMetrics()
  const downloads = new Downloads({ max, metrics, now: () => seconds * 1_000, waitMilliseconds })
  const responses: FakeResponse[] = []
  const respond = () => {
    const response = new FakeResponse()
    responses.push(response)
    return { response, raw: response as unknown as ServerResponse }
  }
  /** Starts a download. The file is `account/name`. */
  const open = async (file: string) => {
    const { response, raw } = respond()
    await downloads.open({ account: file.split('/')[0]!, file }, raw, async () => Readable.from([]))
    return response
  }
  const watch = (file: string) => {
    const { response, raw } = respond()
    downloads.watch({ account: file.split('/')[0]!, file }, raw)
    return response
  }
  /** Lets time pass. In each second, each open client takes as many bytes as `bytesOf` says. */
  const pass = (count: number, bytesOf: (response: FakeResponse, second: number) => number) => {
    for (let n = 0; n < count; n++) {
      seconds++
      for (const response of responses) response.handle.bytesWritten += bytesOf(response, seconds)
      downloads.sample()
    }
  }
  const countOf = async (name: 'refused' | 'ended') => {
    const { values } = await metrics[name === 'refused' ? 'downloadsRefused' : 'downloadsEnded'].get()
    return Object.fromEntries(values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.reason, value]))
  }
  t.teardown(() => {
    for (const response of responses) response.destroy()
  })
  return { downloads, open, watch, pass, countOf }
}

const refused = { code: 'TOO_MANY_DOWNLOADS', headers: { 'retry-after': '5' } }
const trickle = (_: FakeResponse, second: number) => (second % 15 === 0 ? 2_048 : 0)

t.test('a client that reads 2 KB each 15 seconds is served for ever when slots are short', async (t) => {
  const { open, pass, countOf } = stage({ max: 1 })
  const slow = await open('acme/a')
  pass(29, trickle)
  await t.rejects(open('acme/b'), refused)
  pass(1, trickle)
  const next = await open('acme/b')
  t.strictSame([slow.destroyed, next.destroyed], [true, false])
  t.strictSame([await countOf('refused'), await countOf('ended')], [{ replica: 1 }, { slow: 1 }])
})

t.test('a slow client keeps its download while slots are free', async (t) => {
  const { open, pass } = stage({ max: 3 })
  const slow = await open('acme/a')
  pass(600, trickle)
  await open('acme/b')
  await open('other/b')
  t.equal(slow.destroyed, false)
})

t.test('a client that reads nothing keeps its slot for ever while other slots are free', async (t) => {
  const { downloads, open, watch, pass, countOf } = stage({ max: 9 })
  const [unread, unreadMemory, read] = [await open('acme/a'), watch('acme/b'), await open('acme/a')]
  pass(59, (response) => (response === read ? 1 : 0))
  t.equal(unread.destroyed, false)
  pass(1, (response) => (response === read ? 1 : 0))
  t.strictSame([unread.destroyed, unreadMemory.destroyed, read.destroyed], [true, true, false])
  t.equal(downloads.active, 1)
  t.strictSame(await countOf('ended'), { stalled: 2 })
})

t.test('bytes that wait in the process are no progress', async (t) => {
  const { open, pass } = stage({ max: 9 })
  const unread = await open('acme/a')
  unread.handle.bytesWritten = unread.handle.writeQueueSize = 1_000_000
  pass(60, () => 0)
  t.equal(unread.destroyed, true)
})

t.test('an account gets half of the slots from one that has all, and both are refused more', async (t) => {
  const { open, countOf } = stage({ max: 4 })
  const first = await Promise.all(['a', 'b', 'c', 'd'].map((name) => open(`acme/${name}`)))
  const second = await Promise.all([open('other/a'), open('other/b')])
  t.equal(first.filter(({ destroyed }) => destroyed).length, 2)
  t.notOk(second.some(({ destroyed }) => destroyed))
  await t.rejects(open('other/c'), { ...refused, message: /at most 4 files at the same time, and the account has its share of them/ })
  await t.rejects(open('acme/e'), refused)
  t.strictSame([await countOf('refused'), await countOf('ended')], [{ account: 2 }, { share: 2 }])
})

t.test('a file gets slots from another file of the account', async (t) => {
  const { open, countOf } = stage({ max: 3 })
  for (const file of ['acme/a', 'acme/a', 'acme/a', 'acme/b']) await open(file)
  await t.rejects(open('acme/b'), refused)
  t.strictSame([await countOf('refused'), await countOf('ended')], [{ file: 1 }, { share: 1 }])
})

t.test('a download waits for a slot that becomes free soon, and ends no other', async (t) => {
  const { downloads, open, countOf } = stage({ max: 2, waitMilliseconds: 10_000 })
  const [first] = [await open('acme/a'), await open('acme/a')]
  const waiting = open('other/a')
  await t.rejects(open('acme/a'), refused, 'a larger account does not overtake it')
  first.destroy()
  t.equal((await waiting).destroyed, false)
  t.equal(downloads.active, 2)
  t.strictSame(await countOf('ended'), {})
})

t.test('a download of a larger share that has not moved for five seconds ends at once', async (t) => {
  const { open, pass, countOf } = stage({ max: 2, waitMilliseconds: 100_000_000 })
  const [moving, unread] = [await open('acme/a'), await open('acme/a')]
  pass(5, (response) => (response === moving ? 1_000_000 : 0))
  await open('other/a')
  t.strictSame([moving.destroyed, unread.destroyed], [false, true])
  t.strictSame(await countOf('ended'), { share: 1 })
})

t.test('a download that has waited is refused if the shares are equal by then', async (t) => {
  const { downloads, open, countOf } = stage({ max: 2 })
  const [first] = [await open('acme/a'), await open('acme/a')]
  const waiting = open('other/a')
  await Promise.resolve()
  // Only one slot becomes free for two accounts.
  const third = open('third/a')
  first.destroy()
  await waiting
  await t.rejects(third, refused)
  t.equal(downloads.active, 2)
  t.strictSame(await countOf('refused'), { replica: 1 })
})

t.test('a file that cannot be opened leaves no slot in use', async (t) => {
  const { downloads } = stage({ max: 1 })
  const response = new FakeResponse() as unknown as ServerResponse
  await t.rejects(
    downloads.open({ account: 'acme', file: 'acme/a' }, response, () => Promise.reject(new Error('unavailable'))),
    { message: 'unavailable' },
  )
  t.equal(downloads.active, 0)
})

t.test('a response from memory takes a slot after a second, and then ends as others do', async (t) => {
  const { downloads, open, watch, pass, countOf } = stage({ max: 2 })
  const crowd = Array.from({ length: 5 }, () => watch('acme/a'))
  t.equal((await open('acme/b')).destroyed, false, 'the crowd takes no slots yet')
  for (const response of crowd.slice(3)) response.destroy()
  pass(1, () => 0)
  t.equal(downloads.active, 4, 'slow clients do, and no response from memory is refused')
  await t.rejects(open('acme/a'), refused)
  t.equal((await open('other/a')).destroyed, false)
  t.equal(crowd.filter(({ destroyed }) => destroyed).length, 3)
  pass(28, trickle)
  t.strictSame(await countOf('ended'), { share: 1 })
  pass(1, trickle)
  t.equal(downloads.active, 2, 'above the number of slots, slow downloads end')
  t.match(await countOf('ended'), { slow: 2 })
})

t.test('a client that left before its response began leaves no slot in use', async (t) => {
  const { downloads, open, pass } = stage({ max: 2 })
  const pipelined = await open('acme/a')
  pipelined.req.socket.destroyed = true
  pass(1, () => 0)
  t.equal(downloads.active, 0)
})
