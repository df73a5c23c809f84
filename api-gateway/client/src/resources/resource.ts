import type { Transport } from '../http/transport.ts'

/** Calls of a part of the API. */
export class Resource {
  protected readonly transport: Transport

  constructor(transport: Transport) {
    this.transport = transport
  }
}
