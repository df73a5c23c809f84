import type { List } from '../common/list.ts'
import type {
  Approval,
  CallOptions,
  CreatedRun,
  CreateOptions,
  Schedule,
  ScheduleChanges,
  ScheduleRequest,
  ScheduleRun,
  UndoneApproval,
} from '../common/types.ts'
import { newIdempotencyKey, type Transport } from '../http/transport.ts'
import { listByCursor } from './lists.ts'
import { ManagedRecords } from './managed-records.ts'
import { toCreateBody } from './screenshots.ts'

/** Records per page, at most 500. Default: 100. */
interface PageQuery {
  limit?: number
}

/**
 * `tintype.schedules`. Capture options of a new schedule are beside its other fields. A change of hidden options, which the record shows as *** or …,
 * must name all of them. The screenshots of the runs of a deleted schedule stay.
 */
export class Schedules extends ManagedRecords<Schedule, ScheduleRequest, ScheduleChanges, Schedule, Schedule, PageQuery> {
  constructor(transport: Transport) {
    super(transport, '/schedules')
  }

  protected override toBody(request: object): object {
    return toCreateBody(request)
  }

  /** Creates a run now and resolves at once. Wait for it with `screenshots.wait` or `videos.wait`. */
  async run(id: string, { signal, idempotencyKey = newIdempotencyKey() }: CreateOptions = {}): Promise<CreatedRun> {
    return (await this.transport.call<CreatedRun>({ method: 'POST', path: `${this.pathOf(id)}/run`, idempotencyKey, signal })).body
  }

  /** Lists the runs of a schedule, newest first. */
  runs(id: string, query: PageQuery & CallOptions = {}): List<ScheduleRun> {
    return listByCursor(this.transport, `${this.pathOf(id)}/runs`, query)
  }

  /** Approves a run, by default the last compared one: later runs are compared with its picture. Returns its id. */
  async approve(id: string, approval: Approval & CallOptions = {}): Promise<{ run_id: string }> {
    return this.call('POST', `${this.pathOf(id)}/approve`, approval)
  }

  /** Undoes the last approval: later runs are compared with the run from before, if there was one. */
  async undoApproval(id: string, { signal }: CallOptions = {}): Promise<UndoneApproval> {
    return this.transport.data({ method: 'POST', path: `${this.pathOf(id)}/undo-approval`, signal })
  }
}
