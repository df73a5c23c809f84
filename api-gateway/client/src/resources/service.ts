import { List } from '../common/list.ts'
import type { CallOptions, DayUsage, Device, ServiceStatus, Usage } from '../common/types.ts'
import { Resource } from './resource.ts'

/** `tintype.usage` */
export class UsageReports extends Resource {
  /** Reads the usage of the account in this month. */
  async get({ signal }: CallOptions = {}): Promise<Usage> {
    return this.transport.data<Usage>({ method: 'GET', path: '/usage/current', signal })
  }

  /** Reads the usage of the account on each day of about two months, the oldest first. */
  async days({ signal }: CallOptions = {}): Promise<DayUsage[]> {
    return this.transport.data<DayUsage[]>({ method: 'GET', path: '/usage/days', signal })
  }
}

/** `tintype.devices` */
export class Devices extends Resource {
  /** Lists the values of the option `device`. */
  list({ signal }: CallOptions = {}): List<Device> {
    return new List(async () => {
      const { body } = await this.transport.call<{ data: Device[] }>({ method: 'GET', path: '/devices', signal })
      return { data: body.data, next: undefined }
    })
  }
}

/** `tintype.status` */
export class Status extends Resource {
  /** Reads the status of the service. Needs no API key. */
  async get({ signal }: CallOptions = {}): Promise<ServiceStatus> {
    return (await this.transport.call<ServiceStatus>({ method: 'GET', path: '/status', signal })).body
  }
}
