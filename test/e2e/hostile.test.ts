import { randomUUID } from 'node:crypto'
import t from 'tap'
import { accessFromKubeconfig } from '../../crds/client/cluster-access.ts'
import { screenshots } from '../../crds/client/kinds.ts'
import { KubeHttp } from '../../crds/client/kube-http.ts'
import { Resource } from '../../crds/client/resource.ts'
import { createdAtOf, screenshotIdOf } from '../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../crds/src/identifiers/names.ts'
import { isFinished, type Screenshot } from '../../crds/src/kinds/screenshot.ts'
import type { CaptureOptions } from '../../crds/src/options/catalog.ts'
import { listenInPod } from '../support/attack/pod-network.ts'
import { cluster } from '../support/cluster/environment.ts'
import { createPool, idleRunners, type RunnerPod, readyRunners } from '../support/cluster/pools.ts'
import { foreignNode } from '../support/cluster/program.ts'
import { startPublicSite } from '../support/cluster/public-site.ts'
import { execScript } from '../support/cluster/runner-exec.ts'
import { fileOf } from '../support/cluster/screenshots.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'

// Pages that try to block a runner or exhaust its resources. One pod captures all of them, with an ordinary page after each.

/** A public address that is routed to the test site. */
const ADDRESS = '203.0.114.40'

/** One page and the allowed outcomes of its capture: `Completed` or error codes. */
interface HostileCase {
  name: string
  path: string
  isSecure?: true
  options?: CaptureOptions
  ends: readonly string[]
}

const WINDOW = { viewportWidth: 300, viewportHeight: 200 }

/** DNS rebinding is tested in test/e2e/attacks.test.ts, which has its own name server. */
const HOSTILE_CASES: readonly HostileCase[] = [
  { name: 'an endless script', path: '/loop-at-once', options: { timeout: 2_000 }, ends: ['TIMEOUT'] },
  { name: 'endless dialogs, also on unload', path: '/alerts', ends: ['Completed'] },
  { name: 'popups', path: '/popups', ends: ['Completed'] },
  { name: 'a download', path: '/download', ends: ['UNSUPPORTED_CONTENT'] },
  { name: 'twenty downloads', path: '/downloads', ends: ['Completed'] },
  { name: 'a memory bomb', path: '/memory', options: { delay: 60_000 }, ends: ['PAGE_CRASHED'] },
  {
    name: 'a page of 100,000 pixels',
    path: '/tall?height=100000',
    options: { fullPage: true, fullPageMaxHeight: 50_000, captureTimeout: 120_000 },
    ends: ['Completed'],
  },
  { name: 'endless redirects', path: '/redirect-loop', ends: ['TOO_MANY_REDIRECTS'] },
  { name: 'endless redirects by script', path: '/wander', ends: ['TOO_MANY_REDIRECTS'] },
  { name: 'a slow response', path: '/drip', options: { timeout: 2_000 }, ends: ['TIMEOUT'] },
  { name: 'a slow response with best_attempt', path: '/drip', options: { timeout: 2_000, bestAttempt: true }, ends: ['Completed'] },
  { name: 'a zip bomb of text', path: '/bomb', options: { timeout: 15_000 }, ends: ['PAGE_CRASHED', 'TIMEOUT', 'RESOURCE_LIMIT'] },
  { name: 'a zip bomb of pixels', path: '/pixel-bomb', ends: ['Completed', 'PAGE_CRASHED'] },
  { name: 'workers that fork', path: '/workers', ends: ['Completed'] },
  {
    name: 'a service worker that never responds',
    path: '/service-worker',
    isSecure: true,
    options: { delay: 500, timeout: 3_000, captureTimeout: 5_000 },
    ends: ['Completed', 'TIMEOUT'],
  },
  { name: 'WebRTC to private addresses', path: '/webrtc', options: { delay: 1_500 }, ends: ['Completed'] },
]

