// The schedule controller, on an API server and a bucket in memory, with schedules that are due every hour. The test captures their runs.

import type { Test } from 'tap'
import { accounts, screenshotSchedules, screenshots } from '../../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import type { CaptureResult, Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule, ScreenshotScheduleSpec } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { createScheduleController } from '../../../../../operator/src/controllers/schedule/controller.ts'
import { anAccount, aSchedule, completedStatus } from '../../../../support/fakes/builders.ts'
import { type OperatorStage, startOperator } from '../../../../support/fakes/operator-stage.ts'

const HOUR = 3_600

export type ScheduleStage = Awaited<ReturnType<typeof startSchedule>>

/**
 * Starts a leader with schedules of the account `acme`, which exist since noon.
 * @param prepare writes what an earlier leader has left
 */
export async function startSchedule(
  t: Test,
  given: Partial<ScreenshotScheduleSpec> = {},
  names: readonly string[] = ['home'],
  prepare: (operator: OperatorStage) => void = () => {},
) {
  const operator = await startOperator(t)
  const { cluster, bucket, clock, settle, passTo } = operator
  cluster.put(accounts, anAccount({ name: 'acme' }))
  for (const name of names)
    cluster.put<ScreenshotSchedule>(
      screenshotSchedules,
      aSchedule({ name, metadata: { uid: name }, spec: { accountName: 'acme', ...given } }),
    )
  prepare(operator)
  await settle()
  // Nobody sets the clock, so that the check of each second for that is left out.
  const deps = { ...operator.deps, clock: { ...operator.deps.clock, after: () => () => {} } }
  const schedules = createScheduleController(deps)
  operator.lead((term) => schedules.start({ ...term, ...deps }))
  await settle()

  const get = (name = 'home') => cluster.get<ScreenshotSchedule>(screenshotSchedules, name)!
  const change = async (patch: Record<string, unknown>, name = 'home') => {
    await cluster.client(screenshotSchedules).patch(name, mergePatch(patch))
    await settle()
  }
  /** Ends a run, whose files are in the bucket. */
  const end = async (shot: Screenshot, result: CaptureResult = {}, more: Partial<NonNullable<Screenshot['status']>> = {}) => {
    const id = screenshotIdOf(shot.metadata)
    const etags = ['png', 'txt'].map((extension) => {
      bucket.objects.set(objectKey('acme', id, extension), `${id}.${extension}`)
      return bucket.etagOf(objectKey('acme', id, extension)) ?? ''
    })
    const artifacts = [{ type: 'text' as const, fileSizeBytes: 5, etag: etags[1] ?? '' }]
    const ended = completedStatus({
      completionTime: operator.now().toISOString(),
      result: { format: 'png', etag: etags[0] ?? '', artifacts, ...result },
      ...more,
    })
    cluster.put<Screenshot>(screenshots, { ...shot, status: ended })
    await settle()
    return id
  }
  const runs = () => cluster.list<Screenshot>(screenshots)
  /** Lets time pass until the next run is due. */
  const begin = async () => {
    await passTo((Math.floor(clock.second / HOUR) + 1) * HOUR)
    return runs().at(-1)!
  }
  return {
    ...{ ...operator, get, change, begin, end, runs },
    /** Lets the next run begin and end. Returns its id. */
    run: async (result?: CaptureResult): Promise<string> => end(await begin(), result),
    /** Lets time pass at once, as after a pause of the machine. */
    async jump(seconds: number): Promise<void> {
      clock.second += seconds
      await passTo(clock.second)
    },
    /** Writes the request of a person, or of the gateway for somebody, a second later. */
    async ask(request: string, by?: string, name?: string): Promise<void> {
      await passTo(clock.second + 1)
      const annotations = { [Annotation.approve]: request, ...(by === undefined ? {} : { [Annotation.approvedBy]: by }) }
      await change({ metadata: { annotations } }, name)
    },
    baseline: () => get().status?.baseline?.id,
    /** Ids of the runs whose picture is kept, without the texts. */
    kept: () =>
      bucket.keys('baselines/acme/home/').flatMap((key) => (key.endsWith('.txt') ? [] : key.slice('baselines/acme/home/'.length))),
  }
}
