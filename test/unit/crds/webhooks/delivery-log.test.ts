import t from 'tap'
import { logKey, logPrefix } from '../../../../crds/src/records/storage-keys.ts'
import {
  type AttemptLine,
  LOG_MILLISECONDS,
  linesOf,
  MAX_LOG_LINES,
  mergeLines,
  parseLog,
  readLog,
  toDeliveries,
  toLogText,
  toPostResponse,
} from '../../../../crds/src/webhooks/delivery-log.ts'
import { at } from '../../../support/fakes/builders.ts'

const aLine = (changes: Partial<AttemptLine> = {}): AttemptLine => ({
  delivery: 'dlv_1',
  event: 'evt_1',
  type: 'screenshot.completed',
  screenshot: 'scr_1',
  attempt: 1,
  at: at(1).toISOString(),
  milliseconds: 12,
  statusCode: 500,
  outcome: 'answered',
  ...changes,
})

t.test('keys of the log sort newest first and contain the number of lines', async (t) => {
  const prefix = logPrefix('acme', 'wh_1')
  const keys = [at(1), at(3), at(2)].map((instant, n) => logKey(prefix, instant, n + 1, 'abc'))
  t.strictSame(keys.toSorted().map(linesOf), [2, 3, 1])
  t.ok(keys.every((key) => key.startsWith('deliveries/acme/wh_1/')))
  t.equal(linesOf('deliveries/acme/wh_1/other'), 0)
})

t.test('parseLog reads the lines of toLogText, and omits invalid ones', async (t) => {
  const lines = [aLine(), aLine({ attempt: 2, answer: 'two\nlines \u2028 and "more"' })]
  t.strictSame(parseLog(`${toLogText(lines)}{"half":\n{"delivery":1}\n\n`), lines)
})

t.test('mergeLines returns each attempt once, newest first, without expired ones, up to the maximum', async (t) => {
  const [first, second] = [aLine(), aLine({ attempt: 2, at: at(2).toISOString() })]
  t.strictSame(mergeLines([first, second, { ...first }], at(3)), [second, first])
  t.strictSame(mergeLines([first, second], new Date(at(2).getTime() + LOG_MILLISECONDS)), [second])
  const many = Array.from({ length: MAX_LOG_LINES + 1 }, (_, n) => aLine({ delivery: `dlv_${n}`, at: at(n).toISOString() }))
  const merged = mergeLines(many, at(MAX_LOG_LINES))
  t.equal(merged.length, MAX_LOG_LINES)
  t.equal(merged.at(-1)?.delivery, 'dlv_1')
})

const states: { name: string; lines: Partial<AttemptLine>[]; state: string }[] = [
  { name: 'pending while another attempt is due', lines: [{}], state: 'pending' },
  { name: 'successful after a success', lines: [{}, { attempt: 2, outcome: 'success' }], state: 'successful' },
  { name: 'failed after the last attempt', lines: [{}, { attempt: 3, last: true }], state: 'failed' },
  { name: 'failed when nobody wants it any more', lines: [{}, { outcome: 'withdrawn', last: true }], state: 'failed' },
  {
    name: 'successful when a redelivery repaired it',
    lines: [{ last: true }, { attempt: 4, manual: true, outcome: 'success' }],
    state: 'successful',
  },
  { name: 'successful also when a redelivery failed', lines: [{ outcome: 'success' }, { attempt: 2, manual: true }], state: 'successful' },
  { name: 'failed when a redelivery failed too', lines: [{ last: true }, { attempt: 4, manual: true }], state: 'failed' },
]
for (const { name, lines, state } of states) {
  t.test(`a delivery is ${name}`, async (t) => {
    const newestFirst = lines.map((changes, n) => aLine({ at: at(n).toISOString(), ...changes })).reverse()
    t.match(toDeliveries(newestFirst), [{ id: 'dlv_1', state, attempts: newestFirst.toReversed() }])
  })
}

t.test('readLog lists again if an object was removed meanwhile, and reads at most the maximum number of lines', async (t) => {
  const prefix = logPrefix('acme', 'wh_1')
  const old = logKey(prefix, at(1), 1, 'old')
  const [joined, full] = [logKey(prefix, at(2), 1, 'joined'), logKey(prefix, at(1), MAX_LOG_LINES, 'full')]
  const pages = [[old], [joined, full, old]]
  const asked: string[] = []
  const lines = await readLog(
    prefix,
    {
      list: async () => pages.shift() ?? [],
      read: async (key) => {
        asked.push(key)
        return key === old ? undefined : toLogText(key === full ? Array.from({ length: MAX_LOG_LINES }, () => aLine()) : [aLine()])
      },
    },
    { now: at(60), report: () => {} },
  )
  t.strictSame(asked, [old, joined, full])
  t.equal(lines.length, MAX_LOG_LINES + 1)
})

t.test('toPostResponse returns when an attempt ended and why it failed', async (t) => {
  t.strictSame(toPostResponse({ ...aLine({ outcome: 'timeout', statusCode: 0, milliseconds: 5_000, detail: 'no answer in time' }) }), {
    time: at(6).toISOString(),
    success: false,
    statusCode: 0,
    responseMilliseconds: 5_000,
    error: 'no answer in time',
  })
  t.notOk('error' in toPostResponse(aLine({ outcome: 'success', statusCode: 200 })))
  t.equal(toPostResponse(aLine({ detail: 'x'.repeat(999) })).error?.length, 256)
})
