import { List, type Page } from '../common/list.ts'
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
import { listByOffset } from './offset-list.ts'
import { deleteOnce, toCreateBody } from './screenshots.ts'

const pathOf = (id: string): string => `/schedules/${encodeURIComponent(id)}`

/** Records per page, at most 500. Default: 100. */
interface PageQuery {
  limit?: number
}

interface RunPage {
  data: ScheduleRun[]
  pagination: { has_more: boolean; next_cursor: string | null }
}

/** `tintype.schedules` */
export class Schedules {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates a schedule. Capture options are beside its other fields. */
  async create({ signal, idempotencyKey = newIdempotencyKey(), ...request }: ScheduleRequest & CreateOptions): Promise<Schedule> {
    const body = toCreateBody(request)
    return (await this.#transport.call<{ data: Schedule }>({ method: 'POST', path: '/schedules', body, idempotencyKey, signal })).body.data
  }

  /** Lists the schedules, oldest first. */
  list(query: PageQuery & CallOptions = {}): List<Schedule> {
    return listByOffset(this.#transport, '/schedules', query)
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Schedule> {
    return (await this.#transport.call<{ data: Schedule }>({ method: 'GET', path: pathOf(id), signal })).body.data
  }

  /** Changes the given fields. `options` replaces all options, private ones included. */
  async update(id: string, { signal, ...body }: ScheduleChanges & CallOptions): Promise<Schedule> {
    return (await this.#transport.call<{ data: Schedule }>({ method: 'PATCH', path: pathOf(id), body, signal })).body.data
  }

  /** Deletes a schedule. The screenshots of its runs stay. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await deleteOnce(this.#transport, pathOf(id), signal)
  }

  /** Creates a run now and resolves at once. Wait for it with `screenshots.wait` or `videos.wait`. */
  async run(id: string, { signal, idempotencyKey = newIdempotencyKey() }: CreateOptions = {}): Promise<CreatedRun> {
    return (await this.#transport.call<CreatedRun>({ method: 'POST', path: `${pathOf(id)}/run`, idempotencyKey, signal })).body
  }

  /** Lists the runs of a schedule, newest first. */
  runs(id: string, { signal, ...filters }: PageQuery & CallOptions = {}): List<ScheduleRun> {
    const read = async (cursor?: string): Promise<Page<ScheduleRun>> => {
      const request = { method: 'GET', path: `${pathOf(id)}/runs`, query: { ...filters, cursor }, signal } as const
      const { data, pagination } = (await this.#transport.call<RunPage>(request)).body
      const next = pagination.has_more ? pagination.next_cursor : null
      return { data, next: next === null ? undefined : () => read(next) }
    }
    return new List(() => read())
  }

  /** Approves a run, by default the last compared one: later runs are compared with its picture. Returns its id. */
  async approve(id: string, { signal, ...body }: Approval & CallOptions = {}): Promise<{ run_id: string }> {
    const request = { method: 'POST', path: `${pathOf(id)}/approve`, body, signal } as const
    return (await this.#transport.call<{ data: { run_id: string } }>(request)).body.data
  }

  /** Undoes the last approval: later runs are compared with the run from before, if there was one. */
  async undoApproval(id: string, { signal }: CallOptions = {}): Promise<UndoneApproval> {
    const request = { method: 'POST', path: `${pathOf(id)}/undo-approval`, signal } as const
    return (await this.#transport.call<{ data: UndoneApproval }>(request)).body.data
  }
}
