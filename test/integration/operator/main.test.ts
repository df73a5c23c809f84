import t from 'tap'
import { storeOptions } from '../../../api-gateway/src/options/store-options.ts'
import { events, secrets } from '../../../crds/client/core-resources.ts'
import { accounts, apiKeys, screenshots } from '../../../crds/client/kinds.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { SealingKey } from '../../../crds/src/crypto/sealed.ts'
import { RUNNER_PORT } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { NAMESPACE } from '../admission/release.ts'
import { shortLease, startProgram } from './program.ts'
import { startStage } from './stage.ts'

const stage = await startStage(t, { runnerPort: RUNNER_PORT })
const { admin } = stage.release
const account = await stage.release.podAccountOf('tintype-operator')
await stage.setPool({ minIdle: 1, maxPods: 2 })

const start = (name: string, kubeconfig?: string) =>
  startProgram(
    t,
    {
      ...stage.environment,
      ...shortLease,
      ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
      TINTYPE_POD_NAME: name,
      TINTYPE_POD_UID: `uid-of-${name}`,
      TINTYPE_BOOTSTRAP_PLAN: 'scale',
      TINTYPE_LOG_LEVEL: 'debug',
    },
    account,
  )
const replicas = [await start('one'), await start('two')]
const isReady = async (replica: (typeof replicas)[number]) => (await replica.get('/readyz')).status === 200

async function theLeader() {
  return eventually('one of them leads', async () => {
    const leading = await Promise.all(replicas.map((replica) => replica.isLeader()))
    return leading.filter(Boolean).length === 1 && replicas[leading.indexOf(true)]
  })
}

t.test('both replicas are ready, and one of them leads', async (t) => {
  for (const replica of replicas) await eventually('it is ready', () => isReady(replica))
  await theLeader()
  for (const replica of replicas) t.match(await replica.get('/healthz'), { status: 200, text: 'ok\n' })
})

t.test('the leader creates the first account with its key, once', async (t) => {
  const [account] = await eventually('an account exists', async () => {
    const { items } = await new Resource(admin, accounts).list()
    return items.length > 0 && items
  })
  t.equal(account?.spec.plan, 'scale')
  t.equal((await new Resource(admin, apiKeys).list()).items.length, 1)
  const { data } = await new Resource(admin, secrets).get('tintype-initial-api-key')
  t.match(Buffer.from(data?.['api-key'] ?? '', 'base64').toString(), /^ttk_/)
})

t.test('the leader captures Screenshots', async (t) => {
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
})

t.test('a standby takes over when the leader is killed, and continues its work', async (t) => {
  const leader = await theLeader()
  const { promise, resolve } = Promise.withResolvers<void>()
  stage.node.capture = () => promise
  const shot = await stage.create()
  await stage.whenRunning(shot)
  await leader.end('SIGKILL')
  replicas.splice(replicas.indexOf(leader), 1)
  await theLeader()
  resolve()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1 })
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
})

t.test('an operator never reveals sealed options: not in logs, metrics, Events and statuses', async (t) => {
  const secret = 'Zq7planted7Secret'
  const { data = {} } = await new Resource(admin, secrets).get('tintype-sealing-key')
  const sealingKey = SealingKey.parse(JSON.parse(Buffer.from(data['public.json'] ?? '', 'base64').toString()))
  const gateway = new Resource((await stage.release.asPod('tintype-api-gateway', 'gateway-1')).http, screenshots)
  const create = async (subject: string, sealedFor = subject) => {
    const sealed = { privateOptions: { authorization: `Bearer ${secret}` }, account: 'default', url: 'https://example.com/' }
    const stored = await storeOptions(
      { ...sealed, subject: sealedFor },
      { sealingKey: () => sealingKey, objects: { write: async () => 'x' } },
    )
    return stage.whenFinished(await gateway.create({ metadata: { name: subject }, spec: { url: sealed.url, ...stored } }))
  }
  t.match((await create('used')).status, { phase: 'Completed' })
  t.match((await create('stolen', 'used')).status, { phase: 'Failed', result: { error: { code: 'INVALID_OPTIONS' } } })
  const order = stage.node.orders.find((sent) => sent.order.name === 'used')
  t.equal(order?.order.privateOptions?.authorization, `Bearer ${secret}`, 'control: the runner receives it')
  const leader = await theLeader()
  const places = {
    log: leader.output(),
    metrics: (await leader.get('/metrics')).text,
    events: JSON.stringify(await new Resource(admin, events).listAll()),
    objects: JSON.stringify(await stage.shots.listAll()),
  }
  for (const [place, text] of Object.entries(places)) t.notOk(text.includes(secret), place)
})

t.test('metrics have the names of controller-runtime', async (t) => {
  const { text } = await (await theLeader()).get('/metrics')
  for (const name of [
    'rest_client_requests_total{code="200",method="PATCH"',
    'rest_client_request_duration_seconds_count',
    'workqueue_depth{name="screenshot",controller="screenshot",priority="live"}',
    'workqueue_unfinished_work_seconds',
    'controller_runtime_max_concurrent_reconciles{controller="screenshot"}',
    'reflector_relists_total{resource="screenshots",reason="initial"} 1',
    'screenshot_jobs{phase="Completed"}',
    'screenshot_pool_idle_runners{pool="default"}',
    'nodejs_eventloop_lag_seconds',
  ]) {
    t.ok(text.includes(name), name)
  }
})

t.test('an operator that is stopped releases the lease and exits with 0', async (t) => {
  const leader = await theLeader()
  const other = await start('three')
  await eventually('the third is ready', () => isReady(other))
  replicas.push(other)
  t.equal(await leader.end('SIGTERM'), 0, leader.output().slice(-2_000))
  replicas.splice(replicas.indexOf(leader), 1)
  t.equal(await theLeader(), other)
})

t.test('an operator without read permissions does not become the leader', async (t) => {
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`
  const role = await admin.request<{ rules: { resources: string[] }[] }>({ method: 'GET', path: `${roles}/roles/tintype-operator` })
  const rules = role.rules.map((rule) => ({ ...rule, resources: rule.resources.filter((resource) => resource !== 'accountusages') }))
  await admin.request({
    method: 'POST',
    path: `${roles}/roles`,
    body: { metadata: { name: 'blind' }, rules: rules.filter(({ resources }) => resources.length > 0) },
  })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'blind' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'blind' }]
  await admin.request({ method: 'POST', path: `${roles}/rolebindings`, body: { metadata: { name: 'blind' }, roleRef, subjects } })
  const blind = await start('blind', await stage.release.plane.kubeconfigFor('blind'))
  await eventually('it reports the cache that it may not read', async () => /cache of usages/.test((await blind.get('/readyz')).text))
  const leader = await theLeader()
  await leader.end('SIGTERM')
  replicas.splice(replicas.indexOf(leader), 1)
  const next = await start('four')
  replicas.push(next)
  t.equal(await theLeader(), next)
  t.equal(await blind.isLeader(), false)
})
