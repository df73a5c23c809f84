import t, { type Test } from 'tap'
import type { Screenshot, ScreenshotSpec } from '../../crds/src/kinds/screenshot.ts'
import { network } from '../cluster/host/state.ts'
import { LITERAL_ATTACKS } from '../support/attack/attack-list.ts'
import { type Arrival, NAVIGATIONS, PAGE_WAYS, TURN_PORT } from '../support/attack/attack-site.ts'
import {
  ATTACK_OPTIONS,
  createAttacker,
  createService,
  GROUND,
  OPEN,
  POD_PORT,
  SITE,
  startAttackGround,
} from '../support/attack/attack-stage.ts'
import { FAMILIES_INNER, nameOf, TRAPS } from '../support/attack/attack-zone.ts'
import { captureAll } from '../support/cluster/batch.ts'
import { kubectlJson } from '../support/cluster/environment.ts'
import { foreignNode } from '../support/cluster/program.ts'
import { execScript } from '../support/cluster/runner-exec.ts'
import { STORE } from '../support/cluster/tested-release.ts'
import { eventually } from '../support/eventually.ts'

// Addresses that a page must not reach from a runner's pod in the cluster. Each attack runs twice: in a pool whose rules open the
// addresses, where the listener must be hit, and in a pool with the rules of the default pool, where it must not.

t.setTimeout(590_000)
if (foreignNode) t.plan(0, foreignNode)
else await main().catch((error: unknown) => t.threw(error))

interface Target {
  /** Host as written in a URL. */
  host: string
  port: number
  /** Address of the listener that receives the request if nothing blocks it. */
  address: string
}

/** A page that navigates to a target; `id` is the path that it requests. */
interface Attack extends Target {
  id: string
  way: string
}