/** Processes and memory of a pod. */
interface PodState {
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

/** The picture of a Screenshot whose object name differs from its id. */
const pictureOf = ({ metadata }: Screenshot) => fileOf(toObjectName(screenshotIdOf(metadata)))

/** Allowed growth of an idle pod's memory in MiB: heaps grow with their work. */
const GROWTH = 200

t.setTimeout(590_000)
if (foreignNode) t.plan(0, foreignNode)
else await main().catch((error: unknown) => t.threw(error))

async function main(): Promise<void> {
  const extraCaBundle = await startPublicSite(t, ADDRESS)
  const pool = await createPool(t, 'hostile', { capturesPerPod: 1_000, egress: { extraCaBundle } })
  const [pod] = (await idleRunners(pool)) as [RunnerPod]
  const measure = () => execScript<PodState>(pod.name, MEASURE)
  // Uses the API instead of kubectl, which takes longer to start than some captures.
  const http = new KubeHttp(await accessFromKubeconfig(cluster.shell.KUBECONFIG ?? ''))
  t.teardown(() => http.close())
  const store = new Resource(http, screenshots, { namespace: NAMESPACE })
  /** Captures a page on the pool. */
  const take = async (path: string, options: CaptureOptions, isSecure?: true): Promise<Screenshot> => {
    const name = `hostile-${randomUUID()}`
    const url = `${isSecure ? 'https' : 'http'}://${ADDRESS}${path}`
    await store.create({ metadata: { name }, spec: { url, poolName: pool, options } })
    t.teardown(() => store.delete(name).catch(() => {}))
    return eventually(`${path} ends`, async () => {
      const shot = await store.get(name)
      return isFinished(shot) && shot
    })
  }
  const arrivals = await listenInPod(t, pod.name, 8099)
  await take('/quadrants', {})
  const before = await eventually(
    'two browsers are running',
    async () => {
      const state = await measure()
      return state.browsers === 2 && state
    },
    60_000,
  )

  for (const { name, path, options, isSecure, ends } of HOSTILE_CASES) {
    t.test(`a capture of ${name} ends in a clear record, and the next one on the same pod is right`, async (t) => {
      const started = performance.now()
      const shot = await take(path, { ...WINDOW, ...options }, isSecure)
      const seconds = (performance.now() - started) / 1_000
      const next = await take('/quadrants', WINDOW)
      const created = createdAtOf(screenshotIdOf(next.metadata)).getTime()
      const [claimed, done] = [next.status?.startTime, next.status?.completionTime].map((time) => Date.parse(time ?? '') - created)
      t.comment(`ended after ${seconds.toFixed(1)} s; the next one was claimed after ${claimed} ms, and done after ${done} ms`)
      const outcome = shot.status?.result?.error?.code ?? shot.status?.phase ?? ''
      t.ok(ends.includes(outcome), outcome, { seen: shot.status?.result })
      if (outcome === 'Completed' && !path.startsWith('/tall'))
        t.ok(isNear((await decode(await pictureOf(shot))).at(290, 190), [0, 255, 0]), 'the picture shows the page')
      t.ok(outcome === 'Completed' || (shot.status?.result?.error?.message ?? '').length > 10, 'or the record has a reason')
      t.equal(next.status?.phase, 'Completed')
      const picture = await decode(await pictureOf(next))
      t.ok(isNear(picture.at(5, 5), [255, 0, 0]) && isNear(picture.at(295, 195), [255, 255, 0]), 'the next picture is right')
      t.strictSame(
        [shot, next].map(({ status }) => status?.runner?.uid),
        [pod.uid, pod.uid],
        'one pod captured both',
      )
    })
  }

  t.test('no page reached a private address', async (t) => t.strictSame(arrivals, []))

  t.test('afterwards the same pod is idle with two browsers, no zombie processes and its memory released', async (t) => {
    const after = await eventually(
      'it rests',
      async () => {
        const state = await measure()
        return state.browsers === 2 && state.zombies === 0 && state.mebibytes <= before.mebibytes + GROWTH && state
      },
      60_000,
    ).catch(async () => measure())
    t.comment(JSON.stringify({ before, after }))
    t.ok(after.mebibytes <= before.mebibytes + GROWTH, `${before.mebibytes} MiB, then ${after.mebibytes} MiB`)
    t.match(after, { browsers: 2, zombies: 0 })
    t.match(await readyRunners(pod.name.replace(/-\d+$/, '')), [{ uid: pod.uid }])
  })
}
