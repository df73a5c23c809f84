import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { API_VERSION } from '../../../crds/src/identifiers/names.ts'
import { releaseNamespace } from '../../cluster/host/state.ts'
import { createClusterAccount } from '../../support/cluster/accounts.ts'
import { call } from '../../support/cluster/api-client.ts'
import { cluster, kubectl, kubectlJson, requireKubectl } from '../../support/cluster/environment.ts'
import { programMetrics, sumOf } from '../../support/cluster/metrics.ts'
import { scenario } from '../harness/scenario.ts'
import { p95, summarize } from '../harness/statistics.ts'
import { captureEachSecond } from '../plane/stage/requests.ts'
import { clusterStage, QUADRANTS } from './stage/cluster-objects.ts'
import { ATTACKER_LABEL, ATTACKS, type Attack, type Attacker, startFloodsInCluster } from './stage/neighbor-attacks.ts'

// One account attacks with the default limits of the largest plan, while another one captures once a second.

const SMALL = { viewport_width: 64, viewport_height: 64 }
const QUIET_SECONDS = 30
/** Time in which an attack creates and runs its captures. What is left is deleted. */
const ATTACK_SECONDS = 60
/** An account that runs nothing waits for at most one capture of each other account, and for the start of a runner. */
const DOCUMENTED_QUEUE_MILLISECONDS = 3_000

interface List<T> {
  items: T[]
}
interface Pod {
  status: { containerStatuses?: { restartCount: number }[] }
}
interface Shot {
  spec: { accountName?: string }
  status?: { phase?: string; lostRunners?: number }
}
const COMPONENTS = 'app.kubernetes.io/component in (operator, api-gateway)'
const sum = (values: readonly (number | undefined)[]): number => values.reduce<number>((total, value) => total + (value ?? 0), 0)

/** Restarts of the programs, changes of the leader, and lost attempts of the victim. */
async function readHealth(victim: string) {
  const { items: pods } = await kubectlJson<List<Pod>>(['get', 'pods', '-l', COMPONENTS])
  const { items: leases } = await kubectlJson<List<{ spec: { leaseTransitions?: number } }>>(['get', 'leases'])
  const { items: shots } = await kubectlJson<List<Shot>>(['get', 'screenshots'])
  return {
    restarts: sum(pods.flatMap(({ status }) => status.containerStatuses ?? []).map(({ restartCount }) => restartCount)),
    terms: sum(leases.map(({ spec }) => spec.leaseTransitions)),
    victimsLost: sum(shots.filter(({ spec }) => spec.accountName === victim).map(({ status }) => status?.lostRunners)),
    loopSeconds: sumOf(await programMetrics('operator'), 'nodejs_eventloop_lag_max_seconds'),
  }
}

async function usedBy(key: string): Promise<number> {
  const { body } = await call<{ data: { count: number } }>('/api/v1/usage/current', { key })
  return body.data.count
}

const deleteAll = (account: string, kinds: readonly string[]) =>
  Promise.all(
    kinds.map(async (kind) => {
      const namesOf = async (...args: string[]) => {
        const { items } = await kubectlJson<List<Shot & { metadata: { name: string } }>>(['get', kind, ...args])
        return items.filter(({ spec }) => spec.accountName === account).map(({ metadata }) => metadata.name)
      }
      const path = `/apis/${API_VERSION}/namespaces/${releaseNamespace}/${kind}`
      // One request deletes thousands of objects. Under load, it ends before all are deleted.
      while ((await namesOf('-l', `${ATTACKER_LABEL}=${account}`)).length > 0)
        await kubectl(['delete', '--raw', `${path}?labelSelector=${ATTACKER_LABEL}%3D${account}`])
      const names = await namesOf()
      for (let first = 0; first < names.length; first += 500)
        await kubectl(['delete', kind, '--wait=false', '--ignore-not-found', ...names.slice(first, first + 500)])
    }),
  )

const isIdle = async (account: string): Promise<boolean> => {
  const { items } = await kubectlJson<List<Shot>>(['get', 'screenshots'])
  return !items.some(
    ({ spec, status }) => spec.accountName === account && (status?.phase === 'Running' || (status?.phase ?? 'Pending') === 'Pending'),
  )
}

