import t from 'tap'
import { createClusterKey } from '../support/cluster/accounts.ts'
import { call } from '../support/cluster/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { createKind, createPool, idleRunners } from '../support/cluster/pools.ts'
import { eventually } from '../support/eventually.ts'
import { page } from '../support/servers/pages.ts'

// The commands of a platform engineer. Names are unique to a run, so that tests can run again on the same cluster.

const run = Date.now().toString(36)
const manifest = (name: string, spec: object): string =>
  JSON.stringify({ apiVersion: 'tintype.dev/v1alpha1', kind: 'Screenshot', metadata: { name }, spec })

t.test('a Screenshot made with kubectl apply is captured, and kubectl wait returns', async (t) => {
  const name = `by-hand-${run}`
  const applied = await kubectl(['apply', '-f', '-'], manifest(name, { url: page('/quadrants') }))
  t.equal(applied.code, 0, applied.stderr)
  const waited = await kubectl(['wait', '--for=condition=Finished', `screenshot/${name}`, '--timeout=120s'])
  t.equal(waited.code, 0, waited.stderr)
  const { stdout } = await kubectl(['get', 'screenshot', name, '-o', 'wide'])
  t.match(stdout, /NAME +STATUS +URL +FORMAT +SIZE +DURATION +REASON +ATTEMPT +RUNNER +ACCOUNT +ID +AGE/)
  t.match(stdout, new RegExp(`${name} +Completed +http://\\S+/quadrants +png +[\\d.]+ (B|KiB|MiB) +\\d+`))
})

t.test('a RunnerPool can be scaled with kubectl scale', async (t) => {
  const pool = await createPool(t, 'scaled', { minIdle: 1, maxPods: 2 })
  await idleRunners(pool)
  const scaled = await kubectl(['scale', 'runnerpool', pool, '--replicas=2'])
  t.equal(scaled.code, 0, scaled.stderr)
  const after = await kubectl(['wait', '--for=jsonpath={.status.replicas}=2', `runnerpool/${pool}`, '--timeout=120s'])
  t.equal(after.code, 0, after.stderr)
})

/** Makes a name unique to this run, and exactly as long as wanted. */
const longName = (length: number, start: string): string => `${start}${run}-`.padEnd(length, 'n')
const conditionOf = (kind: string, name: string, type: string) =>
  kubectl(['wait', `--for=condition=${type}`, `${kind}/${name}`, '--timeout=120s'])

t.test('every kind works at its longest name', async (t) => {
  const [account, key, hook] = [longName(63, 'a-'), longName(253, 'k.'), longName(238, 'w.')]
  const [shot, schedule] = [longName(253, 'h.'), longName(253, 's.')]
  const pool = await createPool(t, longName(53 - run.length, 'p-'), { minIdle: 1 })
  t.equal(pool.length, 54)
  await createKind(t, 'Account', account, { plan: 'free' })
  await createKind(t, 'ApiKey', key, { accountName: account, secretName: `names-${run}` })
  await createKind(t, 'Webhook', hook, { accountName: account, url: 'https://example.com/', events: ['screenshot.failed'] })
  for (const [kind, name] of [
    ['account', account],
    ['apikey', key],
    ['webhook', hook],
    ['runnerpool', pool],
  ] as const) {
    const { code, stderr } = await conditionOf(kind, name, 'Ready')
    t.equal(code, 0, `${kind} ${stderr}`)
  }
  const secret = await kubectlJson<{ type: string }>(['get', 'secret', `${hook}-signing-secret`])
  t.equal(secret.type, 'tintype.dev/signing-secret')
  const template = { url: page('/quadrants'), poolName: pool }
  await createKind(t, 'Screenshot', shot, { ...template, accountName: account })
  t.equal((await conditionOf('screenshot', shot, 'Succeeded')).code, 0)
  await createKind(t, 'ScreenshotSchedule', schedule, { accountName: account, schedule: '0 0 1 1 *', template })
  t.teardown(() => kubectl(['delete', 'apikey', `names-${run}`, '--ignore-not-found', '--wait=false']))
  const text = await createClusterKey(`names-${run}`, account)
  const list = await call<{ data: { id: string }[] }>('/api/v1/schedules', { key: text })
  t.equal((await call(`/api/v1/schedules/${list.body.data[0]?.id}/run`, { method: 'POST', key: text })).status, 202)
  await eventually('a run has completed', async () => {
    const { status } = await kubectlJson<{ status?: { lastSuccessfulTime?: string } }>(['get', 'screenshotschedule', schedule])
    return status?.lastSuccessfulTime !== undefined
  })
  const usage = await kubectlJson<{ status: { used: number } }>(['get', 'accountusage', account])
  t.ok(usage.status.used >= 2, `${usage.status.used} units`)
})
