import t from 'tap'
import { accounts, screenshotSchedules, screenshots } from '../../../crds/client/kinds.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { toId } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { toLines } from '../../../crds/src/records/archive.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { recordKey, runsPrefix, tombstoneKey } from '../../../crds/src/records/storage-keys.ts'
import type { Whole } from '../../../crds/src/schema/custom-resource.ts'
import { createScheduleController } from '../../../operator/src/controllers/schedule/controller.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { isFullLength } from '../../support/length.ts'
import { openTestStore } from '../../support/servers/test-store.ts'
import { signed } from '../../support/sources/mark-checks.ts'
import { startPlane } from '../client/plane.ts'
import { leadWith } from '../operator/lead.ts'

// Leaders that stop at the worst time, on a real API server and store. A leader stops by losing its lease, so that it writes nothing more.

/** Leaders stop at another moment in each round. */
const ROUNDS = isFullLength ? 5 : 2

const access = (await openTestStore(t)).access()
const plane = await startPlane(t)
const admin = plane.connect(t)
const schedules = new Resource(admin, screenshotSchedules)
const shots = new Resource(admin, screenshots)
await new Resource(admin, accounts).create({ metadata: { name: 'acme' }, spec: { plan: 'free' } })
const storage = openStorage(access)
await storage.ensureBucket()

/** Starts a leader that may write a number of times; without a limit if absent. */
async function lead(writes = Number.POSITIVE_INFINITY) {
  let left = writes
  const mayWrite = () => left-- > 0
  const { stop } = await leadWith(t, {
    ...{ http: plane.connect(t), mayWrite, storage: openStorage(access, { mayWrite }) },
    creates: [createScheduleController],
    caches: ['schedules', 'screenshots', 'accounts', 'usages'],
  })
  return { hasStopped: async () => left < 0, stop }
}

/** A schedule of which one run is due now, and no other one during the test. */
async function aDueSchedule(name: string) {
  const schedule = await schedules.create({
    metadata: { name },
    spec: { accountName: 'acme', schedule: '0 0 1 1 *', template: { url: 'https://example.com/' } },
  })
  const lastScheduleTime = '2020-06-01T00:00:00Z'
  return schedules.patch(name, mergePatch({ status: { lastScheduleTime } }), { subresource: 'status' }).then(() => schedule)
}

const runsOf = async (name: string): Promise<Screenshot[]> => (await shots.listAll()).filter(({ spec }) => spec.scheduleRef?.name === name)

async function complete(shot: Screenshot): Promise<Whole<Screenshot>> {
  const status = { ...completedStatus(), completionTime: new Date().toISOString() }
  return (await shots.patch(shot.metadata.name, mergePatch({ status }), { subresource: 'status' })) as Whole<Screenshot>
}

/** What happens to a run between two leaders, and how it counts then. */
const between: Record<string, { act: (run: Screenshot) => Promise<void>; live: number; outcome?: string }> = {
  'is still open': { act: async () => {}, live: 1 },
  'has ended': { act: async (run) => void (await complete(run)), live: 1, outcome: 'completed' },
  'is archived': {
    async act(run) {
      const [line] = toLines([await complete(run)])
      await storage.write(recordKey(accountOf(run), line!.id), line!.line)
      await shots.delete(run.metadata.name)
    },
    live: 0,
    outcome: 'completed',
  },
  'is deleted': {
    async act(run) {
      const key = tombstoneKey(accountOf(run), toId(run.metadata.name))
      await storage.write(key, signed(key))
      await shots.delete(run.metadata.name)
    },
    live: 0,
    outcome: 'deleted',
  },
}

for (const [what, { act, live, outcome }] of Object.entries(between)) {
  t.test(`a run that ${what} when the next leader looks is not created again`, async (t) => {
    for (let n = 0; n < ROUNDS; n++) {
      const name = `${what.replaceAll(' ', '-')}-${n}`
      const schedule = await aDueSchedule(name)
      const first = await lead(1)
      const run = await eventually('the run is created', async () => (await runsOf(name))[0])
      await eventually('the leader lost its lease before it wrote the status', first.hasStopped)
      await first.stop()
      t.equal((await schedules.get(name)).status?.conditions, undefined)
      await act(run)
      const second = await lead()
      const status = await eventually('the run is done', async () => {
        const { status } = await schedules.get(name)
        return status?.nextScheduleTime !== undefined && status
      })
      t.match(status.lastScheduleTime, run.spec.scheduleRef?.time)
      t.equal(status.recentRuns?.[0]?.outcome, outcome)
      t.equal((await runsOf(name)).length, live)
      const stored = await storage.list(runsPrefix('acme', schedule.metadata.uid), { limit: 10 })
      t.equal(stored.length, outcome ? 1 : 0)
      await second.stop()
      await schedules.delete(name)
    }
  })
}