async function main(): Promise<void> {
  const around = await startAttackGround(t)
  const opened = await createAttacker(t, { purpose: 'opened', ipv6: 'fd00::a', egress: OPEN })
  const closed = await createAttacker(t, { purpose: 'closed', ipv6: 'fd00::b' })
  const clusterIp = await createService(t, '10.0.0.2')
  const lists = [around, opened.arrivals, closed.arrivals]

  const literals: Target[] = [
    ...['169.254.169.254', '100.100.100.200', '10.0.0.1'].map((host) => ({ host, port: 80, address: host })),
    { host: '[fd00::1]', port: 80, address: 'fd00::1' },
    { host: clusterIp, port: 80, address: '10.0.0.2' },
    { host: '127.0.0.1', port: POD_PORT, address: '127.0.0.1' },
    // For the opened pool this is the address of another pod: no rule opens a pod's own address.
    { host: closed.pod.ip, port: POD_PORT, address: closed.pod.ip },
  ]
  const bare = (host: string): string => host.replaceAll(/[[\]]/g, '')
  const names = literals.map((target): Target => ({ ...target, host: nameOf(bare(target.host)) }))
  const traps: Target[] = [
    ...[TRAPS.alias, TRAPS.mixed].map((trap) => ({ host: trap('10.0.0.1'), port: 80, address: '10.0.0.1' })),
    { host: TRAPS.families(), port: 80, address: FAMILIES_INNER },
  ]
  const changing: Target = { host: TRAPS.changing('10.0.0.1'), port: 80, address: '10.0.0.1' }
  // test/integration/egress/addresses.test.ts has every spelling. One in three shows that nothing in a cluster reads them in another way.
  const spellings = LITERAL_ATTACKS.flatMap(({ host, means }): Target[] => {
    const target = literals.find((literal) => bare(literal.host) === means)
    return target && target.host !== host ? [{ ...target, host }] : []
  }).filter((_, place) => place % 3 === 0)
  const store = await kubectlJson<{ status: { podIP: string } }>(['get', 'pod', `${STORE}-0`])
  const storeService = await kubectlJson<{ spec: { clusterIP: string } }>(['get', 'service', STORE])
  /** Services with their status for plain HTTP: this status in the record means that the page reached the service. */
  const services: { what: string; host: string; port: number; httpStatus: number }[] = [
    { what: 'the API server through its Service', host: network.kubernetesService, port: 443, httpStatus: 400 },
    { what: 'the API server', host: network.nodeAddress, port: network.apiPort, httpStatus: 400 },
    { what: 'the kubelet', host: network.nodeAddress, port: 10_250, httpStatus: 400 },
    { what: 'the store through its Service', host: storeService.spec.clusterIP, port: 9000, httpStatus: 403 },
    { what: 'the store at its pod address', host: store.status.podIP, port: 9000, httpStatus: 403 },
  ]

  /** Captures in one pool. Returns the requests that arrived meanwhile, too. */
  async function watch(t: Test, specs: readonly ScreenshotSpec[]): Promise<{ shots: Screenshot[]; arrivals: Arrival[] }> {
    for (const list of lists) list.length = 0
    const shots = await captureAll(t, specs)
    return { shots, arrivals: lists.flat() }
  }
  const specOf = (poolName: string, way: string, to: string): ScreenshotSpec => {
    if (way === 'direct') return { url: to, poolName, options: ATTACK_OPTIONS }
    const options = way === 'link' ? { click: '#go' } : way === 'fetch' ? { delay: 1_000 } : {}
    return { url: `${SITE}/go/${way}?to=${encodeURIComponent(to)}`, poolName, options: { ...ATTACK_OPTIONS, ...options } }
  }
  const isInside = ({ address }: Arrival): boolean => address !== GROUND.outside && address !== GROUND.site

  /** Runs each attack in both pools. */
  async function leave(t: Test, ways: readonly (readonly [Target, string])[]): Promise<void> {
    const attacks = ways.map(([target, way], place): Attack => ({ ...target, way, id: `attack-${place}` }))
    const specsFor = (pool: string) => attacks.map(({ host, port, id, way }) => specOf(pool, way, `http://${host}:${port}/${id}`))
    const control = await watch(t, specsFor(opened.pool))
    const trial = await watch(t, specsFor(closed.pool))
    for (const [place, { host, way, address, id }] of attacks.entries()) {
      const hit = control.arrivals.some((arrival) => arrival.address === address && arrival.path === `/${id}`)
      t.ok(hit, `opened, ${host} is reached by ${way}`, { seen: control.shots[place]?.status?.result })
      t.match(
        trial.shots[place]?.status,
        { phase: 'Failed', result: { error: { code: 'BLOCKED_ADDRESS' } } },
        `closed, ${host} by ${way} ends with its own code`,
        { seen: trial.shots[place]?.status?.result },
      )
    }
    t.strictSame(trial.arrivals, [], 'closed: no request arrives')
  }

  t.test('complaint: pages reach internal hosts: a page cannot navigate to a blocked address', (t) =>
    leave(t, [
      ...literals.flatMap((target, place) => ['direct', ['redirect', 'link'][place % 2]!].map((way) => [target, way] as const)),
      ...NAVIGATIONS.slice(3).map((way) => [literals[0]!, way] as const),
    ]),
  )

  t.test('complaint: pages reach internal hosts: a page cannot navigate to a name that resolves to a blocked address', (t) =>
    leave(t, [
      ...[...names, ...traps].map((target) => [target, 'redirect'] as const),
      ...traps.map((target) => [target, 'direct'] as const),
    ]),
  )

  t.test('complaint: pages reach internal hosts: a page cannot navigate to another spelling of a blocked address', (t) => {
    // A header line cannot contain every spelling.
    const ways = NAVIGATIONS.filter((way) => way !== 'redirect')
    return leave(
      t,
      spellings.map((target, place) => [target, ways[place % ways.length]!] as const),
    )
  })

  t.test('complaint: pages reach internal hosts: a page cannot reach a name whose DNS response changes', async (t) => {
    const specsFor = (pool: string) => [1, 2, 3, 4, 5, 6].map((n) => specOf(pool, 'redirect', `http://${changing.host}/${n}`))
    const control = await watch(t, specsFor(opened.pool))
    t.ok(control.arrivals.some(isInside), 'opened: the browser connects to the private address')
    const trial = await watch(t, specsFor(closed.pool))
    t.strictSame(trial.arrivals.filter(isInside), [], 'closed: it does not')
    t.ok(trial.arrivals.length > 0, 'closed: it connects to the public address')
    const codes = trial.shots.map(({ status }) => status?.result?.error?.code ?? status?.phase)
    t.strictSame([...new Set(codes)].sort(), ['BLOCKED_ADDRESS', 'Completed'])
  })

  t.test('complaint: pages reach internal hosts: a page cannot load resources from a blocked address', async (t) => {
    const targets = [...literals, ...names, ...traps]
    const at = [...targets, changing].map(({ host, port }) => `at=${encodeURIComponent(`${host}:${port}`)}`)
    const specFor = (poolName: string): ScreenshotSpec => ({
      url: `${SITE}/attack?${at.join('&')}`,
      poolName,
      options: { ...ATTACK_OPTIONS, timeout: 60_000, waitForSelector: '#done' },
    })
    const control = await watch(t, [specFor(opened.pool)])
    for (const { host, port, address } of targets) {
      const query = encodeURIComponent(`${host}:${port}`)
      const missing = PAGE_WAYS.filter((way) => !control.arrivals.some((a) => a.address === address && a.path === `/${way}?${query}`))
      t.strictSame(missing, [], `opened: all methods reach ${host}`)
    }
    const trial = await watch(t, [specFor(closed.pool)])
    t.match(trial.shots[0]?.status, { phase: 'Completed' }, 'closed: the page itself is captured')
    t.ok(
      trial.arrivals.some(({ path }) => path === '/ran'),
      'the script of the page ran to the end',
    )
    t.strictSame(trial.arrivals.filter(isInside), [], 'nothing arrives')
  })

  t.test('a page reaches nothing through WebRTC and WebTransport, with any egress rules', async (t) => {
    const targets = ['10.0.0.1', '169.254.169.254', nameOf('10.0.0.1')]
    const specFor = (poolName: string): ScreenshotSpec => ({
      url: `${SITE}/attack?${targets.map((host) => `at=${host}:80`).join('&')}`,
      poolName,
      options: { ...ATTACK_OPTIONS, timeout: 60_000, waitForSelector: '#done' },
    })
    const isPeer = ({ path }: Arrival): boolean => path === 'udp' || path === 'tcp'
    const run = await watch(t, [specFor(opened.pool), specFor(closed.pool)])
    t.strictSame(run.arrivals.filter(isPeer), [])
    for (const shot of run.shots) t.equal(shot.status?.phase, 'Completed')
    // Outside the browser's jail, in the same pod, both UDP and TCP arrive.
    for (const list of lists) list.length = 0
    const script = `import dgram from 'node:dgram'; import net from 'node:net'; import { once } from 'node:events'
const udp = dgram.createSocket('udp4')
for (let i = 0; i < 5; i++) await new Promise((resolve) => udp.send('x', ${TURN_PORT}, '10.0.0.1', resolve))
await once(net.connect(${TURN_PORT}, '10.0.0.1'), 'connect')
tell(true)
process.exit()`
    await execScript(closed.pod.name, script)
    const kinds = async () =>
      new Set(
        lists
          .flat()
          .filter(isPeer)
          .map(({ path }) => path),
      ).size === 2
    t.ok(await eventually('both arrive', kinds), 'the control')
  })

  for (const { what, host, port, httpStatus } of services) {
    t.test(`a page does not reach ${what}`, async (t) => {
      const specsFor = (pool: string) => ['direct', 'redirect', 'link', 'fetch'].map((way) => specOf(pool, way, `http://${host}:${port}/`))
      const control = await watch(t, specsFor(opened.pool))
      const trial = await watch(t, specsFor(closed.pool))
      for (const place of [0, 1, 2]) {
        t.match(control.shots[place]?.status, { phase: 'Completed', result: { httpStatus } }, 'opened: it responds')
        t.match(trial.shots[place]?.status, { phase: 'Failed', result: { error: { code: 'BLOCKED_ADDRESS' } } }, 'closed: it does not')
      }
      t.match(control.shots[3]?.status?.result, { pageTitle: 'reached' }, 'opened: fetch reaches it')
      t.match(trial.shots[3]?.status, { phase: 'Completed', result: { pageTitle: 'leaving' } }, 'closed: fetch does not')
    })
  }

  t.test('no rule opens the pod’s own address or the runner’s port', async (t) => {
    const urls = [`http://${opened.pod.ip}:${POD_PORT}/`, `http://${opened.pod.ip}:8080/healthz`, 'http://127.0.0.1:8080/healthz']
    const run = await watch(
      t,
      urls.map((url) => specOf(opened.pool, 'direct', url)),
    )
    for (const [place, url] of urls.entries())
      t.match(run.shots[place]?.status, { phase: 'Failed', result: { error: { code: 'BLOCKED_ADDRESS' } } }, url)
    t.strictSame(run.arrivals, [])
  })
}
