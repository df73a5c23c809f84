// Deliveries as a process, so that a test can kill it. Arguments: kubeconfig, the CA file, the delay before a retry.

import { readFile } from 'node:fs/promises'
import { screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { startDeliveries } from '../../support/fakes/deliveries.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { openingKeys, ring } from './ring.ts'

const [kubeconfig = '', ca = '', delay = ''] = process.argv.slice(2)
const http = new KubeHttp(await accessPlane(kubeconfig))
const caches = { screenshots: new Reflector({ http, resource: screenshots }), webhooks: new Reflector({ http, resource: webhooks }) }
for (const cache of Object.values(caches)) cache.start()
await Promise.all(Object.values(caches).map((cache) => cache.whenSynced()))
startDeliveries({
  ...{ http, ...caches, openingKeys, ring, publicUrl: '' },
  settings: { timeoutMilliseconds: 20_000, retryDelaysMilliseconds: [Number(delay), 300] },
  certificates: [await readFile(ca, 'utf8')],
})
console.log('ready')
