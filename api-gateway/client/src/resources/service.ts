import { List } from '../common/list.ts'
import type { CallOptions, DayUsage, Device, ServiceStatus, Usage } from '../common/types.ts'
import type { Transport } from '../http/transport.ts'

/** `tintype.usage` */
export class UsageReports {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Reads the usage of the account in this month. */
  async get({ signal }: CallOptions = {}): Promise<Usage> {
    return (await this.#transport.call<{ data: Usage }>({ method: 'GET', path: '/usage/current', signal })).body.data
  }

  /** Reads the usage of the account on each day of about two months, the oldest first. */
  async days({ signal }: CallOptions = {}): Promise<DayUsage[]> {
    return (await this.#transport.call<{ data: DayUsage[] }>({ method: 'GET', path: '/usage/days', signal })).body.data
  }
}

/** `tintype.devices` */
export class Devices {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Lists the values of the option `device`. */
  list({ signal }: CallOptions = {}): List<Device> {
    return new List(async () => {
      const { body } = await this.#transport.call<{ data: Device[] }>({ method: 'GET', path: '/devices', signal })
      return { data: body.data, next: undefined }
    })
  }
}

/** `tintype.status` */
export class Status {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Reads the status of the service. Needs no API key. */
  async get({ signal }: CallOptions = {}): Promise<ServiceStatus> {
    return (await this.#transport.call<ServiceStatus>({ method: 'GET', path: '/status', signal })).body
  }
}