export const neighbors = scenario({
  name: 'neighbors',
  shows: 'an account that attacks with the default limits does not hurt another account',
  stage: clusterStage,
  options: { chapter: undefined },
  run: async ({ settings, ends, ...report }) => {
    const test = ends as unknown as Test
    const attacking = await createClusterAccount(test, 'attacker', { plan: 'scale' })
    const victim = await createClusterAccount(test, 'victim', { plan: 'scale' })
    const receiver = await startFloodsInCluster(test)
    const apply = (items: readonly object[]) =>
      requireKubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    report.progress(`quiet for ${QUIET_SECONDS} s`)
    const startVictim = () => captureEachSecond(cluster.url, victim.key, { url: QUADRANTS, options: SMALL })
    const endAlone = startVictim()
    await pause(QUIET_SECONDS * 1_000)
    const quietP95 = p95((await endAlone()).map(({ milliseconds }) => milliseconds))
    const bar = 2 * quietP95 + DOCUMENTED_QUEUE_MILLISECONDS

    const chosen = ATTACKS.filter(({ name }) => settings.chapter?.split(',').some((text) => name.includes(text)) ?? true)
    const rows: string[][] = []
    const attack = async ({ name, run: begin }: Attack): Promise<void> => {
      report.progress(name)
      const before = await readHealth(victim.name)
      const spent = await usedBy(attacking.key)
      const started = performance.now()
      const endVictim = startVictim()
      const signal = AbortSignal.timeout(ATTACK_SECONDS * 1_000)
      const attacker: Attacker = { key: attacking.key, account: attacking.name, receiver, apply, signal }
      const trouble = await begin(attacker).then(
        () => undefined,
        (error: unknown) => (signal.aborted ? undefined : error),
      )
      while (!signal.aborted && !(await isIdle(attacking.name))) await pause(1_000)
      // The schedules start within the next minute.
      if (name.includes('schedules')) await pause(90_000)
      const outcomes = await endVictim()
      const seconds = (performance.now() - started) / 1_000
      await deleteAll(attacking.name, ['screenshotschedules', 'webhooks', 'screenshots'])
      while (!(await isIdle(attacking.name))) await pause(1_000)
      const after = await readHealth(victim.name)
      const units = (await usedBy(attacking.key)) - spent
      const { p50, p95: most } = summarize(outcomes.map(({ milliseconds }) => milliseconds))
      const p95Of = (part: 'queued' | 'captured') => p95(outcomes.flatMap(({ parts }) => parts?.[part] ?? []))
      const problems = outcomes.flatMap(({ problem }) => problem ?? [])
      const figures = [outcomes.length, p50, most, p95Of('queued'), p95Of('captured'), units, seconds]
      rows.push([name, ...figures.map((value) => value.toFixed(0)), after.loopSeconds.toFixed(2)])
      report.holds(`${name}: the attack runs`, trouble === undefined, trouble === undefined ? 'yes' : String(trouble))
      const completed = problems.join(', ') || `${outcomes.length} completed`
      report.holds(`${name}: no capture of the victim fails`, problems.length === 0, completed)
      report.atMost(`${name}: p95 of the victim`, most, Math.round(bar), 'ms')
      report.holds(`${name}: no leader is lost`, after.terms === before.terms, `${after.terms - before.terms} changes`)
      const restarts = after.restarts - before.restarts
      report.holds(`${name}: no restart of gateway and operator`, restarts === 0, `${restarts} restarts`)
      const lost = after.victimsLost - before.victimsLost
      report.holds(`${name}: no pod of the victim is lost`, lost <= 0, `${lost} lost`)
    }
    for (const one of chosen) await attack(one)
    const times = ['p50 ms', 'p95 ms', 'queued, p95 ms', 'captured, p95 ms']
    report.table({
      title: `an attacker beside a victim whose quiet p95 is ${quietP95.toFixed(0)} ms`,
      head: ['attack', 'captures of the victim', ...times, 'units of the attacker', 'seconds', 'longest block of an operator, s'],
      rows,
    })
  },
})
