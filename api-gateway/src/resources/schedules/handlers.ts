import { toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import { limitsOfPlan } from '@tintype/crds/usage/plans'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Input } from '../../http/route.ts'
import { emptyOptions, type StoredOptions, storeOptions } from '../../options/store-options.ts'
import type { ObjectStore, RecordStore } from '../../store/ports.ts'
import { checkBaseline } from '../screenshots/check-baseline.ts'
import type { ScreenshotsDeps } from '../screenshots/deps.ts'
import { assertOptionsAllowed, assertRetentionAllowed } from '../screenshots/options/options-body.ts'
import { createOnce } from '../shared/create-once.ts'
import { type OffsetQuery, toCountedList } from '../shared/offset-page.ts'
import { assertBelowLimit, type ById, changeLatest, deleteOwn, findOwn, findOwnLatest, sendRecord, tagOf } from '../shared/owned-records.ts'
import { ensureDefaultWebhook } from '../webhooks/default-webhook.ts'
import type { CreateScheduleBody, UpdateScheduleBody } from './bodies.ts'
import type { MergedPage } from './merge-page.ts'
import { toScheduleRecord } from './record.ts'
import { buildSchedule, keepHidden, mergeSchedule, toSchedulePatch } from './schedule-object.ts'

export interface SchedulesDeps extends ScreenshotsDeps {
  objects: ScreenshotsDeps['objects'] & Pick<ObjectStore, 'list' | 'read'>
  schedules: RecordStore<ScreenshotSchedule>
  /** Maximum schedules per account. */
  maxSchedules: number
}

const WHAT = 'schedule'

type Wanted = Pick<CreateScheduleBody, 'url' | 'options' | 'privateOptions'>

/** Stores options that are private or large encrypted. They open only for this schedule, and private ones only for its URL. */
const storeFor = (name: string, account: string, { url, options, privateOptions }: Wanted, deps: SchedulesDeps): Promise<StoredOptions> =>
  storeOptions({ url, options, privateOptions, account, subject: name, keyOf: scheduleOptionsKey }, deps)

/** Checks what depends on the service and the account. @throws ApiError */
async function assertAllowed(
  { account, accountName }: FastifyRequest,
  { options, privateOptions, record }: Pick<CreateScheduleBody, 'options' | 'privateOptions' | 'record'>,
  deps: SchedulesDeps,
): Promise<void> {
  assertOptionsAllowed({ options, privateOptions }, deps.optionPolicy)
  assertRetentionAllowed({ record }, limitsOfPlan(deps.plans, account.spec.plan).retentionDays)
  if (record.webhookUrl) await ensureDefaultWebhook(accountName, deps)
}

export async function createSchedule(input: Input<object, CreateScheduleBody>, deps: SchedulesDeps): Promise<FastifyReply> {
  const { request, body } = input
  const { accountName } = request
  const make = async (id: string) => {
    assertBelowLimit(deps.schedules.ofAccount(accountName).length, deps.maxSchedules, 'schedules')
    await assertAllowed(request, body, deps)
    await checkBaseline(accountName, body.options, deps)
    const stored = await storeFor(toObjectName(id), accountName, body, deps)
    const created = await deps.schedules.create(buildSchedule(body, { id, accountName, stored }))
    return { created, secret: {} }
  }
  const creation = {
    route: 'POST /schedules',
    prefix: 'sch',
    store: deps.schedules,
    make,
    toRecord: toScheduleRecord,
    message: 'Schedule created successfully',
  } as const
  return createOnce(input, creation, deps)
}

export const listSchedules = (
  { request, query }: Input<object, undefined, Pick<OffsetQuery, 'limit' | 'offset'>>,
  { schedules }: SchedulesDeps,
) => toCountedList(schedules.ofAccount(request.accountName), query, toScheduleRecord)

export async function readSchedule(input: Input<ById>, { schedules }: SchedulesDeps): Promise<FastifyReply> {
  const schedule = await findOwn(input, schedules, WHAT)
  return sendRecord(input, schedule, { success: true, data: toScheduleRecord(schedule) })
}

export async function updateSchedule(input: Input<ById, UpdateScheduleBody>, deps: SchedulesDeps): Promise<FastifyReply> {
  const { request, reply, body } = input
  const { set: options = {}, privateOptions = {} } = body.page ?? {}
  await assertAllowed(request, { options, privateOptions, record: body.record as CreateScheduleBody['record'] }, deps)
  const changed = await changeLatest({
    condition: request.headers['if-match'],
    read: () => findOwnLatest(input, deps.schedules, WHAT),
    change: async (schedule) => {
      const merged = mergeSchedule(body, schedule)
      if (options.compareTo !== undefined) await checkBaseline(request.accountName, merged?.options, deps)
      const page = merged && { url: merged.url, stored: await storePage(merged, schedule, request.accountName, deps) }
      return deps.schedules.patch(schedule, toSchedulePatch(body, schedule, { page, now: deps.now() }))
    },
  })
  return reply.header('etag', tagOf(changed)).send({ message: 'Schedule updated successfully', data: toScheduleRecord(changed) })
}

/** Stores the options after a change. An object in the bucket stays until the schedule is deleted, so that the operator finds it then. */
async function storePage(
  { url, options, privateOptions }: MergedPage,
  { metadata: { name }, spec: { template } }: ScreenshotSchedule,
  account: string,
  deps: SchedulesDeps,
): Promise<StoredOptions> {
  if (privateOptions === undefined) return keepHidden(template, options)
  const stored = await storeFor(name, account, { url, options, privateOptions }, deps)
  if (template.optionsObject === undefined || stored.optionsObject !== undefined) return stored
  return { ...stored, optionsObject: await emptyOptions({ account, subject: name, keyOf: scheduleOptionsKey }, deps) }
}

export const deleteSchedule = (input: Input<ById>, { schedules }: SchedulesDeps): Promise<FastifyReply> => deleteOwn(input, schedules, WHAT)
