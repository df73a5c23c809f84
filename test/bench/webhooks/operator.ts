import { silentLog } from '../../../crds/client/log.ts'
import type { TermOptions } from '../../../operator/src/controllers/delivery/options.ts'
import { prepareDelivery } from '../../../operator/src/controllers/delivery-controllers.ts'
import type { StartedWork } from '../../../operator/src/runtime/deps.ts'
import { aTerm } from '../../support/fakes/term.ts'

type Around = Pick<TermOptions, 'http' | 'screenshots' | 'webhooks' | 'openingKeys'>

/** Starts an operator's deliveries in this process, with the chart's settings, access to loopback, and trust in this authority. */
export function startDeliveries({ http, screenshots, webhooks, openingKeys }: Around, ca: string): StartedWork {
  return prepareDelivery({
    namespace: http.namespace,
    screenshots,
    webhooks,
    openingKeys,
    linkBase: {
      publicUrl: 'https://shots.example.com',
      ring: { current: 'bench', keys: { bench: Buffer.alloc(32, 1).toString('base64') } },
    },
    settings: {
      maxPostsPerAccount: 32,
      timeoutMilliseconds: 5_000,
      retryDelaysMilliseconds: [5_000, 300_000],
      allowedCidrs: ['127.0.0.0/8'],
      allowedHosts: [],
    },
    certificates: [ca],
    ownAddresses: [],
    version: '0.1.0',
    log: silentLog,
  }).start(aTerm({ http }))
}
