import { ifMatch, ifNoneMatch, pathId } from '../../http/parameters.ts'
import { linkTo, type Route, routeFor } from '../../http/route.ts'
import { offsetQuery } from '../shared/offset-page.ts'
import { ApprovalUndone, approveBody, approveRun, RunApproved, undoApproval } from './approve.ts'
import { createScheduleBody, updateScheduleBody } from './bodies.ts'
import {
  approvalUndone,
  runApproved,
  runCreated,
  runList,
  scheduleChanged,
  scheduleCreated,
  scheduleFound,
  scheduleId,
  scheduleList,
} from './examples.ts'
import { createSchedule, deleteSchedule, listSchedules, readSchedule, type SchedulesDeps, updateSchedule } from './handlers.ts'
import { listRuns, runBody, runSchedule, runsQuery } from './handlers-of-runs.ts'
import { CreatedRun, ScheduleChanged, ScheduleCreated, ScheduleFound, ScheduleList, ScheduleRunList } from './record.ts'

const route = routeFor<SchedulesDeps>('Schedules', pathId('sch', scheduleId))
const { limit, offset } = offsetQuery
const optionErrors = ['URL_NOT_ALLOWED', 'OPTION_NOT_ALLOWED', 'NOT_FOUND', 'NOT_READY', 'NOT_COMPARABLE', 'EXPIRED', 'CONFLICT'] as const

export const scheduleRoutes: readonly Route<SchedulesDeps>[] = [
  route('POST /schedules', {
    id: 'createSchedule',
    scope: 'schedules:write',
    summary: 'Create a schedule',
    description:
      'Captures a page at the times of a cron expression. Each run is a screenshot or, with a moving format, a video, and is charged as one.',
    isKeyed: true,
    body: createScheduleBody,
    responses: {
      201: {
        description: 'Created.',
        schema: ScheduleCreated,
        example: scheduleCreated,
        headers: ['Location', 'ETag'],
        links: {
          read: linkTo('getSchedule', 'Reads the schedule and its last runs.'),
          update: linkTo('updateSchedule', 'Changes it.'),
          run: linkTo('runSchedule', 'Creates a run now.'),
          runs: linkTo('listScheduleRuns', 'Lists its runs.'),
          approve: linkTo('approveRun', 'Approves its last compared run.'),
          remove: linkTo('deleteSchedule', 'Deletes it.'),
        },
      },
    },
    errors: [...optionErrors, 'LIMIT_REACHED'],
    handle: createSchedule,
  }),
  route('GET /schedules', {
    id: 'listSchedules',
    scope: 'schedules:read',
    summary: 'List schedules',
    query: { limit, offset },
    responses: { 200: { description: 'One page of schedules.', schema: ScheduleList, example: scheduleList } },
    handle: listSchedules,
  }),
  route('GET /schedules/{id}', {
    id: 'getSchedule',
    scope: 'schedules:read',
    summary: 'Read a schedule',
    parameters: [ifNoneMatch],
    responses: { 200: { description: 'The schedule and its last runs.', schema: ScheduleFound, example: scheduleFound } },
    handle: readSchedule,
  }),
  route('PATCH /schedules/{id}', {
    id: 'updateSchedule',
    scope: 'schedules:write',
    summary: 'Update a schedule',
    description:
      'A merge patch (RFC 7396): absent fields and options stay unchanged, and null restores a default. A change of hidden options, which the record shows as `***` or `…`, must name all of them, and so must a new `url` beside private options.',
    parameters: [ifMatch],
    body: updateScheduleBody,
    responses: { 200: { description: 'Changed.', schema: ScheduleChanged, example: scheduleChanged } },
    errors: [...optionErrors],
    handle: updateSchedule,
  }),
  route('DELETE /schedules/{id}', {
    id: 'deleteSchedule',
    scope: 'schedules:write',
    summary: 'Delete a schedule',
    description: 'Creates no more runs. The screenshots of its runs stay.',
    parameters: [ifMatch],
    responses: { 204: { description: 'Deleted.' } },
    errors: ['CONFLICT'],
    handle: deleteSchedule,
  }),
  route('POST /schedules/{id}/run', {
    id: 'runSchedule',
    scope: 'schedules:write',
    summary: 'Create a run now',
    description:
      'Captures the page now, also if the schedule is suspended or another run has not ended. Counts for quota and rate like `POST /screenshots`. The times of other runs do not change.',
    isKeyed: true,
    body: runBody,
    responses: {
      202: { description: 'Accepted.', schema: CreatedRun, example: runCreated, headers: ['Location', 'Retry-After', 'X-Queue-Position'] },
    },
    errors: ['CONFLICT', 'USAGE_LIMIT_REACHED', 'QUEUE_FULL'],
    handle: runSchedule,
  }),
  route('GET /schedules/{id}/runs', {
    id: 'listScheduleRuns',
    scope: 'schedules:read',
    summary: 'List the runs of a schedule',
    description: 'Lists the newest first. Ended runs are kept as long as records.',
    query: runsQuery,
    responses: { 200: { description: 'One page of runs.', schema: ScheduleRunList, example: runList } },
    handle: listRuns,
  }),
  route('POST /schedules/{id}/approve', {
    id: 'approveRun',
    scope: 'schedules:write',
    summary: 'Approve a run',
    description:
      'For schedules with `comparison.baseline: approved`. Later runs are compared with the picture of this run, as soon as the operator has copied it. A second approval of the same run changes nothing, and an older run can be approved while its files are kept. `POST /schedules/{id}/undo-approval` takes the last approval back.',
    body: approveBody,
    responses: { 202: { description: 'Accepted.', schema: RunApproved, example: runApproved } },
    errors: ['NOT_READY', 'NOT_COMPARABLE', 'EXPIRED', 'CONFLICT'],
    handle: approveRun,
  }),
  route('POST /schedules/{id}/undo-approval', {
    id: 'undoApproval',
    scope: 'schedules:write',
    summary: 'Undo the last approval',
    description:
      'Later runs are compared with the picture that the last approval replaced, as soon as the operator has restored it. That picture is kept for 30 days. Call it again to undo the approval before.',
    responses: { 202: { description: 'Accepted.', schema: ApprovalUndone, example: approvalUndone } },
    errors: ['EXPIRED', 'CONFLICT'],
    handle: undoApproval,
  }),
]
