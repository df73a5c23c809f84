import t, { type Test } from 'tap'
import type { ActiveRun, ScreenshotScheduleSpec, ScreenshotScheduleStatus } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { decide, spreadOf } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { buildStatus } from '../../../../../operator/src/controllers/schedule/status.ts'
import { anAccount, aSchedule } from '../../../../support/fakes/builders.ts'
import { choose } from '../../../../support/length.ts'

// Compares the decisions of the operator with a simple model that counts minutes, over both changes of the clocks.

const MINUTE = 60_000
const HOUR = 3_600_000
const START = Date.UTC(2026, 2, 20)
const STEPS = 10_000
/** On average half of it: 243 days, to the middle of November. */
const MAX_STEP_MINUTES = 70
const SEEDS = choose(
  Array.from({ length: 20 }, (_, n) => 20_261_126 + n),
  (_, n) => n === 0,
)

/** Offsets from UTC in hours, and when they change. */
const ZONES: Record<string, { from: number; hours: number }[]> = {
  UTC: [{ from: 0, hours: 0 }],
  'Europe/Zurich': [
    { from: 0, hours: 1 },
    { from: Date.UTC(2026, 2, 29, 1), hours: 2 },
    { from: Date.UTC(2026, 9, 25, 1), hours: 1 },
  ],
  'America/New_York': [
    { from: 0, hours: -4 },
    { from: Date.UTC(2026, 10, 1, 6), hours: -5 },
  ],
  'Australia/Sydney': [
    { from: 0, hours: 11 },
    { from: Date.UTC(2026, 3, 4, 16), hours: 10 },
    { from: Date.UTC(2026, 9, 3, 16), hours: 11 },
  ],
}

/** Expressions, and whether a local time matches. */
const EXPRESSIONS: Record<string, (local: Date) => boolean> = {
  '*/15 * * * *': (local) => local.getUTCMinutes() % 15 === 0,
  '0 * * * *': (local) => local.getUTCMinutes() === 0,
  '30 2 * * *': (local) => local.getUTCHours() === 2 && local.getUTCMinutes() === 30,
  '10 1,2,3 * * *': (local) => [1, 2, 3].includes(local.getUTCHours()) && local.getUTCMinutes() === 10,
  '0 */4 * * MON-FRI': (local) => local.getUTCMinutes() === 0 && local.getUTCHours() % 4 === 0 && local.getUTCDay() % 6 !== 0,
  '45 23 1 * 0': (local) =>
    local.getUTCHours() === 23 && local.getUTCMinutes() === 45 && (local.getUTCDate() === 1 || local.getUTCDay() === 0),
}

function isDue({ schedule, timeZone = 'UTC' }: ScreenshotScheduleSpec, at: number): boolean {
  const { hours } = ZONES[timeZone]!.findLast(({ from }) => from <= at)!
  return EXPRESSIONS[schedule]!(new Date(at + hours * HOUR))
}

/** The same numbers in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Run {
  due: number
  started: number
}

for (const seed of SEEDS) {
  t.test(`no run is too many, none is missing, and each has its time, while everything about a schedule changes (${seed})`, async (t) => {
    testAgainstModel(t, randomNumbers(seed))
  })
}

function testAgainstModel(t: Test, random: (below: number) => number): void {
  const pick = <T>(values: readonly T[]): T => values[random(values.length)]!
  const { metadata, spec } = aSchedule({ metadata: { uid: 'u-1', creationTimestamp: new Date(START).toISOString() } })
  const account = anAccount()

  let status: ScreenshotScheduleStatus = {}
  let open: ActiveRun[] = []
  const runs: Run[] = []
  /** Reconciles like the controller. Returns when it wants to be called again. */
  const reconcile = (now: number): number => {
    const schedule = { metadata, spec, status }
    const decision = decide({ schedule, account, isQuotaSpent: false, open, ended: [] }, new Date(now))
    if (decision.due) {
      runs.push({ due: decision.due.time.getTime(), started: now })
      open = [...open, { id: decision.due.id, time: decision.due.time.toISOString() }]
    }
    const patch = buildStatus(schedule, decision, { open: [], ended: [] }, new Date(now))
    status = patch ? JSON.parse(JSON.stringify(patch), (_, value) => value ?? undefined) : status
    return now + (decision.requeueAfterMilliseconds ?? HOUR)
  }

  const wanted: Run[] = []
  const model = { handled: START, openRuns: 0 }
  const mayStart = () => !spec.suspend && (model.openRuns === 0 || spec.concurrencyPolicy === 'Allow')
  const start = (run: Run) => {
    wanted.push(run)
    model.handled = run.due
    model.openRuns += 1
  }
  /** Starts each run at its minute. */
  const pass = (from: number, to: number) => {
    const spread = spreadOf({ metadata, spec })
    for (let due = Math.ceil((from - spread + 1) / MINUTE) * MINUTE; due + spread <= to; due += MINUTE)
      if (due > model.handled && isDue(spec, due) && mayStart()) start({ due, started: due + spread })
  }
  /** Starts the last missed run. */
  const makeUp = (now: number) => {
    const latest = now - spreadOf({ metadata, spec })
    for (let due = Math.floor(latest / MINUTE) * MINUTE; due > model.handled && mayStart(); due -= MINUTE)
      if (isDue(spec, due)) return start({ due, started: now })
  }

  const changes: ((now: number) => void)[] = [
    (now) => {
      const before = spec.schedule
      spec.schedule = pick(Object.keys(EXPRESSIONS))
      if (spec.schedule !== before) model.handled = Math.max(model.handled, now)
    },
    (now) => {
      const before = spec.timeZone
      spec.timeZone = pick(Object.keys(ZONES))
      if (spec.timeZone !== before) model.handled = Math.max(model.handled, now)
    },
    () => {
      spec.suspend = !spec.suspend
    },
    () => {
      spec.spreadSeconds = pick([0, 60, 3_600, 10_000])
    },
    () => {
      spec.concurrencyPolicy = pick(['Allow', 'Forbid'] as const)
    },
    ...Array.from({ length: 6 }, () => () => {
      open = []
      model.openRuns = 0
    }),
  ]

  let now = START
  let wake = reconcile(now)
  for (let step = 0; step < STEPS; step += 1) {
    const next = now + 1 + random(MAX_STEP_MINUTES * MINUTE)
    while (wake <= next) wake = reconcile(wake)
    pass(now, next)
    now = next
    pick(changes)(now)
    makeUp(now)
    wake = reconcile(now)
    // The first difference is enough.
    if (runs.length !== wanted.length) break
  }
  t.ok(now > Date.UTC(2026, 10, 2), 'both changes of the clocks have passed')
  t.ok(wanted.length > 500, String(wanted.length))
  t.strictSame(runs.slice(-3), wanted.slice(-3))
  t.strictSame(runs, wanted)
}
