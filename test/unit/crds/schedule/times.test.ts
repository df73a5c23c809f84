import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseCron } from '../../../../crds/src/schedule/cron.ts'
import { lastTime, nextTime, type Timing } from '../../../../crds/src/schedule/times.ts'
import { choose } from '../../../support/length.ts'

interface Expected {
  schedule: string
  zone: string
  count: number
  sha256: string
  first: number[]
}

// robfig/main.go wrote the file with the library of Kubernetes' CronJob.
const expected: Expected[] = JSON.parse(readFileSync(join(import.meta.dirname, 'robfig-times.json'), 'utf8'))
const START = Date.UTC(2026, 0, 1)
const END = Date.UTC(2027, 0, 1)

const timingOf = (schedule: string, timeZone: string, anchor = START): Timing => ({ cron: parseCron(schedule), timeZone, anchor })

function yearOf(timing: Timing): number[] {
  const times: number[] = []
  for (let at = nextTime(timing, START); at !== undefined && at < END; at = nextTime(timing, at)) times.push(at)
  return times
}

/** By zone, because most of the time goes into its offsets, which are cached. */
const inOrder = expected.toSorted((one, other) => one.zone.localeCompare(other.zone) || one.count - other.count)
// Expressions of more than one time in 15 minutes take most of the time.
const chosen = choose(inOrder, ({ count }) => count < 30_000).map((row) => ({ ...row, times: yearOf(timingOf(row.schedule, row.zone)) }))

/** On 8 March Havana skips midnight, and robfig/cron counts the day as the 7th. See the last test. */
const isKnownDifference = ({ schedule, zone }: Expected) => schedule === '0 12 */2 * *' && zone === 'America/Havana'

t.test('the times of a year are those of CronJob, for each expression and zone', async (t) => {
  t.ok(new Set(expected.map(({ schedule }) => schedule)).size >= 40)
  const differing = chosen.flatMap((row) => {
    const { schedule, zone, count, sha256, first } = row
    const seconds = row.times.map((time) => time / 1_000)
    const text = seconds.map((time) => `${time}\n`).join('')
    const isSame = seconds.length === count && createHash('sha256').update(text).digest('hex') === sha256
    t.strictSame(seconds.slice(0, 3), first, `the first times of ${schedule} in ${zone}`)
    return isSame ? [] : [row]
  })
  t.ok(differing.every(isKnownDifference), differing.map(({ schedule, zone }) => `${schedule} in ${zone}`).join('; '))
})

t.test('walking back from the end of the year finds the same times', async (t) => {
  for (const { schedule, zone, times: forward } of chosen.filter(({ count }) => count < 3_000)) {
    const timing = timingOf(schedule, zone)
    const times: number[] = []
    for (let until = END - 1; ; ) {
      const at = lastTime(timing, { after: START, until })
      if (at === undefined) break
      times.push(at)
      until = at - 1
    }
    t.equal(times.reverse().join(), forward.join(), `${schedule} in ${zone}`)
  }
})

t.test('skipped local times are never due, and repeated ones twice', async (t) => {
  const on = (schedule: string, timeZone: string, day: string, hours = 24) => {
    const times: string[] = []
    const start = Date.parse(day)
    for (let at = nextTime(timingOf(schedule, timeZone), start - 1); at !== undefined && at < start + hours * 3_600_000; ) {
      times.push(new Date(at).toISOString().slice(0, 16))
      at = nextTime(timingOf(schedule, timeZone), at)
    }
    return times
  }
  t.strictSame(on('30 2 * * *', 'Europe/Zurich', '2026-03-29'), [])
  t.strictSame(on('30 2 * * *', 'Europe/Zurich', '2026-10-25'), ['2026-10-25T00:30', '2026-10-25T01:30'])
  t.strictSame(on('30 */12 8 3 *', 'America/Havana', '2026-03-08T00:00Z', 30), ['2026-03-08T16:30'], 'midnight is skipped')
  t.strictSame(on('0 12 */2 * *', 'America/Havana', '2026-03-08T05:00Z'), [], 'a day without midnight is still itself')
})

t.test('an interval counts from the anchor', async (t) => {
  const anchor = Date.UTC(2026, 0, 1, 0, 0, 30)
  const timing = timingOf('@every 90m', 'UTC', anchor)
  t.equal(nextTime(timing, anchor), anchor + 5_400_000)
  t.equal(nextTime(timing, anchor - 9_999_999), anchor + 5_400_000)
  t.equal(nextTime(timing, anchor + 5_400_000), anchor + 10_800_000)
  t.equal(lastTime(timing, { after: anchor, until: anchor + 5_399_999 }), undefined)
  t.equal(lastTime(timing, { after: anchor, until: anchor + 11_000_000 }), anchor + 10_800_000)
  t.equal(lastTime(timing, { after: anchor + 10_800_000, until: anchor + 11_000_000 }), undefined)
})

t.test('no time is found if there is none', async (t) => {
  t.equal(nextTime(timingOf('0 0 30 2 *', 'UTC'), START), undefined)
  t.equal(lastTime(timingOf('* * * * *', 'UTC'), { after: END, until: START }), undefined)
  t.equal(lastTime(timingOf('0 0 1 1 *', 'UTC'), { after: START, until: START + 1 }), undefined)
  t.equal(nextTime(timingOf('0 0 29 2 *', 'UTC'), Date.UTC(2096, 2, 1)), Date.UTC(2104, 1, 29))
})
