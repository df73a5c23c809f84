import type { StartedWork } from '../../../operator/src/runtime/deps.ts'
import { type Deliveries, startDeliveries as start } from '../../support/fakes/deliveries.ts'

type Around = Pick<Deliveries, 'http' | 'screenshots' | 'webhooks' | 'openingKeys'>

/** Starts an operator's deliveries in this process, with the chart's settings, access to loopback, and trust in this authority. */
export const startDeliveries = (around: Around, ca: string): StartedWork =>
  start({
    ...around,
    ring: { current: 'bench', keys: { bench: Buffer.alloc(32, 1).toString('base64') } },
    settings: { maxPostsPerAccount: 32, timeoutMilliseconds: 5_000, retryDelaysMilliseconds: [5_000, 300_000] },
    certificates: [ca],
  })
