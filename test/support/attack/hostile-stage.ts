import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { screenshots } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { isFinished } from '../../../crds/src/kinds/screenshot.ts'
import { cluster } from '../cluster/environment.ts'
import { createPool, idleRunners, type RunnerPod } from '../cluster/pools.ts'
import { startPublicSite } from '../cluster/public-site.ts'
import { execScript } from '../cluster/runner-exec.ts'
import { NAMESPACE } from '../cluster/tested-release.ts'
import { eventually } from '../eventually.ts'
import type { CaptureFunction } from './hostile.ts'

/** A public address that is routed to the test site. */
const ADDRESS = '203.0.114.40'

/** A pool with one runner, and a site of hostile pages. */
export interface HostileStage {
  pod: RunnerPod
  take: CaptureFunction
  /** Measures the pod. */
  measure: () => Promise<PodState>
}

/** Processes and memory of a pod. */
export interface PodState {
  /** Memory that is not file-backed. */
  mebibytes: number
  browsers: number
  zombies: number
}

const MEASURE = `import { readdirSync, readFileSync } from 'node:fs'
const read = (file) => { try { return readFileSync(file, 'utf8') } catch { return '' } }
const pids = readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && Number(name) !== process.pid)
const statuses = pids.map((pid) => read('/proc/' + pid + '/status'))
const kibibytes = statuses.map((text) => Number(/^RssAnon:\\s+(\\d+)/m.exec(text)?.[1] ?? 0) + Number(/^RssShmem:\\s+(\\d+)/m.exec(text)?.[1] ?? 0) / 2)
tell({
  mebibytes: Math.round(kibibytes.reduce((sum, one) => sum + one, 0) / 1024),
  zombies: statuses.filter((text) => /^State:\\s+Z/m.test(text)).length,
  browsers: pids.map((pid) => read('/proc/' + pid + '/cmdline').split(/[\\0 ]/))
    .filter(([program = '', ...rest]) => program.endsWith('headless-shell') && !rest.some((one) => one.startsWith('--type='))).length,
})`

/** Starts site and pool. They end with the test. */
export async function startHostileStage(t: Pick<Test, 'teardown'>): Promise<HostileStage> {
  const ends = t as Test
  const extraCaBundle = await startPublicSite(ends, ADDRESS)
  const pool = await createPool(ends, 'hostile', { capturesPerPod: 1_000, egress: { extraCaBundle } })
  const [pod] = (await idleRunners(pool)) as [RunnerPod]
  // Uses the API instead of kubectl, which takes longer to start than some captures.
  const http = new KubeHttp(await accessFromKubeconfig(cluster.shell.KUBECONFIG ?? ''))
  t.teardown(() => http.close())
  const store = new Resource(http, screenshots, { namespace: NAMESPACE })
  return {
    pod,
    take: async (path, options, isSecure) => {
      const name = `hostile-${randomUUID()}`
      const url = `${isSecure ? 'https' : 'http'}://${ADDRESS}${path}`
      await store.create({ metadata: { name }, spec: { url, poolName: pool, options } })
      t.teardown(() => store.delete(name).catch(() => {}))
      return eventually(`${path} ends`, async () => {
        const shot = await store.get(name)
        return isFinished(shot) && shot
      })
    },
    measure: () => execScript<PodState>(pod.name, MEASURE),
  }
}
